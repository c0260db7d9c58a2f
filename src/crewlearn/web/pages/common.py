"""What all pages share: reading a site, showing a page, and saying on the next page what was done on this one."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, Any, Literal, TypedDict

from fastapi import Depends, Path, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import jobs, wording, work
from crewlearn.web.access import MANAGER, Caller
from crewlearn.web.faults import SiteFault, told_of_sites
from crewlearn.web.forms import Form
from crewlearn.web.numbers import MOST_NUMBER
from crewlearn.web.problems import answer, of_error, wants_page
from crewlearn.web.reads import snapshot
from crewlearn.web.settings import Settings
from crewlearn.web.templating import page
from crewlearn.web.views.reading import Reading, site_url

SAID = "crewlearn_said"
"""The cookie that carries words from the page that did something to the page that is shown next."""

_LONGEST_SAID = 3000
_MOST_FIELDS = 300


@dataclass(frozen=True)
class Flash:
    """Words about what was just done; `tone` is empty, warn or bad."""

    text: str
    tone: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class At:
    """Which site a page is about, with its tabs."""

    name: str
    url: str
    tabs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Pager:
    """Links to the page before and the one after, by default of a list with the newest first."""

    label: str
    words: str
    before: str
    after: str
    back: str = "Newer"
    on: str = "Older"


def store_of(request: Request) -> Store:
    """Give the store."""
    store: Store = request.app.state.store
    return store


def today_at(store: Store) -> date:
    """Give today's date on the server's clock."""
    return store.clock().date()


def reading_of(request: Request, name: str) -> Reading:
    """Read a site for a page."""
    store = store_of(request)
    with told_of_sites():
        found = snapshot(store, name)
    return Reading(found, found.site.config.calendar.day_of(store.clock()))


def show(request: Request, name: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """Show a page, with what was said on the one before."""
    cookie = request.cookies.get(SAID)
    response = page(request, name, {"flashes": _said(cookie), **values}, status)
    if cookie is not None:
        response.delete_cookie(SAID, **_kept(request))
    return response


def show_site(
    request: Request,
    caller: Caller,
    reading: Reading,
    tab: str,
    name: str,
    values: Mapping[str, Any],
    status: int = 200,
) -> Response:
    """Show a page of a site; who may not change anything sees no form that would."""
    may_manage = caller.may(MANAGER, reading.name)
    tabs = [("Today", ""), ("History", "history"), ("Plan", "plan"), ("Record", "record")]
    if may_manage:
        tabs[3:3] = [("Import", "import")]
        tabs.append(("Settings", "settings"))
    listed = tuple((words, site_url(reading.name, *([part] if part else []))) for words, part in tabs)
    at = At(reading.name, reading.url(), listed)
    return show(request, name, {"at": at, "tab": tab, "may_manage": may_manage, **values}, status)


def show_fault(request: Request, error: SiteFault) -> Response:
    """Show what to do, in the place of any page of a site that cannot be read; its record may be checked even so."""
    if not wants_page(request):
        return answer(request, of_error(error))
    fault, caller = error.fault, request.state.caller
    values = {
        "fault": fault,
        "at": At(fault.site, site_url(fault.site), ()),
        "may_manage": caller.may(MANAGER, fault.site),
        "checks": jobs.jobs_of(store_of(request), fault.site, limit=3, kind=work.VERIFY),
        "moment": wording.moment,
    }
    return show(request, "site_fault.html", values, 422)


def go(request: Request, url: str, text: str, tone: str = "", more: Sequence[str] = ()) -> Response:
    """Go on to a page that first says what was done."""
    response = RedirectResponse(url, 303)
    flash = Flash(text[:_LONGEST_SAID], tone, tuple(line[:300] for line in more[:5]))
    packed = base64.urlsafe_b64encode(json.dumps(asdict(flash)).encode()).decode()
    if len(packed) > _LONGEST_SAID:
        packed = base64.urlsafe_b64encode(json.dumps(asdict(Flash(text[:500], tone))).encode()).decode()
    response.set_cookie(SAID, packed, max_age=60, **_kept(request))
    return response


def _kept(request: Request) -> "_Kept":
    """Say how the cookie is kept."""
    settings: Settings = request.app.state.settings
    return {"path": "/", "secure": settings.secure_cookies, "httponly": True, "samesite": "strict"}


class _Kept(TypedDict):
    path: str
    secure: bool
    httponly: bool
    samesite: Literal["strict"]


def _said(cookie: str | None) -> list[Flash]:
    if not cookie:
        return []
    try:
        found = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        flash = Flash(str(found["text"]), str(found["tone"]), tuple(str(line) for line in found["more"]))
        json.dumps(asdict(flash), ensure_ascii=False).encode()  # what cannot be written cannot be shown
        return [flash]
    except (ValueError, KeyError, TypeError, RecursionError):  # not ours; it is of no consequence
        return []


def do(request: Request, url: str, what: Callable[[], str | Flash]) -> Response:
    """Do something and go on to a page that says what was done, or why it was not."""
    try:
        said = what()
    except InvalidInput as error:
        if error.field == "db":  # which is for those who run the server
            raise
        return go(request, url, f"Nothing was done: {wording.fault(error)}.", "bad")
    flash = Flash(said) if isinstance(said, str) else said
    return go(request, url, flash.text, flash.tone, flash.more)


async def _read_form(request: Request) -> Form:
    """Read a form without files."""
    given = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    values: dict[str, str] = {}
    many: dict[str, list[str]] = {}
    for name, value in given.multi_items():
        if not isinstance(value, UploadFile):
            values[name] = value
            many.setdefault(name, []).append(value)
    return Form(values, many)


JobNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
ProposalNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER)]

Filled = Annotated[Form, Depends(_read_form)]
"""A form as it was filled in."""
