"""HTML pages from templates, with all data escaped."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from crewlearn import language
from crewlearn.web import formats
from crewlearn.web.i18n import LANGUAGES
from crewlearn.web.job_words import progress_words, scripted
from crewlearn.web.settings import Settings

FOLDER = Path(__file__).parent / "templates"
_rendering = Lock()
"""Serialises rendering: it holds the interpreter lock, so parallel rendering would delay every short response."""


@cache
def environment() -> Environment:
    """Return the template environment, in which an undefined name is an error.

    It serves every language: messages are looked up when a page is made.
    """
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(
        _=_message,
        plural=_plural,
        scripted=scripted,
        job_words=progress_words,
        figure=formats.number,
        age=formats.age,
        language=_language,
        languages=LANGUAGES,
    )
    templates.filters.update(remedy=formats.remedy)
    return templates


def _language() -> str:
    """Return the code of the reader's language."""
    return language.current().code


def _message(message: str, /, **values: object) -> Markup:
    """Return a message in the reader's language: it may have markup, and its values are escaped."""
    return Markup(language._(message)).format(**values) if values else Markup(language._(message))


def _plural(one: str, many: str, n: int, /, **values: object) -> Markup:
    """Return the form of a message for a number of things: it may have markup, and its values are escaped."""
    return Markup(language.plural(one, many, n, **{name: escape(value) for name, value in values.items()}))


def page(
    request: Request, name: str, values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a rendered page; templates see the request's path and the caller, if signed in."""
    caller = getattr(request.state, "caller", None)
    with _rendering:
        known = {"path": request.scope["path"], "here": _here(request), "caller": caller}
        text = environment().get_template(name).render({**known, **values})
    settings: Settings = request.app.state.settings
    return HTMLResponse(below(settings.root_path, text), status, dict(headers or {}))


def _here(request: Request) -> str:
    """Return the address of a page, to come back to; without its query where a form was sent."""
    path: str = request.scope["path"]
    return f"{path}?{request.url.query}" if request.method == "GET" and request.url.query else path


_OWN_ADDRESS = re.compile(r'(\s(?:href|src|action|formaction)=")(?=/(?!/))')


def below(root: str, text: str) -> str:
    """Return a page whose links, forms and files are below a root path.

    Templates and views write addresses as seen from the server itself. Text of users cannot look like an attribute,
    because its quotes are escaped.

    >>> below("/crew", '<a href="/sites">Sites</a> <a href="#top">href=&#34;/x</a>')
    '<a href="/crew/sites">Sites</a> <a href="#top">href=&#34;/x</a>'
    """
    return _OWN_ADDRESS.sub(rf"\g<1>{root}", text) if root else text
