"""The sign-in pages: by a token or a one-time link, and signing out."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from crewlearn.web.auth import sessions
from crewlearn.web.auth.access import COOKIE, Caller
from crewlearn.web.auth.failures import address_of
from crewlearn.web.auth.secrets import LONGEST_SECRET
from crewlearn.web.rendering import page
from crewlearn.web.settings import Settings

router = APIRouter(include_in_schema=False)
_LONGEST_ADDRESS = 2000


@router.get("/sign-in")
def sign_in_page(request: Request, next: str = "/") -> Response:
    """Show the form for a token; `next` is the page that was requested."""
    return sign_in_form(request, None, here(next))


@router.post("/sign-in")
def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=LONGEST_SECRET)] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in by a token."""
    return _signed_in(request, sessions.sign_in_by_token, token, here(next))


def here(address: str) -> str:
    """Return an address if it is a path of this server, and the first page otherwise.

    Browsers take `//host` and `/\\host` for another host, and drop tabs and line breaks first.

    >>> here("/sites/north/history?to=9"), here("//evil.example"), here("https://evil.example"), here("/sign-in")
    ('/sites/north/history?to=9', '/', '/', '/')
    """
    plain = address.isascii() and address.isprintable() and "\\" not in address and len(address) <= _LONGEST_ADDRESS
    inside = address.startswith("/") and not address.startswith(("//", "/sign-"))
    return address if plain and inside else "/"


@router.get("/sign-in/once")
def sign_in_once_page(
    request: Request, code: Annotated[str, Query(max_length=LONGEST_SECRET)] = "", next: str = "/"
) -> Response:
    """Ask for confirmation before signing in by a one-time link; `next` is the page it leads to.

    Opening the link must not use it up, because mail programs fetch links. Nor may it sign in: another site's page
    could open it and leave the reader signed in as somebody else.
    """
    try:
        owner = sessions.owner_of_link(request.app.state.store, code, address_of(request))
    except HTTPException as error:
        return _refused(request, error, here(next))
    return page(request, "account/sign_in_once.html", {"name": owner.name, "code": code, "next": here(next)})


@router.post("/sign-in/once")
def sign_in_once(
    request: Request,
    code: Annotated[str, Form(max_length=LONGEST_SECRET)] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in by a one-time link."""
    return _signed_in(request, sessions.sign_in_by_link, code, here(next))


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Sign out, and go on to do so at the provider of the session's single sign-on."""
    state, settings = request.app.state, _settings(request)
    session = request.cookies.get(settings.cookie(COOKIE))
    kept = sessions.sign_out(state.store, session)
    farewell = None if session is None or state.sign_on is None else state.sign_on.farewell(session, kept)
    response: Response = RedirectResponse("/sign-in", 303)
    if farewell is not None:  # a page, because browsers let no form be redirected to where it may not be sent
        provider, url = farewell
        response = page(request, "sign_on/signed_out.html", {"provider": provider, "url": url})
    where, https = settings.cookie_path, settings.secure_cookies
    response.delete_cookie(settings.cookie(COOKIE), path=where, secure=https, httponly=True)
    return response


def _signed_in(request: Request, by: sessions.SignIn, secret: str, next: str) -> Response:
    """Sign in and redirect; on failure show the form again, with the reason."""
    try:
        caller, session = by(request.app.state.store, _settings(request), secret, address_of(request))
    except HTTPException as error:
        return _refused(request, error, next)
    return begun(request, caller, session, next)


def begun(request: Request, caller: Caller, session: str, next: str) -> Response:
    """Hand over a new session, end the one before, and go to a page."""
    request.state.caller = caller
    settings = _settings(request)
    sessions.sign_out(request.app.state.store, request.cookies.get(settings.cookie(COOKIE)))
    response = RedirectResponse(next, 303)
    sessions.set_cookie(response, settings, session)
    return response


def sign_in_form(
    request: Request, fault: str | None, next: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Show the ways to sign in, with what went wrong before."""
    values = {"fault": fault, "next": next, "providers": _settings(request).sign_on}
    return page(request, "account/sign_in.html", values, status, headers)


def _refused(request: Request, error: HTTPException, next: str) -> Response:
    """Show the form again, with the reason."""
    return sign_in_form(request, str(error.detail), next, error.status_code, error.headers)


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings
