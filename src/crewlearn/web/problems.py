"""Errors as problem documents (RFC 9457) for programs, and as a page for people who look at one."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from crewlearn.advisor.conflict import Conflict
from crewlearn.advisor.csv_in import CsvErrors
from crewlearn.advisor.text import counted
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import remedies
from crewlearn.web.templating import page

LOG = logging.getLogger("crewlearn.web")
MEDIA_TYPE = "application/problem+json"
LONGEST_VALUE = 200


class FieldError(BaseModel):
    """One thing that is wrong: where, what stands there, and what would be right."""

    model_config = ConfigDict(json_schema_extra={"example": {"field": "fee", "value": "-1", "remedy": "must be >= 0"}})

    field: str = Field(description="What is wrong: a field of the body, a parameter, or a column.")
    value: str | None = Field(default=None, description="What was given, shortened if long.")
    remedy: str = Field(description="What would be right.")
    line: int | None = Field(default=None, description="Line of the file.")
    column: str | None = Field(default=None, description="Column of the file.")


class Problem(BaseModel):
    """Why a request was not done."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Unprocessable Content",
                "status": 422,
                "detail": "settings.fee: must be a finite number >= 0 and <= 1e+09",
                "errors": [
                    {"field": "settings.fee", "value": "-1", "remedy": "must be a finite number >= 0 and <= 1e+09"}
                ],
            }
        }
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list)
    changed: list[str] | None = Field(default=None, description="What others changed since (412 only).")


def title_of(status: int) -> str:
    """Name a status as the standard does now; older Pythons have older names.

    >>> title_of(422), title_of(404)
    ('Unprocessable Content', 'Not Found')
    """
    return {413: "Content Too Large", 422: "Unprocessable Content"}.get(status) or HTTPStatus(status).phrase


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document the problems a route may answer with, for its `responses`."""
    return {status: {"model": Problem, "description": title_of(status)} for status in statuses}


ANYBODY = answers(400, 413, 503)
"""What any request may be answered with: it calls us by a wrong name, is too large, or the store is out of reach."""

SIGNED_IN = ANYBODY | answers(401, 429)
"""What any request may be answered with that says who sends it."""

_CONTENT = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def problem(
    status: int, detail: str, errors: Sequence[FieldError] = (), changed: Sequence[str] | None = None
) -> Problem:
    """Make a problem document; its title is that of the status."""
    listed = None if changed is None else list(changed)
    return Problem(title=title_of(status), status=status, detail=detail, errors=list(errors), changed=listed)


def of_error(error: InvalidInput, in_path: Sequence[str] = (), *, reading: bool = False) -> Problem:
    """Describe an error of ours; what is unknown and was named in the path is not found.

    Who only reads contradicts nobody: for them a store that others are busy with is out of reach. What is wrong with
    the store, and where it is, is for those who run the server: they find it in the log.
    """
    if error.field == "db":
        LOG.error("%s", error)
        if isinstance(error, Conflict) and not reading:
            return problem(409, "Somebody else was writing at the same time; nothing was done. Try again.")
        return problem(503, "The store cannot be used at present; the server's log says why.")
    one = FieldError(field=error.field, value=_shown(error.value), remedy=error.remedy)
    if isinstance(error, CsvErrors):
        listed = [
            FieldError(  # what is wrong with a file as a whole is in no column
                field=found.column or error.what,
                value=found.value,
                remedy=found.expected,
                line=found.line,
                column=found.column,
            )
            for found in error.errors
        ]
        more = f", of which the first {len(listed)} are listed" if error.total > len(listed) else ""
        return problem(422, f"{error.what} has {counted(error.total, 'error')}{more}; nothing of it was used", listed)
    if isinstance(error, Conflict):
        changed: Sequence[str] | None = getattr(error, "changed", None)
        return problem(409 if changed is None else 412, str(error), [one], changed)
    if isinstance(error, Unknown) and str(error.value) in in_path:
        if error.field == "site":  # the error names all sites, and not everybody may know of them
            one = FieldError(field="site", value=one.value, remedy="does not exist, or is not one of yours")
        return problem(404, f"{one.field} {one.value}: {one.remedy}", [one])
    return problem(422, str(error), [one])


def answer(request: Request, found: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Give the problem to a program as a document and to a person as a page."""
    if wants_page(request):
        return page(request, "problem.html", {"problem": found}, found.status, headers)
    content = found.model_dump(exclude_none=True)
    return JSONResponse(content, found.status, headers, media_type=MEDIA_TYPE)


def wants_page(request: Request) -> bool:
    """Say whether a person looks at the answer."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI) -> None:
    """Have every error answered as a problem, and documented as one."""
    plain = app.openapi

    def documented() -> dict[str, Any]:
        """Say of errors what they are: FastAPI has a form and a media type of its own, which we never answer with."""
        document = plain()
        for path in document["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if status.startswith(("4", "5")):
                        response["content"] = _CONTENT
        schemas = document["components"]["schemas"]
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        return document

    app.openapi = documented  # type: ignore[method-assign]  # replacing it is how FastAPI lets one change the document

    @app.exception_handler(InvalidInput)
    def invalid(request: Request, error: InvalidInput) -> Response:
        in_path = [str(value) for value in request.path_params.values()]
        return answer(request, of_error(error, in_path, reading=request.method == "GET"))

    @app.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        document = app.openapi()
        operation = remedies.operation_of(document, request.scope.get("route"))
        listed = []
        for one in error.errors():
            field, remedy = remedies.told(document, operation, one)
            value = None if one["type"] in ("missing", "json_invalid") else _shown(one.get("input"))
            listed.append(FieldError(field=field, value=value, remedy=remedy))
        detail = "; ".join(f"{one.field}: {one.remedy}" for one in listed[:5])
        return answer(request, problem(422, detail or "the request cannot be read", listed))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.UNAUTHORIZED and wants_page(request) and request.method == "GET":
            return RedirectResponse(f"/sign-in{_going_on(request)}", HTTPStatus.SEE_OTHER)
        return answer(request, _of_refusal(request, error), error.headers)


def _of_refusal(request: Request, error: HTTPException) -> Problem:
    """Describe a refusal; what the framework says by itself, in our own words."""
    said = str(error.detail)
    if said == "There was an error parsing the body":
        remedy = "must be JSON that can be read: nested less deep, with shorter numbers"
        return problem(error.status_code, f"body: {remedy}", [FieldError(field="body", remedy=remedy)])
    if said == HTTPStatus(error.status_code).phrase:
        said = {404: "There is nothing at this address.", 405: f"This address takes no {request.method}."}.get(
            error.status_code, said
        )
    return problem(error.status_code, said)


def _going_on(request: Request) -> str:
    """Give the query that brings somebody who signs in to what they asked for."""
    asked = quote(request.scope["path"])
    if request.scope["query_string"]:
        asked += "?" + request.scope["query_string"].decode("latin-1")
    return "" if asked == "/" else f"?next={quote(asked)}"


def _shown(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text.encode(errors="replace").decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
