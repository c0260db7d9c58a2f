"""The imports of output on record."""

from pydantic import Field

from crewlearn.web.api.models.base import Count, Day, Flag, Model, Page


class ImportModel(Model):
    """An import of output on record."""

    number: Count = Field(description="The number of the event that recorded it.")
    at: str = Field(description="UTC.", examples=["2026-11-16T06:30:00.000+00:00"])
    actor: str
    rows: Count = Field(description="Rows recorded.")
    corrected: Count = Field(description="Of those, how many replaced others.")
    replaced: Count = Field(description="How many were corrected since.")
    first: Day = Field(alias="from", description="The first day.")
    last: Day = Field(alias="to", description="The last day.")
    undone: Count | None = Field(description="The event that took it back; null if it stands.")
    can_undo: Flag = Field(description="Whether nothing depends on it, so that it can be taken back.")


class Imports(Page[ImportModel]):
    """Imports of output by number."""


class ImportTakenBack(Model):
    """The import that was taken back."""

    imported: ImportModel = Field(alias="import")
    advice: str = Field(description="The current advice in a sentence.")
