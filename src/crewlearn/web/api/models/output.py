"""Output, and what became of an import."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    model_validator,
)

from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Count, Day, Flag, Model, Money, Number, Page, WorkerId

MOST_ROWS = 10_000
Attendance = Literal["worked", "partial", "absent", "no-show", "sent-home"]


class NewOutput(Model):
    """One worker's output of one day, or of one period where a day has several; of both given, one is the other's."""

    date: Day | None = None
    period: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    shift: Annotated[int, Field(strict=True, ge=1, le=24)] | None = Field(
        default=None, description="Which of the day's shifts, where a day has several."
    )
    worker_id: WorkerId
    units: Money | None = Field(default=None, description="What was made; left out where nobody worked.")
    hours: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=24)] | None = None
    attendance: Attendance | None = Field(default=None, description="worked, if left out and there are units.")

    @model_validator(mode="after")
    def _when(self) -> "NewOutput":
        if self.date is None and self.period is None:
            raise ValueError("must say when it was: give date or period, or both if they agree")
        return self


class NewOutputs(Model):
    """Output to record, all rows or none."""

    rows: list[NewOutput] = Field(min_length=1, max_length=MOST_ROWS)


class Output(Model):
    """Output that stands on record."""

    date: Day
    period: Count
    worker_id: str | None = Field(description="Null for somebody erased.")
    units: Number | None
    hours: Number | None
    attendance: Attendance
    event: Count = Field(description="The event that brought it.")


class Outputs(Page[Output]):
    """Output by worker, in the order they joined, and then by day."""


class Recorded(Model):
    """What an import put on record."""

    recorded: Count = Field(description="Facts put on record.")
    known: Count = Field(description="Facts that were on record already.")
    corrected: Count = Field(description="Of those recorded, how many replace others.")
    skipped: Count = Field(description="Rows left out, as nobody knows their workers here.")
    warnings: list[str]
    advice: str = Field(description="The advice that stands now, in a sentence.")


class CellError(Model):
    """One thing that is wrong in a file."""

    line: Count = Field(description="0 if it is about the whole file.")
    column: str
    value: str
    expected: str


class Checked(Model):
    """What importing a file would do; nothing was recorded."""

    sound: Flag = Field(description="Whether it can be imported as it is.")
    columns: dict[str, str] = Field(description="Which header of the file is taken for which column.")
    ignored: list[str] = Field(description="Headers that are not used.")
    rows: Count
    recorded: Count
    known: Count
    corrected: Count
    skipped: Count
    warnings: list[str]
    errors: list[CellError] = Field(description="The first hundred errors.")
    total_errors: Count
