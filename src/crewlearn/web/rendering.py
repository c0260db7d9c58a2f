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

from crewlearn.web import formats
from crewlearn.web.settings import Settings

FOLDER = Path(__file__).parent / "templates"
_rendering = Lock()
"""Serialises rendering: it holds the interpreter lock, so parallel rendering would delay every short response."""


@cache
def environment() -> Environment:
    """Return the template environment, in which an undefined name is an error."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(count=formats.count, age=formats.age)
    templates.filters.update(remedy=formats.remedy)
    return templates


def page(
    request: Request, name: str, values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a rendered page; templates see the request's path and the caller, if signed in."""
    caller = getattr(request.state, "caller", None)
    with _rendering:
        text = environment().get_template(name).render({"path": request.scope["path"], "caller": caller, **values})
    settings: Settings = request.app.state.settings
    return HTMLResponse(below(settings.root_path, text), status, dict(headers or {}))


_OWN_ADDRESS = re.compile(r'(\s(?:href|src|action|formaction)=")(?=/(?!/))')


def below(root: str, text: str) -> str:
    """Return a page whose links, forms and files are below a root path.

    Templates and views write addresses as seen from the server itself. Text of users cannot look like an attribute,
    because its quotes are escaped.

    >>> below("/crew", '<a href="/sites">Sites</a> <a href="#top">href=&#34;/x</a>')
    '<a href="/crew/sites">Sites</a> <a href="#top">href=&#34;/x</a>'
    """
    return _OWN_ADDRESS.sub(rf"\g<1>{root}", text) if root else text
