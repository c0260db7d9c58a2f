"""Errors as problem documents (RFC 9457)."""

import json
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from crewlearn.advisor.files.recording.guard import HeldOutput, Oddity
from crewlearn.advisor.files.tables import MOST_ERRORS, CsvErrors
from crewlearn.advisor.ledger.errors import Conflict, Overloaded, Stale, StoreUnavailable
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.past.narration import changes_since
from crewlearn.problem.errors import InvalidInput, Unknown

LOG = logging.getLogger("crewlearn.web")
MEDIA_TYPE = "application/problem+json"
LONGEST_VALUE = 200


class FieldError(BaseModel):
    """An error: its field, the value given, and the remedy."""

    model_config = ConfigDict(json_schema_extra={"example": {"field": "fee", "value": "-1", "remedy": "must be >= 0"}})

    field: str = Field(description="What is wrong: a field of the body, a parameter, or a column.")
    value: str | None = Field(default=None, description="What was given, shortened if long.")
    remedy: str = Field(description="What would be right.")
    line: int | None = Field(default=None, description="Line of the file.")
    column: str | None = Field(default=None, description="Column of the file.")


class ProblemDocument(BaseModel):
    """Why a request failed."""

    model_config = ConfigDict(
        title="Problem",
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
        },
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list)
    changed: list[str] | None = Field(default=None, description="What others changed since (412 only).")
    causes: list[str] | None = Field(default=None, description="The errors of a file by cause, each with what to do.")
    reading: list[str] | None = Field(
        default=None, description="How a file could be read if you accept it with `yes`, in sentences."
    )


def title_of(status: int) -> str:
    """Return the standard's current name of a status; older Pythons have older names.

    >>> title_of(422), title_of(404)
    ('Unprocessable Content', 'Not Found')
    """
    return {413: "Content Too Large", 422: "Unprocessable Content"}.get(status) or HTTPStatus(status).phrase


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route for the statuses it may refuse with."""
    return {status: {"model": ProblemDocument, "description": title_of(status)} for status in statuses}


ANYBODY = answers(400, 413, 503)
"""Error statuses of any request: wrong host name, body too large, store unavailable."""

SIGNED_IN = ANYBODY | answers(401, 429)
"""Error statuses of any request that requires a signed-in caller."""


def problem(
    status: int, detail: str, errors: Sequence[FieldError] = (), changed: Sequence[str] | None = None
) -> ProblemDocument:
    """Return a problem document titled by its status."""
    listed = None if changed is None else list(changed)
    return ProblemDocument(title=title_of(status), status=status, detail=detail, errors=list(errors), changed=listed)


def of_error(error: InvalidInput, in_path: Sequence[str] = (), *, reading: bool = False) -> ProblemDocument:
    """Return an error of ours as a problem document; an unknown value that the path names is a 404.

    A busy store is a conflict for a writer and unavailable for a reader. The store's address and fault are logged, and
    not shown to callers.
    """
    if isinstance(error, Overloaded):
        return problem(503, f"{error.remedy[0].upper()}{error.remedy[1:]}.")
    if isinstance(error, StoreUnavailable):
        LOG.error("%s", error)
        if isinstance(error, Conflict) and not reading:
            return problem(409, "Another writer was active at the same time; nothing was done. Try again.")
        return problem(503, "The store cannot be used at present; the server's log says why.")
    field_error = FieldError(field=error.field, value=shown(error.value), remedy=error.remedy)
    if isinstance(error, CsvErrors):
        listed = [
            FieldError(  # an error of the file as a whole has no column
                field=cell.column or error.what,
                value=cell.value,
                remedy=cell.expected,
                line=cell.line,
                column=cell.column,
            )
            for cell in error.errors
        ]
        more = f", of which the first {len(listed)} are listed" if error.total > len(listed) else ""
        refused = problem(422, f"{error.what} has {counted(error.total, 'error')}{more}; the file was not used", listed)
        causes = [f"{cause.sentence}: {cause.action}" for cause in error.groups]
        return refused.model_copy(update={"causes": causes or None, "reading": list(error.reading) or None})
    if isinstance(error, Conflict):
        if isinstance(error, Stale):
            return problem(412, str(error), [field_error], changes_since(error))
        if isinstance(error, HeldOutput):
            return problem(409, str(error), [field_error, *map(_of_oddity, error.oddities[:MOST_ERRORS])])
        return problem(409, str(error), [field_error])
    if isinstance(error, Unknown) and str(error.value) in in_path:
        if error.field == "site":  # the error lists all sites, some of which the caller may not see
            field_error = FieldError(
                field="site", value=field_error.value, remedy="does not exist, or is not one of yours"
            )
        return problem(404, f"{field_error.field} {field_error.value}: {field_error.remedy}", [field_error])
    return problem(422, str(error), [field_error])


def _of_oddity(odd: Oddity) -> FieldError:
    """Return a finding as an error: a row of the file, or line 0 for a whole day."""
    who = f"{odd.day}, {odd.worker_id}" if odd.worker_id else odd.day
    return FieldError(field="units", value=f"{who}: {odd.value}", remedy=odd.why, line=odd.line, column="units")


def shown(value: object) -> str | None:
    """Return a refused value as a problem shows it, shortened if long."""
    if value is None:
        return None
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text.encode(errors="replace").decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
