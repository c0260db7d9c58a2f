"""The Users pages, for admins of all sites: the same functions as `crewlearn users`."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.language import _, noted, plural
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats
from crewlearn.web.auth import users
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.pages.common import Filled, do, go, show, store_of
from crewlearn.web.pages.forms import Form, decimal, written
from crewlearn.web.pages.user_views import listed_users, user_url, user_view
from crewlearn.web.settings import MOST_NUMBER, Settings

router = APIRouter(prefix="/users")

Admin = Annotated[Caller, require(ADMIN)]
TokenNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
ROLES = (
    (VIEWER, noted("viewer: looks")),
    (MANAGER, noted("manager: records, answers")),
    (ADMIN, noted("admin: sets up sites")),
)
_LABELS = {
    "name": noted("Name"),
    "role": noted("Role"),
    "sites": noted("Sites"),
    "days": noted("Days it is valid"),
    "label": noted("What it is for"),
}


@router.get("")
def list_page(request: Request, caller: Admin) -> Response:
    """List the users, with a form to add one."""
    return _list(request, Form({"role": MANAGER, "where": "all"}, labels=_LABELS))


@router.post("")
def add(request: Request, caller: Admin, form: Filled) -> Response:
    """Add a user."""
    form.labels = _LABELS
    name = form.value("name").strip()

    def made() -> None:
        users.add(store_of(request), name, form.value("role"), _sites(form))

    if not _done(form, made, user="name"):
        return _list(request, form, 422)
    return go(request, user_url(name), _("{name} is added. Give them a token or a link.", name=name))


@router.get("/{name}")
def user_page(request: Request, caller: Admin, name: str) -> Response:
    """Show a user with their tokens."""
    return _show(request, name)


@router.post("/{name}")
def change(request: Request, caller: Admin, name: str, form: Filled) -> Response:
    """Change a user's role and sites."""
    form.labels = _LABELS
    sites = _sites(form)

    def changed() -> None:
        users.update(store_of(request), name, role=form.value("role"), sites=None if sites is None else sites)

    if not _done(form, changed):
        return _show(request, name, form, status=422)
    return go(request, user_url(name), _("{name} is changed.", name=name))


@router.post("/{name}/tokens")
def add_token(request: Request, caller: Admin, name: str, form: Filled) -> Response:
    """Create a token and show its secret, on this page only."""
    form.labels = _LABELS
    days, made = form.read("days", lambda text: decimal("days", text), users.TOKEN_DAYS), list[str]()

    def new() -> None:
        made.append(users.new_token(store_of(request), name, days, form.value("label").strip())[1])

    if form.errors or not _done(form, new):
        return _show(request, name, token_form=form, status=422)
    return _show(request, name, shown=(noted("Token"), made[0]))


@router.post("/{name}/tokens/{token}/revoke")
def revoke_token(request: Request, caller: Admin, name: str, token: TokenNumber) -> Response:
    """Revoke a token."""

    def revoked() -> str:
        users.revoke(store_of(request), name, token)
        return _("Token {token} is revoked, and its sessions have ended.", token=token)

    return do(request, user_url(name), revoked)


@router.post("/{name}/revoke")
def revoke_all(request: Request, caller: Admin, name: str) -> Response:
    """Revoke everything that lets a user in."""

    def revoked() -> str:
        count = users.revoke(store_of(request), name)
        return _(
            "{count} revoked; all sessions and links of {name} have ended.",
            count=plural("{n} token", "{n} tokens", count),
            name=name,
        )

    return do(request, user_url(name), revoked)


@router.post("/{name}/link")
def add_link(request: Request, caller: Admin, name: str) -> Response:
    """Create a one-time link and show it, on this page only."""
    try:
        code = users.new_link(store_of(request), name)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        return go(request, user_url(name), _("Nothing was done: {fault}.", fault=formats.fault(error)), "bad")
    settings: Settings = request.app.state.settings
    base = settings.url or str(request.base_url).rstrip("/") + settings.root_path
    return _show(request, name, shown=(noted("Link"), f"{base}/sign-in/once?code={code}"))


@router.post("/{name}/disable")
def disable(request: Request, caller: Admin, name: str) -> Response:
    """Block a user at once."""

    def disabled() -> str:
        users.disable(store_of(request), name)
        return _("{name} is blocked and signed out. Their name stays in the record.", name=name)

    return do(request, user_url(name), disabled)


@router.post("/{name}/enable")
def enable(request: Request, caller: Admin, name: str) -> Response:
    """Unblock a user."""

    def enabled() -> str:
        users.enable(store_of(request), name)
        return _("{name} may sign in again, with the tokens they have.", name=name)

    return do(request, user_url(name), enabled)


def _sites(form: Form) -> tuple[str, ...] | None:
    """Return the sites ticked, or None for all."""
    return None if form.value("where") == "all" else tuple(form.ticked("sites"))


def _done(form: Form, action: Callable[[], None], **fields: str) -> bool:
    """Run an action; on invalid input show the error at its field and return False."""
    try:
        action()
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        field = {"site": "sites", **fields}.get(error.field, error.field)
        form.errors.setdefault(field, error.remedy)
        return False
    return True


def _list(request: Request, form: Form, status: int = 200) -> Response:
    store = store_of(request)
    values = {
        "users": listed_users(store),
        "form": form,
        "roles": [(role, _(words)) for role, words in ROLES],
        "sites": store.names(),
    }
    return show(request, "account/users.html", values, status)


def _show(
    request: Request,
    name: str,
    form: Form | None = None,
    token_form: Form | None = None,
    shown: tuple[str, str] | None = None,
    status: int = 200,
) -> Response:
    store = store_of(request)
    user = users.get(store, name)
    limited = "some" if user.sites is not None else "all"
    values: dict[str, Any] = {
        "user": user_view(store, user),
        "form": form or Form({"role": user.role, "where": limited}, {"sites": user.sites or ()}, labels=_LABELS),
        "token_form": token_form or Form({"days": written(users.TOKEN_DAYS)}, labels=_LABELS),
        "shown": shown,
        "roles": [(role, _(words)) for role, words in ROLES],
        "sites": store.names(),
        "minutes": f"{users.LINK_SECONDS / 60:g}",
    }
    return show(request, "account/user.html", values, status)
