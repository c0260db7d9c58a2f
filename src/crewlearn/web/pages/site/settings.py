"""The Settings page."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.errors import Stale, StoreUnavailable
from crewlearn.advisor.ledger.settings.changes import differing
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.wording.learned import newer_policy
from crewlearn.advisor.wording.past.narration import changes_since
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import etags
from crewlearn.web.auth.access import MANAGER, Caller, require
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.pages.sites import policies
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/settings")


@router.get("")
def settings(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show the form with a site's settings."""
    reading = reading_of(request, site)
    return _show(request, caller, reading, forms.site_form(reading.site.config))


@router.post("")
def change(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Change settings, unless the site has changed since they were shown."""
    reading = reading_of(request, site)
    before = reading.site.config
    wanted = forms.read_site(form, before)
    if wanted is None or form.errors:
        return _show(request, caller, reading, form, status=422)
    changes = differing(before, wanted)
    store = store_of(request)
    try:
        seen = etags.meant(store, reading.snapshot, form.value("version"))
        commands.change_site(store, site, changes, caller.name, expected=seen)
    except Stale as stale:
        return _show(request, caller, reading_of(request, site), form, changes_since(stale) or (stale.remedy,), 412)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        form.errors[_blamed(error.field, before, wanted)] = error.remedy
        return _show(request, caller, reading, form, status=422)
    if not changes:
        return go(request, reading.url("settings"), _("No setting was changed."))
    return go(request, reading.url(), _("The new settings apply from now on, and the advice is updated."))


_PARTS = {
    "output range": ("units", ("low", "high", "hours_per_period")),
    "calendar": ("calendar", ("start", "shifts_per_day", "weekdays", "closures", "cutoff_hour")),
}
"""Fields that an error about several may refer to."""


def _blamed(field: str, before: SiteConfig, wanted: SiteConfig) -> str:
    """Return the field that an error is about: of several candidates, the first that was changed."""
    part, names = _PARTS.get(field, ("", ()))
    for name in names:
        if getattr(getattr(before, part), name) != getattr(getattr(wanted, part), name):
            return name
    return field


def _show(
    request: Request, caller: Caller, reading: Reading, form: Form, changed: tuple[str, ...] = (), status: int = 200
) -> Response:
    recorded = reading.site.has_output
    values = {
        "form": form,
        "version": etags.written(reading.snapshot),
        "changed": changed,
        "fixed": recorded,
        "labels": forms.SITE_LABELS,
        "policies": policies(),
        "newer_policy": newer_policy(reading.site),
        "weekdays": [_(day) for day in forms.WEEKDAYS],
    }
    return show_site(request, caller, reading, "Settings", "sites/settings.html", values, status)
