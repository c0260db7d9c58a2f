"""Files in request bodies, and the parameters for reading them."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request
from starlette.exceptions import HTTPException


def csv_body(example: str) -> dict[str, Any]:
    """Return the OpenAPI description of a request body that is a CSV file."""
    content = {"text/csv": {"schema": {"type": "string"}, "example": example}}
    described = (
        "A file as spreadsheets write it: UTF-8, UTF-16 or Windows-1252; commas, semicolons or tabs; decimal points or "
        "commas."
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


async def _csv(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/csv":
        raise HTTPException(415, "Send the file as it is, with Content-Type: text/csv.")
    return await request.body()


CsvBody = Annotated[bytes, Depends(_csv)]
