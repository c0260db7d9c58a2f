"""The Notifications page: where a user's digest goes. Links in its messages confirm or stop it without a sign-in."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.language import _, noted
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.access import VIEWER, Caller, require
from crewlearn.web.notices import digests
from crewlearn.web.notices.digests import CONFIRMED, DigestChoice
from crewlearn.web.pages.common import Filled, go, show, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.rendering import page

router = APIRouter()

Viewer = Annotated[Caller, require(VIEWER)]
Code = Annotated[str, Query(max_length=100)]
_LABELS = {
    "email": noted("E-mail address"),
    "chat_url": noted("Chat address"),
    "time": noted("At"),
    "sites": noted("Sites"),
}


@router.get("/notifications")
def notifications(request: Request, caller: Viewer) -> Response:
    """Show the user's choice."""
    chosen = digests.choice_of(store_of(request), caller.name)
    values = {"email": chosen.email, "chat_url": chosen.chat_url, "time": chosen.time}
    return _ask(request, caller, chosen, Form(values, {"sites": chosen.sites}, labels=_LABELS))


@router.post("/notifications")
def choose(request: Request, caller: Viewer, form: Filled) -> Response:
    """Set the user's choice."""
    form.labels, store = _LABELS, store_of(request)
    wanted = DigestChoice(
        form.value("email").strip(), form.value("chat_url").strip(), form.value("time"), tuple(form.ticked("sites"))
    )
    try:
        chosen = digests.choose(store, caller, wanted)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        form.errors["sites" if error.field == "site" else error.field] = error.remedy
        return _ask(request, caller, digests.choice_of(store, caller.name), form, 422)
    if not (chosen.email or chosen.chat_url):
        return go(request, "/notifications", _("You get no digest."))
    if chosen.email and chosen.state != CONFIRMED:
        return go(
            request,
            "/notifications",
            _("Saved. Open the link that is sent to {email} to confirm it.", email=chosen.email),
        )
    return go(
        request,
        "/notifications",
        _("Saved. The digest comes at {time}, if something waits for an answer.", time=chosen.time),
    )


def _ask(request: Request, caller: Caller, chosen: DigestChoice, form: Form, status: int = 200) -> Response:
    sites = [name for name in store_of(request).names() if caller.sees(name)]
    values = {
        "form": form,
        "chosen": chosen,
        "sites": sites,
        "can_mail": request.app.state.settings.mail is not None,
    }
    return show(request, "account/notifications.html", values, status)


@router.get("/digest/confirm")
def ask_to_confirm(request: Request, code: Code = "") -> Response:
    """Ask before confirming an address: mail programs fetch links."""
    email = digests.address_of_code(store_of(request), code)
    return page(request, "account/digest_link.html", {"email": email, "code": code, "stops": False, "done": False})


@router.post("/digest/confirm")
def confirm(request: Request, code: Code = "") -> Response:
    """Confirm the address that a code was sent to."""
    email = digests.confirm(store_of(request), code)
    return page(request, "account/digest_link.html", {"email": email, "code": code, "stops": False, "done": True})


@router.get("/digest/stop")
def ask_to_stop(request: Request, code: Code = "") -> Response:
    """Ask before stopping a digest."""
    email = digests.address_of_code(store_of(request), code)
    return page(request, "account/digest_link.html", {"email": email, "code": code, "stops": True, "done": False})


@router.post("/digest/stop")
def stop(request: Request, code: Code = "") -> Response:
    """Stop a digest, also at one click in a mail program (RFC 8058)."""
    digests.stop(store_of(request), code)
    return page(request, "account/digest_link.html", {"email": "", "code": code, "stops": True, "done": True})
