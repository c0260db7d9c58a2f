"""Output, and results of imports."""

from typing import TYPE_CHECKING, Any

from pydantic import (
    Field,
    model_validator,
)

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.web.api.models import columns
from crewlearn.web.api.models.base import Count, Flag, Model, Page

MOST_ROWS = 10_000

if TYPE_CHECKING:  # generated from the file's columns, which the type checker cannot follow
    SentOutput = Model
    ListedOutput = Model
else:
    SentOutput, ListedOutput = columns.sent(OUTPUT), columns.listed(OUTPUT)


class NewOutput(SentOutput):
    """One worker's output of a day, or of a period where a day has several; if both are given, they must agree."""

    @model_validator(mode="after")
    def _when(self) -> "NewOutput":
        if all(getattr(self, name) is None for name in OUTPUT.either):
            raise ValueError("needs a date or a period, or both if they agree")
        return self


class NewOutputs(Model):
    """Output to record, all rows or none."""

    rows: list[NewOutput] = Field(min_length=1, max_length=MOST_ROWS)


class Output(ListedOutput):
    """A current row of output."""

    event: Count = Field(description="The event that recorded it.")


class Outputs(Page[Output]):
    """Output by worker, in the order they joined, and then by day."""


class UnusualModel(Model):
    """Output far from what the record leads one to expect."""

    line: Count = Field(description="The line of the file or the place of the row; 0 for a whole day.")
    day: str
    worker_id: str = Field(description="Empty for a whole day.")
    value: str
    why: str = Field(description="What is usual.")


class Recorded(Model):
    """The result of an import."""

    recorded: Count = Field(description="Facts recorded.")
    known: Count = Field(description="Facts that were on record already.")
    corrected: Count = Field(description="Of those recorded, how many replace others.")
    skipped: Count = Field(description="Rows of unknown workers, left out.")
    enrolled: Count = Field(default=0, description="People who were not known before.")
    reading: list[str] = Field(
        default_factory=list, description="How the file was read, in sentences, if it is not laid out as ours."
    )
    warnings: list[str]
    unusual: list[UnusualModel] | None = Field(
        default=None, description="What was recorded although it is unusual; left out if nothing was."
    )
    advice: str = Field(description="The current advice in a sentence.")


class CellError(Model):
    """An error in a file."""

    line: Count = Field(description="0 if it is about the whole file.")
    column: str
    value: str
    expected: str


class ErrorCause(Model):
    """Errors of one cause."""

    count: Count
    sentence: str
    action: str = Field(description="What to do about it.")
    examples: list[CellError] = Field(description="Up to three.")


class CheckedModel(Model):
    """What importing a file would do; nothing was recorded."""

    sound: Flag = Field(description="Whether it can be imported as it is.")
    columns: dict[str, str] = Field(description="Which header of the file is taken for which column.")
    ignored: list[str] = Field(description="Headers that are not used.")
    rows: Count
    recorded: Count
    known: Count
    corrected: Count
    skipped: Count
    enrolled: Count = 0
    reading: list[str] = Field(
        default_factory=list, description="How the file is read, or would be if you accept it with `yes`."
    )
    warnings: list[str]
    unusual: list[UnusualModel] | None = Field(
        default=None, description="What would be recorded although it is unusual; left out if nothing would."
    )
    errors: list[CellError] = Field(description="The first hundred errors.")
    total_errors: Count
    causes: list[ErrorCause] = Field(default_factory=list, description="All errors by cause.")


class Profile(Model):
    """How the site's files of one layout are read."""

    name: str
    reading: list[str] = Field(description="In sentences.")
    plan: dict[str, Any] = Field(description="As plain data.")


class Profiles(Model):
    """The profiles of a site, the newest last."""

    items: list[Profile]
