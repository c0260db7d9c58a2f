"""The Sites page, and setting up a site."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.policies.registry import live_policies
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.errors.unreadable_sites import Diagnosis, SiteUnreadable
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, go, reading_of, show, store_of, today_at
from crewlearn.web.pages.forms import Form
from crewlearn.web.snapshots import each
from crewlearn.web.views.reading import site_url
from crewlearn.web.views.today import Card, card

router = APIRouter()


@router.get("/")
def sites(request: Request, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the sites as cards."""
    names = [name for name in store_of(request).names() if caller.may(VIEWER, name)]

    def shown(name: str) -> Card | Diagnosis:
        try:
            return card(reading_of(request, name), caller.may(MANAGER, name))
        except SiteUnreadable as error:
            return error.diagnosis

    values = {"cards": each(names, shown), "may_create": caller.may(ADMIN), "site_url": site_url}
    return show(request, "sites.html", values)


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
        form.errors["name"] = "is needed"
    if config is not None and not form.errors:
        try:
            commands.create_site(store_of(request), name, config, caller.name)
        except InvalidInput as error:
            if isinstance(error, StoreUnavailable):
                raise
            form.errors["name" if error.field == "site" else error.field] = error.remedy
        else:
            return go(request, site_url(name, "import"), f"{name} is set up. Now import its workers.")
    return _ask(request, form, 422)


def show_new_site(request: Request, fault: str, **values: Any) -> Response:
    """Return the page for a new site with what is wrong with a file."""
    return _ask(request, forms.new_site(today_at(store_of(request))), 422, fault=fault, **values)


def _ask(request: Request, form: Form, status: int = 200, **values: Any) -> Response:
    usual = {
        "form": form,
        "labels": forms.SITE_LABELS,
        "policies": policies(),
        "weekdays": forms.WEEKDAYS,
        "most": f"{request.app.state.settings.import_bytes // 1_000_000} MB",
        "fault": "",
        "faults": (),
        "headers": (),
    }
    return show(request, "new_site.html", {**usual, **values}, status)


def policies() -> tuple[tuple[str, str], ...]:
    """Return the policies that can run live, with a line about each."""
    return tuple(live_policies().items())
