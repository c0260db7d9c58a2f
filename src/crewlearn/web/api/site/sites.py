"""Sites: list, create, read and change them; their status and advice."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import SiteCreated
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.settings.config import SiteConfig, default_most_a_week
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording import documents
from crewlearn.advisor.wording.learned import newer_policy
from crewlearn.policies.registry import registered
from crewlearn.web import snapshots
from crewlearn.web.api import paging
from crewlearn.web.api.common import (
    LISTING,
    LOCATED,
    READING,
    TAGGED,
    UNCHANGED,
    VERSIONED,
    WRITING,
    Here,
    IfNoneMatch,
    answer,
    at,
    changing,
    page,
    unless_known,
)
from crewlearn.web.api.models.site.proposals import Advice
from crewlearn.web.api.models.site.sites import NewSite, SiteChanges, SiteLines, SiteStatus, SiteView
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.errors.problems import answers

router = APIRouter(tags=["sites"])


@router.get("/sites", response_model=SiteLines, operation_id="listSites", responses=LISTING)
def list_sites(
    request: Request,
    caller: Annotated[Caller, require(VIEWER)],
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the sites that the caller may see, by name, each with its advice in a sentence.

    A site whose stored state cannot be read is listed with `fault` instead, which says why.
    """
    store: Store = request.app.state.store
    after = paging.place_in(cursor, "sites", lambda place: isinstance(place, str))
    names = sorted(name for name in store.names() if caller.sees(name) and (after is None or name > after))
    lines = [
        {"site": line.name, "fault": line.reason} if isinstance(line, snapshots.Unreadable) else line
        for line in snapshots.each(names[:limit], lambda name: _line(snapshots.snapshot(store, name)))
    ]
    return answer(page(lines, paging.written("sites", names[limit - 1]) if len(names) > limit else None))


def _line(snapshot: snapshots.Snapshot) -> dict[str, Any]:
    return documents.site_line(snapshot.name, snapshot.version, snapshot.site, snapshot.people)


@router.post(
    "/sites",
    response_model=SiteView,
    status_code=201,
    operation_id="createSite",
    responses=LISTING
    | answers(403, 409)
    | {
        200: {"model": SiteView, "headers": LOCATED | TAGGED, "description": "It exists already with these settings."},
        201: {"headers": LOCATED | TAGGED, "description": "The site is created."},
    },
)
def create_site(request: Request, caller: Annotated[Caller, require(ADMIN)], new: NewSite) -> Response:
    """Create a site. Repeating the request changes nothing; other settings under the same name are a conflict."""
    store: Store = request.app.state.store
    settings = new.settings.model_dump(mode="json")
    if "most_a_week" not in new.settings.model_fields_set:
        settings["most_a_week"] = default_most_a_week(new.settings.team)
    registered("policy", settings["policy"])
    key = settings["stream_key"]
    config = SiteConfig.from_json({**settings, "stream_key": secrets.randbelow(2**62) if key is None else key})
    status = 201
    try:
        commands.create_site(store, new.site, config, caller.name)
    except Conflict:
        if not _is_the_same(store, new.site, config, key, caller.name):
            raise
        status = 200
    made = snapshots.snapshot(store, new.site)
    return answer(_view(made), made, status, {"Location": str(request.url_for("getSite", site=new.site).path)})


def _is_the_same(store: Store, name: str, config: SiteConfig, key: int | None, actor: str) -> bool:
    """Return whether the same request created a site before; a random stream key is not compared."""
    with store.reading() as connection:
        site = store.key(connection, name)
        first = next(read_events(connection, site, limit=1))
    assert isinstance(first.fact, SiteCreated)
    before, wanted = first.fact.config.to_json(), config.to_json()
    if key is None:
        before["stream_key"] = wanted["stream_key"]
    return first.actor == actor and before == wanted


@router.get(
    "/sites/{site}",
    response_model=SiteView,
    name="getSite",
    operation_id="getSite",
    responses=READING | VERSIONED | UNCHANGED,
)
def get_site(here: Annotated[Here, at(VIEWER)], if_none_match: IfNoneMatch = None) -> Response:
    """Return a site's settings and version."""
    return unless_known(if_none_match, here.snapshot) or answer(_view(here.snapshot), here.snapshot)


def _view(snapshot: snapshots.Snapshot) -> dict[str, Any]:
    return {
        **_line(snapshot),
        "settings": documents.settings(snapshot.site.config),
        "newer_policy": newer_policy(snapshot.site),
    }


@router.patch(
    "/sites/{site}",
    response_model=SiteView,
    operation_id="changeSite",
    responses=WRITING | answers(428) | VERSIONED,
)
def change_site(here: Annotated[Here, changing(MANAGER, must_say=True)], changes: SiteChanges) -> Response:
    """Change settings from now on, as a JSON merge patch. If-Match is required."""
    patch = changes.model_dump(mode="json", exclude_unset=True)
    now = here.snapshot.site.config.to_json()
    if "policy" in patch:
        registered("policy", patch["policy"], now["policy"])
    for part in ("units", "calendar"):
        if part in patch:
            patch[part] = {**now[part], **patch[part]}
    commands.change_site(here.store, here.name, patch, here.caller.name, expected=here.expected)
    after = here.now()
    return answer(_view(after), after)


@router.get(
    "/sites/{site}/status",
    response_model=SiteStatus,
    operation_id="getStatus",
    tags=["advice"],
    responses=READING | VERSIONED | UNCHANGED,
)
def get_status(here: Annotated[Here, at(VIEWER)], if_none_match: IfNoneMatch = None) -> Response:
    """Return the team, the pool, replacements under way, and money so far."""
    return _rendered(here, "status_text", if_none_match)


@router.get(
    "/sites/{site}/advice",
    response_model=Advice,
    operation_id="getAdvice",
    tags=["advice"],
    responses=READING | VERSIONED | UNCHANGED,
)
def get_advice(here: Annotated[Here, at(VIEWER)], if_none_match: IfNoneMatch = None) -> Response:
    """Return what to do in the coming period, or what the site waits for; reading changes nothing."""
    return _rendered(here, "advice_text", if_none_match)


def _rendered(here: Here, text: str, if_none_match: str | None) -> Response:
    """Return a document that a snapshot renders once, or 304 if the client has it."""
    known = unless_known(if_none_match, here.snapshot)
    if known is not None:
        return known
    with snapshots.making(here.store, here.snapshot, text) as now:
        return answer(getattr(now, text), now)
