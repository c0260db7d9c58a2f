"""Files in the bodies of requests, and how they are to be read."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request
from starlette.exceptions import HTTPException


def csv_body(example: str) -> dict[str, Any]:
    """Describe the body of a request that brings a file, for the OpenAPI document."""
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
        description="column=header where the file calls a column otherwise; repeat.",
        examples=[["units=Pieces"]],
    ),
]
DecimalMark = Annotated[Literal[".", ","] | None, Query(description="Decimal mark, if the file does not tell.")]
DateOrder = Annotated[
    Literal["day-first", "month-first"] | None, Query(description="How dates are written, if the file does not tell.")
]
CheckOnly = Annotated[
    bool,
    Query(description="Record nothing: say which header is taken for what, what would be recorded, what is wrong."),
]


async def _csv(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/csv":
        raise HTTPException(415, "Send the file as it is, with Content-Type: text/csv.")
    return await request.body()


CsvBody = Annotated[bytes, Depends(_csv)]
