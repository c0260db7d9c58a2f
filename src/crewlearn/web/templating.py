"""Pages from templates: everything that comes from data is escaped."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crewlearn.web import wording

FOLDER = Path(__file__).parent / "templates"
_turn = Lock()
"""Large pages are made one after the other: together they would take as long, and short answers would wait for all."""


@cache
def environment() -> Environment:
    """Give the templates; a name that a page forgot to give is an error and no blank."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(count=wording.count, age=wording.age)
    made.filters.update(remedy=wording.remedy)
    return made


def page(
    request: Request, name: str, values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Make a page; templates know the request's path and, if somebody is signed in, the caller."""
    caller = getattr(request.state, "caller", None)
    with _turn:
        text = environment().get_template(name).render({"path": request.url.path, "caller": caller, **values})
    return HTMLResponse(text, status, dict(headers or {}))
