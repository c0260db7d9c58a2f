"""What the routes share: who calls about which site, versions, and how answers are sent."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import reads
from crewlearn.web.access import Caller, Given, caller_in, let_in, now_of
from crewlearn.web.problems import answers
from crewlearn.web.reads import Snapshot

MOST_NUMBER = 2**31 - 1

READING = answers(400, 401, 404, 413, 422, 429, 503)
WRITING = answers(400, 401, 403, 404, 409, 412, 413, 422, 429, 503)
"""What any request about a site may be answered with when it is not done."""

SiteName = Annotated[str, Path(description="The site's name.", examples=["north"])]
ProposalNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The proposal's number.", examples=[7])]
JobNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The job's number.", examples=[3])]
IfNoneMatch = Annotated[
    str | None, Header(alias="If-None-Match", description="An ETag known already: 304 if it is still current.")
]

_ETAG = {"ETag": {"description": "The site's version, the number of its last event.", "schema": {"type": "string"}}}
VERSIONED: dict[int | str, dict[str, Any]] = {200: {"headers": _ETAG}}
UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing changed since the ETag given.", "headers": _ETAG}
}
LOCATED = {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}


@dataclass(frozen=True)
class Here:
    """A request about a site: who calls, the store, and the site as it stands."""

    caller: Caller
    store: Store
    snapshot: Snapshot

    @property
    def name(self) -> str:
        """The site's name."""
        return self.snapshot.name

    def now(self) -> Snapshot:
        """Give the site as it stands after what was done."""
        return reads.snapshot(self.store, self.name)


def at(role: str) -> Any:
    """Give the dependency for a request about the path's site that takes a role there."""

    def found(request: Request, site: SiteName, given: Given) -> Here:
        store: Store = request.app.state.store
        with store.reading() as connection:  # one view for both, as every request about a site passes here
            caller = caller_in(connection, now_of(store), given)
            allowed = caller is not None and caller.may(role, site)
            kept = reads.current(store, connection, site) if allowed else None
        caller = let_in(request, given, caller, role)
        return Here(caller, store, reads.snapshot(store, site) if kept is None else kept)

    return Depends(found)


_VERSION = re.compile(r'^(\*|(W/)?"[0-9]{1,9}")$')
_IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        json_schema_extra={"pattern": _VERSION.pattern},
        description="The version that this change is meant for, as an ETag gave it; else 412 says what changed.",
        examples=['"41"'],
    ),
]


async def _version(if_match: _IfMatch = None) -> int | None:
    """Read the version that a change is meant for; None if it is for any."""
    if if_match is None or if_match == "*":
        return None
    if not _VERSION.fullmatch(if_match):
        remedy = 'must be a version as an ETag gave it, a number in quotation marks such as "41", or *'
        raise InvalidInput("If-Match", if_match, remedy)
    return int(if_match.removeprefix("W/").strip('"'))


async def _required_version(if_match: _IfMatch = None) -> int | None:
    """Read the version where one must be given."""
    if if_match is None:
        raise HTTPException(428, "Send If-Match with the ETag of what you saw, so that nobody's changes are lost.")
    return await _version(if_match)


Expected = Annotated[int | None, Depends(_version)]
RequiredVersion = Annotated[int | None, Depends(_required_version)]


def answer(
    document: Any, version: int | None = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Send a document, with the site's version if it is about one."""
    body = document if isinstance(document, bytes) else reads.as_json(document)
    tag = {} if version is None else {"ETag": f'"{version}"'}
    return Response(body, status, {**tag, **(headers or {})}, media_type="application/json")


def unless_known(if_none_match: str | None, snapshot: Snapshot) -> Response | None:
    """Say that nothing changed to who knows the version already."""
    tag = f'"{snapshot.version}"'
    known = {part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")}
    return Response(status_code=304, headers={"ETag": tag}) if tag in known or "*" in known else None


def page(items: Iterable[Any], following: str | None) -> dict[str, Any]:
    """Describe a piece of a list."""
    return {"items": list(items), "next": following}
