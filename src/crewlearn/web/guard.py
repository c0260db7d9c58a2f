"""What every request passes: the names we answer to, no request from other sites, bounded bodies, safe headers, a log.

It is plain ASGI: it stands before everything else, and it sees bodies as they arrive.
"""

import logging
import re
import time
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crewlearn.web import problems
from crewlearn.web.settings import Settings

LOG = logging.getLogger("crewlearn.web")
ACCESS = logging.getLogger("crewlearn.web.access")
SAFE = ("GET", "HEAD", "OPTIONS")
FILES = ("text/csv", "multipart/form-data")
"""Kinds of body that may be as large as a file."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """The middleware."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings, self.names = app, settings, settings.names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with what is wrong with it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # nothing here speaks WebSocket
        answering = _Answering(scope, send)
        request = Request(scope)
        try:
            fault = self._fault(request)
            if fault is not None:
                await problems.answer(request, fault)(scope, receive, answering.send)
            else:
                bounded = _Bounded(receive, self._most_bytes(request))
                await self.app(_looked_at(scope), bounded.receive, answering.send)
        except Exception:
            LOG.exception("%s %s failed", scope["method"], _path(scope))
            if not answering.started:
                await self._apologize(request, scope, receive, answering.send)
        finally:
            answering.log()

    async def _apologize(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        found = problems.problem(500, "This is a fault of the program; the server's log has more.")
        response: Response = problems.answer(request, found)
        await response(scope, receive, send)

    def _fault(self, request: Request) -> problems.Problem | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or _name_of(hosts[0]) not in self.names:
            detail = "The server does not know itself by this name; start it with --allowed-host NAME to add one."
            return problems.problem(400, detail)
        if request.method not in SAFE and _is_from_elsewhere(request.headers, hosts[0]):
            return problems.problem(403, "Another site's page sent this request, so nothing was done.")
        length = request.headers.get("content-length")
        most = self._most_bytes(request)
        if length is not None and (not length.isdecimal() or int(length) > most):
            return problems.problem(413, _too_large(most))
        return None

    def _most_bytes(self, request: Request) -> int:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        return self.settings.import_bytes if kind in FILES else self.settings.json_bytes


def _looked_at(scope: Scope) -> Scope:
    """Give a HEAD to be answered as a GET: the server, which has the scope as it was, leaves the body out."""
    if scope["method"] != "HEAD":
        return scope
    scope.setdefault("state", {})  # shared, so that the log knows the caller
    return {**scope, "method": "GET"}


def _too_large(most: int) -> str:
    return f"The body has more than {most:,} bytes; send it in parts."


_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?")


def _name_of(host: str) -> str | None:
    """Give the name in a Host header, without its port; None if it is no name and port and nothing else.

    >>> _name_of("LocalHost:8000"), _name_of("[::1]:8000"), _name_of("[::1]"), _name_of("example.com.")
    ('localhost', '::1', '::1', 'example.com')
    >>> _name_of("localhost:80@evil"), _name_of("[::1]evil"), _name_of("")
    (None, None, None)
    """
    found = _HOST.fullmatch(host)
    return None if found is None else (found[1] or found[2]).lower().rstrip(".")


def _is_from_elsewhere(headers: Headers, host: str) -> bool:
    """Say whether a browser sent this on behalf of another site's page. Programs send neither header."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin not in (f"http://{host}", f"https://{host}")


class _Bounded:
    """A body that is not read further than it may be long, whatever was said of its length."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most, self._seen = receive, most, 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._most:
            raise HTTPException(413, _too_large(self._most))
        return message


class _Answering:
    """An answer on its way: gets its headers, and a line in the log."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._began = time.perf_counter()
        self._status = 0

    @property
    def started(self) -> bool:
        return self._status != 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            is_file = self._scope["path"].startswith("/static/")
            headers["Cache-Control"] = "no-cache" if is_file else "no-store"
        await self._send(message)

    def log(self) -> None:
        """Write what was asked and how it went: no query, no header, nothing of a body."""
        state: dict[str, Any] = self._scope.get("state", {})
        caller = state.get("caller")
        milliseconds = (time.perf_counter() - self._began) * 1000
        name = "-" if caller is None else quote(caller.name, safe=" ")
        ACCESS.info("%s %s %d %.1f ms %s", self._scope["method"], _path(self._scope), self._status, milliseconds, name)


def _path(scope: Scope) -> str:
    """Give the path in letters that cannot break a line."""
    return quote(scope["path"])
