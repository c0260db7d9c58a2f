"""Single sign-on: to the provider, back from it, and out of both."""

import logging

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from crewlearn.problem.errors import Unknown
from crewlearn.web.auth.failures import address_of, count_failure
from crewlearn.web.auth.sign_on.providers import Providers
from crewlearn.web.auth.sign_on.refusals import SignOnRefused
from crewlearn.web.pages.sign_in import begun, here, sign_in_form
from crewlearn.web.settings import Settings

LOG = logging.getLogger("crewlearn.web")
COOKIE = "crewlearn_sign_on"
COOKIE_SECONDS = 600
"""Seconds in which a person signs in at the provider."""

_LONGEST_VALUE = 4000
_ANSWER = ("state", "code", "iss", "error")

router = APIRouter(prefix="/sign-on", include_in_schema=False)


@router.get("/{provider}")
def to_provider(request: Request, provider: str, next: str = "/") -> Response:
    """Send a person to the provider; `next` is the page they asked for."""
    providers, settings = _known(request, provider), _settings(request)
    try:
        url, cookie = providers.begin(provider, here(next))
    except SignOnRefused as error:
        return _refused(request, provider, error, here(next))
    response = RedirectResponse(url, 303)
    response.set_cookie(
        settings.cookie(COOKIE),
        cookie,
        max_age=COOKIE_SECONDS,
        path=settings.cookie_path,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",  # it must come along when the provider sends the person back
    )
    return response


@router.get("/{provider}/callback")
def from_provider(request: Request, provider: str) -> Response:
    """Sign in a person who comes back from the provider."""
    providers, settings = _known(request, provider), _settings(request)
    cookie = request.cookies.get(settings.cookie(COOKIE))
    answer = {name: request.query_params[name][:_LONGEST_VALUE] for name in _ANSWER if name in request.query_params}
    try:
        caller, session, next = providers.finish(provider, cookie, answer)
        response = begun(request, caller, session, here(next))
    except SignOnRefused as error:
        response = _refused(request, provider, error, "/")
    where, https = settings.cookie_path, settings.secure_cookies
    response.delete_cookie(settings.cookie(COOKIE), path=where, secure=https, httponly=True)
    return response


def _known(request: Request, provider: str) -> Providers:
    providers: Providers | None = request.app.state.sign_on
    if providers is None or provider not in providers:
        raise Unknown("provider", provider, "is not one that people sign in with here")
    return providers


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _refused(request: Request, provider: str, error: SignOnRefused, next: str) -> Response:
    """Show the sign-in page with what went wrong; the operator's log has the reason."""
    LOG.warning("sign-on at %s refused: %s", provider, ascii(error.reason[:500]))
    if error.suspicious:
        try:
            count_failure(request.app.state.store, address_of(request))
        except HTTPException as too_many:
            return sign_in_form(request, str(too_many.detail), next, too_many.status_code, too_many.headers)
    return sign_in_form(request, error.words, next, error.status)
