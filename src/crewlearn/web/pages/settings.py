"""The settings of a site."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor import commands
from crewlearn.advisor.conflict import Stale
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import forms
from crewlearn.web.access import MANAGER, Caller, require
from crewlearn.web.forms import Form
from crewlearn.web.pages.common import Filled, go, reading_of, show_site, store_of
from crewlearn.web.pages.sites import policies
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/settings")


@router.get("")
def settings(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show a site's settings to be changed."""
    reading = reading_of(request, site)
    return _show(request, caller, reading, forms.site_form(reading.site.config))


@router.post("")
def change(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Change settings, unless somebody else changed the site since they were shown."""
    reading = reading_of(request, site)
    before = reading.site.config
    wanted = forms.read_site(form, before)
    seen = form.read("version", lambda text: forms.whole_number("version", text), 0)
    if wanted is None or form.errors:
        return _show(request, caller, reading, form, status=422)
    old, new = before.to_json(), wanted.to_json()
    changes = {name: value for name, value in new.items() if old[name] != value}
    try:
        commands.change_site(store_of(request), site, changes, caller.name, expected=seen)
    except Stale as stale:
        return _show(
            request, caller, reading_of(request, site), form, stale.changed or ("something was recorded",), 412
        )
    except InvalidInput as error:
        form.errors[{"output range": "high", "calendar": "start"}.get(error.field, error.field)] = error.remedy
        return _show(request, caller, reading, form, status=422)
    if not changes:
        return go(reading.url("settings"), "Nothing was different, so nothing was changed.")
    return go(reading.url(), "The settings are changed from now on, and the advice follows them.")


def _show(
    request: Request, caller: Caller, reading: Reading, form: Form, changed: tuple[str, ...] = (), status: int = 200
) -> Response:
    recorded = any(worker.recorded_to for worker in reading.site.workers)
    values = {
        "form": form,
        "version": reading.version,
        "changed": changed,
        "fixed": recorded,
        "policies": policies(),
        "weekdays": forms.WEEKDAYS,
    }
    return show_site(request, caller, reading, "Settings", "settings.html", values, status)
