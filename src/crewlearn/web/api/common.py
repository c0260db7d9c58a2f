"""What the routes share: who calls about which site, versions, and how answers are sent."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import reads, versions
from crewlearn.web.access import Caller, Credentials, Given, caller_in, let_in, now_of
from crewlearn.web.numbers import MOST_NUMBER
from crewlearn.web.problems import SIGNED_IN, answers
from crewlearn.web.reads import Snapshot

LISTING = SIGNED_IN | answers(422)
"""What a request that names nothing in its path may be answered with when it is not done."""

READING = LISTING | answers(404)
"""The same of one that looks at what its path names."""

ASKING = READING | answers(403, 409)
"""The same of one that has something begun or done there, whatever its version."""

WRITING = ASKING | answers(412)
"""The same of one that changes a site, and may say which version of it."""

SiteName = Annotated[str, Path(description="The site's name.", examples=["north"])]
ProposalNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The proposal's number.", examples=[7])]
JobNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The job's number.", examples=[3])]
IfNoneMatch = Annotated[
    str | None, Header(alias="If-None-Match", description="An ETag known already: 304 if it is still current.")
]

TAGGED = {
    "ETag": {
        "description": "The site's version: the number of its last event, with the beginning of that event's hash.",
        "schema": {"type": "string"},
        "example": '"41-5f0c1a2b3c4d"',
    }
}
VERSIONED: dict[int | str, dict[str, Any]] = {200: {"headers": TAGGED}}
UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing changed since the ETag given.", "headers": TAGGED}
}
LOCATED = {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}


@dataclass(frozen=True)
class Here:
    """A request about a site: who calls, the store, the site as it stands, and which version a change is meant for."""

    caller: Caller
    store: Store
    snapshot: Snapshot
    meant: str | None = None

    @property
    def name(self) -> str:
        """The site's name."""
        return self.snapshot.name

    @property
    def expected(self) -> int | None:
        """The number of the version that a change is meant for, None for any; asked for once all else is in order."""
        return None if self.meant is None else versions.meant(self.store, self.snapshot, self.meant)

    def now(self) -> Snapshot:
        """Give the site as it stands after what was done."""
        return reads.snapshot(self.store, self.name)


def at(role: str) -> Any:
    """Give the dependency for a request about the path's site that takes a role there."""

    def found(request: Request, site: SiteName, given: Given) -> Here:
        return _here(request, site, given, role)

    return Depends(found)


def _here(request: Request, site: str, given: Credentials, role: str) -> Here:
    store: Store = request.app.state.store
    with store.reading() as connection:  # one view for both, as every request about a site passes here
        caller = caller_in(connection, now_of(store), given)
        allowed = caller is not None and caller.may(role, site)
        kept = reads.current(store, connection, site) if allowed else None
    caller = let_in(request, given, caller, role)
    return Here(caller, store, reads.snapshot(store, site) if kept is None else kept)


_VERSION = re.compile(rf'^(\*|(W/)?"{versions.PATTERN}")$')
_IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        json_schema_extra={"pattern": _VERSION.pattern},
        description="The version that this change is meant for, as an ETag gave it; else 412 says what changed. "
        "Its number alone is taken too, but comes again after a backup was restored.",
        examples=['"41-5f0c1a2b3c4d"'],
    ),
]


def changing(role: str, *, must_say: bool = False) -> Any:
    """Give the dependency for a request that changes the path's site; it may, or must, say which version of it."""

    def found(request: Request, site: SiteName, given: Given, if_match: _IfMatch = None) -> Here:
        here = _here(request, site, given, role)
        if if_match is None and must_say:
            raise HTTPException(428, "Send If-Match with the ETag of what you saw, so that nobody's changes are lost.")
        if if_match is None or if_match == "*":
            return here
        if not _VERSION.fullmatch(if_match):
            remedy = 'must be a version as an ETag gave it, in quotation marks, such as "41-5f0c1a2b3c4d", or *'
            raise InvalidInput("If-Match", if_match, remedy)
        return replace(here, meant=if_match.removeprefix("W/").strip('"'))

    return Depends(found)


def answer(
    document: Any, of: Snapshot | None = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Send a document, with the version of the site that it is of, if it is of one."""
    body = document if isinstance(document, bytes) else reads.as_json(document)
    tag = {} if of is None else {"ETag": _tag(of)}
    return Response(body, status, {**tag, **(headers or {})}, media_type="application/json")


def _tag(snapshot: Snapshot) -> str:
    return f'"{versions.written(snapshot)}"'


def unless_known(if_none_match: str | None, snapshot: Snapshot) -> Response | None:
    """Say that nothing changed to who knows the version already."""
    tag = _tag(snapshot)
    known = {part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")}
    return Response(status_code=304, headers={"ETag": tag}) if tag in known or "*" in known else None


def page(items: Iterable[Any], following: str | None) -> dict[str, Any]:
    """Describe a piece of a list."""
    return {"items": list(items), "next": following}
