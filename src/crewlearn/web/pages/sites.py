"""The Sites page, and setting up a site."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.overview.people import people_at
from crewlearn.advisor.overview.sites import overview, totals_of
from crewlearn.language import _, localized, plural
from crewlearn.policies.registry import live_policies
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.errors.unreadable_sites import Diagnosis, SiteUnreadable
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import TABS, Filled, go, reading_of, show, store_of, today_at
from crewlearn.web.pages.forms import Form
from crewlearn.web.snapshots import Unreadable, each
from crewlearn.web.views.reading import site_url
from crewlearn.web.views.sites import CARDS, ROWS, matching_sites, site_row, sites_total
from crewlearn.web.views.today import Card, card

router = APIRouter()


@router.get("/")
def sites(
    request: Request, caller: Annotated[Caller, require(VIEWER)], q: str = "", all: Literal["yes", ""] = ""
) -> Response:
    """Show the sites, those first that need somebody: a few as cards, many in lines."""
    store = store_of(request)
    now = store.clock()
    lines = overview(store, caller.sees)
    values: dict[str, Any] = {
        "may_create": caller.may(ADMIN),
        "site_url": site_url,
        "q": q,
        "lines": lines,
        "cards": (),
        "total": None,
    }
    if len(lines) <= CARDS:
        names = [line.name for line in matching_sites(lines, "", now)]
        return show(request, "sites/sites.html", {**values, "cards": _cards(request, caller, names)})
    found = matching_sites(lines, q, now)
    shown = found if all else found[:ROWS]
    with store.reading() as connection:
        everybody = people_at(connection, None if caller.sites is None else [line.key for line in lines])
    values |= {
        "rows": [site_row(line, now) for line in shown],
        "more": len(found) - len(shown),
        "found": _(
            "{found} of {lines}", found=localized(f"{len(found):,}"), lines=plural("{n} site", "{n} sites", len(lines))
        )
        if q
        else plural("{n} site", "{n} sites", len(lines)),
        "total": sites_total(totals_of(lines), everybody),
    }
    return show(request, "sites/sites.html", values)


def _cards(request: Request, caller: Caller, names: Sequence[str]) -> list[Card | Diagnosis | Unreadable]:
    def shown(name: str) -> Card | Diagnosis:
        try:
            return card(reading_of(request, name), caller.may(MANAGER, name))
        except SiteUnreadable as error:
            return error.diagnosis

    return each(names, shown)


@router.get("/go")
def go_to(
    request: Request, caller: Annotated[Caller, require(VIEWER)], site: str = "", page: str = ""
) -> RedirectResponse:
    """Go to the same page of another site, or search for sites of that name."""
    names = [name for name in store_of(request).names() if caller.sees(name)]
    wanted = site.strip().casefold()
    chosen = next((name for name in names if name == site), None)
    if chosen is None:
        alike = [name for name in names if wanted and wanted in name.casefold()]
        chosen = alike[0] if len(alike) == 1 else None
    if chosen is None:
        return RedirectResponse(f"/?{urlencode({'q': site.strip()})}" if wanted else "/", 303)
    parts = [part for _, part, role in TABS if part == page and part and caller.may(role, chosen)]
    return RedirectResponse(site_url(chosen, *parts), 303)


@router.get("/sites/new")
def new_site(request: Request, caller: Annotated[Caller, require(ADMIN)]) -> Response:
    """Show the form for a new site."""
    return _ask(request, forms.new_site(today_at(store_of(request))))


@router.post("/sites/new")
def create_site(request: Request, caller: Annotated[Caller, require(ADMIN)], form: Filled) -> Response:
    """Set up a site."""
    name = form.value("name").strip()
    config = forms.read_site(form)
    if not name:
        form.errors["name"] = _("is needed")
    if config is not None and not form.errors:
        try:
            commands.create_site(store_of(request), name, config, caller.name)
        except InvalidInput as error:
            if isinstance(error, StoreUnavailable):
                raise
            form.errors["name" if error.field == "site" else error.field] = error.remedy
        else:
            return go(
                request,
                site_url(name, "import"),
                _("{name} is set up. Now import its people or their output.", name=name),
            )
    return _ask(request, form, 422)


def show_new_site(request: Request, fault: str, **values: Any) -> Response:
    """Return the page for a new site with what is wrong with a file."""
    return _ask(request, forms.new_site(today_at(store_of(request))), 422, fault=fault, **values)


def _ask(request: Request, form: Form, status: int = 200, **values: Any) -> Response:
    usual = {
        "form": form,
        "labels": forms.SITE_LABELS,
        "policies": policies(),
        "weekdays": [_(day) for day in forms.WEEKDAYS],
        "most": _("{import_bytes} MB", import_bytes=request.app.state.settings.import_bytes // 1_000_000),
        "fault": "",
        "faults": (),
        "headers": (),
    }
    return show(request, "sites/new_site.html", {**usual, **values}, status)


def policies() -> tuple[tuple[str, str], ...]:
    """Return the policies that can run live, with a line about each."""
    return tuple(live_policies().items())
