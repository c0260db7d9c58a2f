"""Shared by the routes: the caller and the site of a request, versions, and responses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.site.request_keys import MOST_KEYS, RequestKey
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import etags, snapshots
from crewlearn.web.auth.access import Caller, Credentials, SentCredentials, caller_in, let_in
from crewlearn.web.auth.secrets import now_of
from crewlearn.web.errors.problems import SIGNED_IN, answers
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.snapshots import Snapshot

LISTING = SIGNED_IN | answers(422)
"""Error statuses of a request without a path parameter."""

READING = LISTING | answers(404)
"""Error statuses of a request that reads the resource in its path."""

ASKING = READING | answers(403, 409)
"""Error statuses of a request that acts on the resource, whatever the site's version."""

WRITING = ASKING | answers(412)
"""Error statuses of a request that changes a site and may send If-Match."""

SiteName = Annotated[str, Path(description="The site's name.", examples=["north"])]
ProposalNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The proposal's number.", examples=[7])]
JobNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The job's number.", examples=[3])]
IfNoneMatch = Annotated[
    str | None, Header(alias="If-None-Match", description="A known ETag: 304 if it is still current.")
]

TAGGED = {
    "ETag": {
        "description": "The site's version: the number of its last event, with the beginning of that event's hash.",
        "schema": {"type": "string"},
        "example": '"41-5f0c1a2b3c4d"',
    }
}
VERSIONED: dict[int | str, dict[str, Any]] = {200: {"headers": TAGGED}}
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "Unchanged since the ETag sent.", "headers": TAGGED}}
LOCATED = {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}


@dataclass(frozen=True)
class Here:
    """A request about a site: the caller, the store, a snapshot, and the version and key that it was sent with."""

    caller: Caller
    store: Store
    snapshot: Snapshot
    meant: str | None = None
    request: RequestKey | None = None

    @property
    def name(self) -> str:
        """The site's name."""
        return self.snapshot.name

    @property
    def expected(self) -> int | None:
        """The event number of the version in If-Match; None for any."""
        return None if self.meant is None else etags.meant(self.store, self.snapshot, self.meant)

    @property
    def writer(self) -> Store:
        """The store for a request that may have a key: if it was recorded before, writing raises `RequestRepeated`."""
        return self.store if self.request is None else self.store.keyed(self.request)

    def now(self) -> Snapshot:
        """Return a snapshot of the site after a change."""
        return snapshots.snapshot(self.store, self.name)


def at(role: str) -> Any:
    """Return a dependency for requests about the path's site that require a role there."""

    def here_with_role(request: Request, site: SiteName, credentials: SentCredentials) -> Here:
        return _here(request, site, credentials, role)

    return Depends(here_with_role)


def _here(request: Request, site: str, credentials: Credentials, role: str) -> Here:
    store: Store = request.app.state.store
    with store.reading() as connection:  # one transaction for both: every request about a site needs it
        caller = caller_in(connection, now_of(store), credentials)
        allowed = caller is not None and caller.may(role, site)
        cached = snapshots.current(store, connection, site) if allowed else None
    caller = let_in(request, credentials, caller, role)
    return Here(caller, store, snapshots.snapshot(store, site) if cached is None else cached)


_VERSION = re.compile(rf'^(\*|(W/)?"{etags.PATTERN}")$')
_IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        json_schema_extra={"pattern": _VERSION.pattern},
        description="The version that this change is based on, from an ETag; if it is stale, 412 says what changed. "
        "The number alone is accepted too, but numbers repeat after a backup is restored.",
        examples=['"41-5f0c1a2b3c4d"'],
    ),
]


_IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A key of your own for this request. If the request was recorded before, the same answer is given "
        f"and nothing is recorded; the same key with another request is refused. A site remembers {MOST_KEYS} keys.",
        examples=["shift-2026-11-16-a"],
    ),
]


async def _sent(request: Request, idempotency_key: _IdempotencyKey = None) -> tuple[str, bytes] | None:
    """Return the request's key, if it has one, and what it asks for: method, address and body."""
    if idempotency_key is None:
        return None
    address = f"{request.method} {request.url.path}?{request.url.query}\0".encode()
    return idempotency_key, address + await request.body()


def changing_once(role: str) -> Any:
    """Return a dependency as `changing` does, for requests that may have an idempotency key."""

    def here_with_key(
        here: Annotated[Here, changing(role)], sent: Annotated[tuple[str, bytes] | None, Depends(_sent)]
    ) -> Here:
        return here if sent is None else replace(here, request=RequestKey.of(here.caller.name, *sent))

    return Depends(here_with_key)


def changing(role: str, *, must_say: bool = False) -> Any:
    """Return a dependency for requests that change the path's site; If-Match is optional or required."""

    def here_at_version(
        request: Request, site: SiteName, credentials: SentCredentials, if_match: _IfMatch = None
    ) -> Here:
        here = _here(request, site, credentials, role)
        if if_match is None and must_say:
            raise HTTPException(428, "Send If-Match with the ETag you read, so that no changes are overwritten.")
        if if_match is None or if_match == "*":
            return here
        if not _VERSION.fullmatch(if_match):
            remedy = 'must be a version as an ETag gave it, in quotation marks, such as "41-5f0c1a2b3c4d", or *'
            raise InvalidInput("If-Match", if_match, remedy)
        return replace(here, meant=if_match.removeprefix("W/").strip('"'))

    return Depends(here_at_version)


def answer(
    document: Any, of: Snapshot | None = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response, with the ETag of the snapshot it shows, if any."""
    body = document if isinstance(document, bytes) else snapshots.as_json(document)
    tag = {} if of is None else {"ETag": _tag(of)}
    return Response(body, status, {**tag, **(headers or {})}, media_type="application/json")


def _tag(snapshot: Snapshot) -> str:
    return f'"{etags.written(snapshot)}"'


def unless_known(if_none_match: str | None, snapshot: Snapshot) -> Response | None:
    """Return 304 if the client has the current version already, else None."""
    tag = _tag(snapshot)
    known = {part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")}
    return Response(status_code=304, headers={"ETag": tag}) if tag in known or "*" in known else None


def page(items: Iterable[Any], following: str | None) -> dict[str, Any]:
    """Return a page of a list as a document."""
    return {"items": list(items), "next": following}


def plain(value: Any) -> Any:
    """Return plain data: timestamps as text, tuples as lists."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value
