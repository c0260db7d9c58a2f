"""Shared by all pages: reading a site, rendering a page, and messages that outlive a redirect."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, Any, Literal, TypedDict

from fastapi import Depends, Path, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _, noted
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, Role
from crewlearn.web.errors.handlers import answer, wants_page
from crewlearn.web.errors.problems import of_error
from crewlearn.web.errors.unreadable_sites import SiteUnreadable, diagnosed
from crewlearn.web.jobs import queue, work
from crewlearn.web.pages.forms import Form
from crewlearn.web.rendering import page
from crewlearn.web.settings import MOST_NUMBER, Settings
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views.reading import Reading, site_url

MESSAGE_COOKIE = "crewlearn_said"
"""The cookie that carries a message across a redirect."""

TABS: tuple[tuple[str, str, Role], ...] = (
    (noted("Today"), "", VIEWER),
    (noted("People"), "workers", VIEWER),
    (noted("History"), "history", VIEWER),
    (noted("Plan"), "plan", VIEWER),
    (noted("Backtest"), "backtest", VIEWER),
    (noted("Pilot"), "pilot", VIEWER),
    (noted("Import"), "import", MANAGER),
    (noted("Record"), "record", VIEWER),
    (noted("Settings"), "settings", MANAGER),
)
"""The pages of a site in order: what the tab says, the end of its path, and who sees it."""

MOST_CHOICES = 50
"""So many sites are listed in the switcher; of more, people type a part of the name."""

_LONGEST_MESSAGE = 3000
_MOST_FIELDS = 300


@dataclass(frozen=True)
class Flash:
    """A message about what was just done; `tone` is empty, warn or bad. `undo` is the event that it can undo, or 0."""

    text: str
    tone: str = ""
    more: tuple[str, ...] = ()
    undo: int = 0


@dataclass(frozen=True)
class At:
    """Which site a page is about, with its tabs; `money` is the code of its currency, or "money" if none is set."""

    name: str
    url: str
    tabs: tuple[tuple[str, str], ...]
    money: str = "money"


@dataclass(frozen=True)
class Pager:
    """Links to the previous and the next page, by default of a list with the newest first."""

    label: str
    words: str
    before: str
    after: str
    back: str = noted("Newer")
    on: str = noted("Older")


def store_of(request: Request) -> Store:
    """Return the application's store."""
    store: Store = request.app.state.store
    return store


def today_at(store: Store) -> date:
    """Return today's date on the server's clock."""
    return store.clock().date()


def reading_of(request: Request, name: str) -> Reading:
    """Return a site as a page reads it."""
    store = store_of(request)
    with diagnosed():
        current = snapshot(store, name)
    return Reading(current, current.site.config.day_of(store.clock()))


def show(request: Request, name: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """Return a page, with the message of the one before."""
    cookie = request.cookies.get(_message_cookie(request))
    response = page(request, name, {"flashes": _messages(cookie), "switch": _switch(request, values), **values}, status)
    if cookie is not None:
        response.delete_cookie(_message_cookie(request), **_cookie_options(request))
    return response


@dataclass(frozen=True)
class Switch:
    """The site switcher: the site shown, its page, and the sites to choose from, or none if they are too many."""

    now: str
    page: str
    names: tuple[str, ...]


def _switch(request: Request, values: Mapping[str, Any]) -> Switch | None:
    """Return the site switcher; None if there is nothing to switch to."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        return None
    names = [name for name in store_of(request).names() if caller.sees(name)]
    at, tab = values.get("at"), values.get("tab")
    if len(names) < (1 if at is None else 2):
        return None
    part = next((part for words, part, _ in TABS if words == tab), "")
    return Switch("" if at is None else at.name, part, tuple(names) if len(names) <= MOST_CHOICES else ())


def show_site(
    request: Request,
    caller: Caller,
    reading: Reading,
    tab: str,
    name: str,
    values: Mapping[str, Any],
    status: int = 200,
) -> Response:
    """Return a page of a site; forms are shown only to callers who may use them."""
    may_manage = caller.may(MANAGER, reading.name)
    tabs = tuple(
        (words, reading.url(*filter(None, [part]))) for words, part, role in TABS if caller.may(role, reading.name)
    )
    at = At(reading.name, reading.url(), tabs, reading.currency or At.money)
    return show(request, name, {"at": at, "tab": tab, "may_manage": may_manage, **values}, status)


def show_unreadable(request: Request, error: SiteUnreadable) -> Response:
    """Return the page of a site that cannot be read: what to do about it, and a check of its record."""
    if not wants_page(request):
        return answer(request, of_error(error))
    diagnosis, caller = error.diagnosis, request.state.caller
    values = {
        "diagnosis": diagnosis,
        "at": At(diagnosis.site, site_url(diagnosis.site), ()),
        "may_manage": caller.may(MANAGER, diagnosis.site),
        "checks": queue.jobs_of(store_of(request), diagnosis.site, limit=3, kind=work.VERIFY),
        "moment": formats.moment,
    }
    return show(request, "sites/site_fault.html", values, 422)


def go(request: Request, url: str, text: str, tone: str = "", more: Sequence[str] = (), undo: int = 0) -> Response:
    """Redirect to a page that shows a message first."""
    response = RedirectResponse(url, 303)
    flash = Flash(text[:_LONGEST_MESSAGE], tone, tuple(line[:300] for line in more[:5]), undo)
    packed = base64.urlsafe_b64encode(json.dumps(asdict(flash)).encode()).decode()
    if len(packed) > _LONGEST_MESSAGE:
        packed = base64.urlsafe_b64encode(json.dumps(asdict(Flash(text[:500], tone, undo=undo))).encode()).decode()
    response.set_cookie(_message_cookie(request), packed, max_age=60, **_cookie_options(request))
    return response


def _message_cookie(request: Request) -> str:
    settings: Settings = request.app.state.settings
    return settings.cookie(MESSAGE_COOKIE)


def _cookie_options(request: Request) -> "_CookieOptions":
    """Return the options of the message cookie."""
    settings: Settings = request.app.state.settings
    return {"path": settings.cookie_path, "secure": settings.secure_cookies, "httponly": True, "samesite": "strict"}


class _CookieOptions(TypedDict):
    path: str
    secure: bool
    httponly: bool
    samesite: Literal["strict"]


def _messages(cookie: str | None) -> list[Flash]:
    if not cookie:
        return []
    try:
        data = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        flash = Flash(
            str(data["text"]), str(data["tone"]), tuple(str(line) for line in data["more"]), int(data["undo"])
        )
        json.dumps(asdict(flash), ensure_ascii=False).encode()  # text that cannot be encoded is dropped
        return [flash]
    except (ValueError, KeyError, TypeError, RecursionError):  # not written by us: ignored
        return []


def do(request: Request, url: str, action: Callable[[], str | Flash]) -> Response:
    """Run an action, then redirect to a page that says what was done, or why it was not."""
    try:
        outcome = action()
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):  # handled as a server error
            raise
        return go(request, url, _("Nothing was done: {fault}.", fault=formats.fault(error)), "bad")
    flash = Flash(outcome) if isinstance(outcome, str) else outcome
    return go(request, url, flash.text, flash.tone, flash.more, flash.undo)


async def _read_form(request: Request) -> Form:
    """Read a form without files."""
    form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    values: dict[str, str] = {}
    many: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            values[name] = value
            many.setdefault(name, []).append(value)
    return Form(values, many)


JobNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
ProposalNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER)]

Filled = Annotated[Form, Depends(_read_form)]
"""A form as it was submitted."""
