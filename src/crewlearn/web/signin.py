"""Signing in by a token or a one-time link, and out."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from crewlearn.web import access
from crewlearn.web.templating import page

router = APIRouter(include_in_schema=False)
_LONGEST_ADDRESS = 2000


@router.get("/sign-in")
def sign_in_page(request: Request, next: str = "/") -> Response:
    """Ask for a token; `next` is the page that somebody wanted to see."""
    return page(request, "sign_in.html", {"fault": None, "next": here(next)})


@router.post("/sign-in")
def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=access.LONGEST_SECRET)] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in by a token."""
    return _signed_in(request, access.sign_in_by_token, token, here(next))


def here(address: str) -> str:
    """Give an address if it is a path of this server, and the first page otherwise.

    Browsers take `//host` and `/\\host` for another host, and leave out tabs and line breaks before they look.

    >>> here("/sites/north/history?to=9"), here("//evil.example"), here("https://evil.example"), here("/sign-in")
    ('/sites/north/history?to=9', '/', '/', '/')
    """
    plain = address.isascii() and address.isprintable() and "\\" not in address and len(address) <= _LONGEST_ADDRESS
    inside = address.startswith("/") and not address.startswith(("//", "/sign-"))
    return address if plain and inside else "/"


@router.get("/sign-in/once")
def sign_in_once_page(
    request: Request, code: Annotated[str, Query(max_length=access.LONGEST_SECRET)] = "", next: str = "/"
) -> Response:
    """Ask whether to sign in by a one-time link; `next` is the page that it is to lead to.

    To open it must not use it up: mail programs look at links before people do. Nor may it sign in: another site's page
    could open one, and its reader would go on under somebody else's name.
    """
    try:
        owner = access.owner_of_link(request.app.state.store, code, access.address_of(request))
    except HTTPException as error:
        return _refused(request, error, here(next))
    return page(request, "sign_in_once.html", {"name": owner.name, "code": code, "next": here(next)})


@router.post("/sign-in/once")
def sign_in_once(
    request: Request,
    code: Annotated[str, Form(max_length=access.LONGEST_SECRET)] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in by a one-time link."""
    return _signed_in(request, access.sign_in_by_link, code, here(next))


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Sign out."""
    access.sign_out(request.app.state.store, request.cookies.get(access.COOKIE))
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(access.COOKIE, path="/", secure=request.app.state.settings.secure_cookies, httponly=True)
    return response


def _signed_in(request: Request, by: access.SignIn, secret: str, next: str) -> Response:
    """Sign in and go on to a page; who fails sees the form again, with the reason."""
    state = request.app.state
    try:
        caller, session = by(state.store, state.settings, secret, access.address_of(request))
    except HTTPException as error:
        return _refused(request, error, next)
    request.state.caller = caller
    access.sign_out(state.store, request.cookies.get(access.COOKIE))
    response = RedirectResponse(next, 303)
    access.set_cookie(response, state.settings, session)
    return response


def _refused(request: Request, error: HTTPException, next: str) -> Response:
    """Show the form again, with the reason."""
    return page(request, "sign_in.html", {"fault": error.detail, "next": next}, error.status_code, error.headers)
