"""Models of rows, generated from the columns of files, so that each column is defined once."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from crewlearn.advisor.files import cells
from crewlearn.advisor.files.cells import CellType
from crewlearn.advisor.files.columns import Column, Columns
from crewlearn.advisor.ledger.text import LONGEST_NAME
from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Amount, Count, Day, Fee, Flag, Model, Money, Number, WorkerId

Attendance = Literal["worked", "partial", "absent", "no-show", "sent-home"]
Status = Literal["pool", "blocked", "left"]

SENT: Mapping[CellType, Any] = {
    cells.WORKER_ID: WorkerId,
    cells.TEXT: Annotated[str, Field(max_length=LONGEST_NAME)],
    cells.STATUS: Status,
    cells.YES_NO: Flag,
    cells.ATTENDANCE_WORD: Attendance,
    cells.DATE: Day,
    cells.NUMBER: Amount,
    cells.QUANTITY: Money,
    cells.FEE: Fee,
    cells.HOURS: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=24)],
    cells.COUNT: Annotated[int, Field(strict=True, ge=0, le=10**9)],
    cells.PERIOD: Annotated[int, Field(strict=True, ge=1, le=MOST)],
    cells.SHIFT: Annotated[int, Field(strict=True, ge=1, le=24)],
}
"""The type of a cell in requests, by cell type."""

LISTED: Mapping[CellType, Any] = {
    cells.WORKER_ID: Annotated[str | None, Field(description="Null if erased.")],
    cells.TEXT: str | None,
    cells.YES_NO: Flag | None,
    cells.ATTENDANCE_WORD: Attendance,
    cells.DATE: Day,
    cells.NUMBER: Number | None,
    cells.QUANTITY: Number | None,
    cells.HOURS: Number | None,
    cells.COUNT: Count | None,
    cells.PERIOD: Count,
}
"""The type of a recorded cell in responses, by cell type."""


def sent(columns: Columns) -> type[Model]:
    """Create the base model of rows in requests; only columns that every row needs are required."""
    return _model(f"{columns.kind} sent", {column.name: _sent(column) for column in columns.columns})


def listed(columns: Columns) -> type[Model]:
    """Create the base model of rows in responses."""
    return _model(
        f"{columns.kind} listed",
        {column.name: (_type_of(LISTED, column), ...) for column in columns.columns if column.listed},
    )


def _sent(column: Column) -> tuple[Any, Any]:
    kind, description = _type_of(SENT, column), column.help or None
    if column.required and not column.blank_is_none:
        return kind, Field(description=description)
    return kind | None, Field(default=None, description=description)


def _type_of(types: Mapping[CellType, Any], column: Column) -> Any:
    if column.type not in types:
        raise TypeError(f"the API has no type for cells of column {column.name}, {column.type.name}; add one here")
    return types[column.type]


def _model(name: str, fields: Mapping[str, Any]) -> type[Model]:
    made: type[Model] = create_model(name, __base__=Model, **fields)
    return made
