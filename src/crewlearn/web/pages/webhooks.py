"""The Webhooks pages of a site, for its admins; linked from Settings."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.notices.kinds import ABOUT, KINDS
from crewlearn.language import _, noted
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.access import ADMIN, Caller, require
from crewlearn.web.notices import deliveries
from crewlearn.web.pages.common import Filled, Pager, do, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.views.reading import site_url

router = APIRouter(prefix="/sites/{site}/webhooks")

Admin = Annotated[Caller, require(ADMIN)]
Number = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
AT_ONCE = 50
_LABELS = {"url": noted("Address"), "kinds": noted("Told of")}


@router.get("")
def list_page(request: Request, site: str, caller: Admin) -> Response:
    """List the webhooks, with a form to add one."""
    return _list(request, site, caller, Form({}, {"kinds": KINDS}, labels=_LABELS))


@router.post("")
def add(request: Request, site: str, caller: Admin, form: Filled) -> Response:
    """Add a webhook and show its secret, on this page only."""
    form.labels = _LABELS
    try:
        url = form.value("url").strip()
        made, secret = webhooks.add(store_of(request), site, url, caller.name, form.ticked("kinds"))
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        form.take(error)
        return _list(request, site, caller, form, 422)
    return _show(request, site, caller, made.id, secret=secret)


@router.get("/{number}")
def webhook_page(
    request: Request,
    site: str,
    caller: Admin,
    number: Number,
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
) -> Response:
    """Show a webhook with its deliveries, the newest first."""
    return _show(request, site, caller, number, before=before)


@router.post("/{number}/secret")
def rotate(request: Request, site: str, caller: Admin, number: Number) -> Response:
    """Give a webhook a new secret and show it, on this page only."""
    secret = webhooks.rotate(store_of(request), site, number)
    return _show(request, site, caller, number, secret=secret)


@router.post("/{number}/test")
def send_test(request: Request, site: str, caller: Admin, number: Number) -> Response:
    """Put a test delivery in the outbox."""

    def sent() -> str:
        webhooks.send_test(store_of(request), site, number)
        return _("A test is on its way. Look again in a moment.")

    return do(request, site_url(site, "webhooks", number), sent)


@router.post("/{number}/remove")
def remove(request: Request, site: str, caller: Admin, number: Number) -> Response:
    """Remove a webhook."""
    webhooks.remove(store_of(request), site, number)
    return go(request, site_url(site, "webhooks"), _("The webhook is removed."))


@router.post("/{number}/deliveries/{delivery}/retry")
def retry(request: Request, site: str, caller: Admin, number: Number, delivery: str) -> Response:
    """Send a delivery again."""

    def again() -> str:
        deliveries.send_again(store_of(request), site, number, delivery)
        return _("It is sent again. Look again in a moment.")

    return do(request, site_url(site, "webhooks", number), again)


def _list(request: Request, site: str, caller: Caller, form: Form, status: int = 200) -> Response:
    reading = reading_of(request, site)
    listed = webhooks.list_webhooks(store_of(request), site)
    values = {
        "webhooks": listed,
        "form": form,
        "kinds": ABOUT,
        "webhook_url": lambda id: site_url(site, "webhooks", id),
    }
    return show_site(request, caller, reading, "Settings", "notices/webhooks.html", values, status)


def _show(
    request: Request, site: str, caller: Caller, number: int, *, before: int | None = None, secret: str = ""
) -> Response:
    reading, store = reading_of(request, site), store_of(request)
    hook = webhooks.get(store, site, number)
    sent = deliveries.list_deliveries(store, site, number, before=before, limit=AT_ONCE + 1)
    url = site_url(site, "webhooks", number)
    older = f"{url}?before={sent[AT_ONCE - 1].number}" if len(sent) > AT_ONCE else ""
    values: dict[str, Any] = {
        "hook": hook,
        "url": url,
        "about": ABOUT,
        "deliveries": sent[:AT_ONCE],
        "secret": secret,
        "moment": reading.moment,
        "page": Pager(_("Deliveries"), "", url if before is not None else "", older),
    }
    return show_site(request, caller, reading, "Settings", "notices/webhook.html", values)
