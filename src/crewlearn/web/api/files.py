"""Files in request bodies, and the parameters for reading them."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request
from starlette.exceptions import HTTPException

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def csv_body(example: str) -> dict[str, Any]:
    """Return the OpenAPI description of a request body that is a CSV file or a workbook."""
    content = {
        "text/csv": {"schema": {"type": "string"}, "example": example},
        WORKBOOK: {"schema": {"type": "string", "format": "binary"}},
    }
    described = (
        "A file as spreadsheets write it: UTF-8, UTF-16 or Windows-1252; commas, semicolons or tabs; decimal points or "
        "commas. Or an .xlsx workbook."
    )
    return {"requestBody": {"required": True, "description": described, "content": content}}


Maps = Annotated[
    list[str] | None,
    Query(
        alias="map",
        max_length=50,
        description="column=header for a column whose header is not recognised; may be repeated.",
        examples=[["units=Pieces"]],
    ),
]
DecimalMark = Annotated[Literal[".", ","] | None, Query(description="Decimal mark; detected if left out.")]
DateOrder = Annotated[
    Literal["day-first", "month-first"] | None, Query(description="Order of dates; detected if left out.")
]
CheckOnly = Annotated[
    bool,
    Query(description="Record nothing: report the columns detected, what would be recorded, and the errors."),
]
Yes = Annotated[
    bool,
    Query(
        description="Accept what is found in the file (layout, columns, sums, newcomers, overtime days), and keep it "
        "as a profile of the site, by which the next such file is read."
    ),
]
Where = Annotated[
    list[str] | None,
    Query(max_length=50, description="Only rows with HEADER=VALUE; may be repeated.", examples=[["Area=Pick"]]),
]
TeamFromOutput = Annotated[
    bool, Query(description="Take as the team who had output, where that differs from the record.")
]
AcceptUnusual = Annotated[
    bool, Query(description="Record output far from what is expected, which otherwise is a conflict that lists it.")
]


async def _csv(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("text/csv", WORKBOOK):
        raise HTTPException(415, f"Send the file as it is, with Content-Type: text/csv, or {WORKBOOK} for a workbook.")
    return await request.body()


CsvBody = Annotated[bytes, Depends(_csv)]
