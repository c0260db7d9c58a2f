"""The choice of a language for the pages, kept on the reader's device."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from crewlearn.problem.errors import one_of
from crewlearn.web.i18n import LANGUAGE_COOKIE, LANGUAGES
from crewlearn.web.pages.sign_in import here
from crewlearn.web.settings import Settings

router = APIRouter()
_A_YEAR = 365 * 24 * 3600


@router.post("/language")
def choose(
    request: Request, language: Annotated[str, Form()] = "", next: Annotated[str, Form(max_length=2000)] = "/"
) -> Response:
    """Set the language of the pages and return to the page on which it was chosen. No sign-in is needed."""
    settings: Settings = request.app.state.settings
    response = RedirectResponse(here(next), 303)
    response.set_cookie(
        settings.cookie(LANGUAGE_COOKIE),
        one_of("language", language, LANGUAGES),
        max_age=_A_YEAR,
        path=settings.cookie_path,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return response
