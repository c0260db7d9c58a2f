"""The middleware: host check, CSRF check, body limit, security headers and access log.

It is plain ASGI, so it runs before everything else and sees bodies as they arrive.
"""

import logging
import re
import time
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crewlearn.language import ENGLISH, Language, _, reading_in
from crewlearn.web import i18n
from crewlearn.web.errors import handlers
from crewlearn.web.errors.problems import ProblemDocument, problem
from crewlearn.web.observing.logs import ID_HEADER, REQUEST_ID, id_for
from crewlearn.web.observing.meters import meters
from crewlearn.web.settings import Settings

LOG = logging.getLogger("crewlearn.web")
ACCESS = logging.getLogger("crewlearn.web.access")
API = "/api/v1"
SAFE = ("GET", "HEAD", "OPTIONS")
FILES = ("text/csv", "multipart/form-data")
"""Content types that may be as large as a file."""

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
    """Refuses bad requests before any route sees them, and adds headers to and logs every response."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings, self.names = app, settings, settings.names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # WebSockets are not supported
        scope = {**scope, "path": self.settings.inside(scope["path"])}
        scope.setdefault("state", {})  # shared with the routes, so that the log knows the caller
        routed = _head_as_get(scope)
        answering = _Answering(scope, routed, send, self.settings)
        request = Request(scope)
        sent = request.headers.get(ID_HEADER) if self.settings.behind_proxy else None
        REQUEST_ID.set(id_for(sent))
        with reading_in(_language_of(request, self.settings)):
            await self._pass_on(request, routed, receive, answering)

    async def _pass_on(self, request: Request, routed: Scope, receive: Receive, answering: "_Answering") -> None:
        scope = request.scope
        try:
            fault = self._fault(request)
            if fault is not None:
                await handlers.answer(request, fault)(scope, receive, answering.send)
            else:
                bounded = _Bounded(receive, self._most_bytes(request))
                await self.app(routed, bounded.receive, answering.send)
        except ClientDisconnect:  # there is nobody to tell
            pass
        except Exception:
            LOG.exception("%s %s failed", scope["method"], _path(scope))
            if not answering.started:
                await self._apologize(request, scope, receive, answering.send)
        finally:
            answering.end()

    async def _apologize(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        document = problem(500, _("This is a bug; the server's log has more."))
        response: Response = handlers.answer(request, document)
        await response(scope, receive, send)

    def _fault(self, request: Request) -> ProblemDocument | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or _name_of(hosts[0]) not in self.names:
            detail = "This host name is not allowed; start the server with --allowed-host NAME to allow it."
            return problem(400, detail)
        if request.method not in SAFE and _is_cross_site(request.headers, hosts[0]):
            return problem(403, _("Another site's page sent this request, so nothing was done."))
        length = request.headers.get("content-length")
        most = self._most_bytes(request)
        if length is not None and (not length.isdecimal() or int(length) > most):
            return problem(413, _too_large(most))
        return None

    def _most_bytes(self, request: Request) -> int:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        return self.settings.import_bytes if kind in FILES else self.settings.json_bytes


def _language_of(request: Request, settings: Settings) -> Language:
    """Return the language of an answer: the reader's for a page, and English for programs."""
    if request.scope["path"].startswith(("/api/", "/static/", "/metrics")):
        return ENGLISH
    chosen = request.cookies.get(settings.cookie(i18n.LANGUAGE_COOKIE))
    return i18n.language(i18n.wanted(chosen, request.headers.get("accept-language", "")))


def _head_as_get(scope: Scope) -> Scope:
    """Turn a HEAD into a GET; uvicorn, which has the original scope, drops the body."""
    if scope["method"] != "HEAD":
        return scope
    return {**scope, "method": "GET"}


def _too_large(most: int) -> str:
    return f"The body has more than {most:,} bytes; send it in parts."


_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?")


def _name_of(host: str) -> str | None:
    """Return the name in a Host header, without its port; None if the header is malformed.

    >>> _name_of("LocalHost:8000"), _name_of("[::1]:8000"), _name_of("[::1]"), _name_of("example.com.")
    ('localhost', '::1', '::1', 'example.com')
    >>> _name_of("localhost:80@evil"), _name_of("[::1]evil"), _name_of("")
    (None, None, None)
    """
    match = _HOST.fullmatch(host)
    return None if match is None else (match[1] or match[2]).lower().rstrip(".")


def _is_cross_site(headers: Headers, host: str) -> bool:
    """Return whether a browser sent this on behalf of another site's page. Programs send neither header."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin not in (f"http://{host}", f"https://{host}")


class _Bounded:
    """A body that is read up to its limit only, whatever its Content-Length says."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most, self._seen = receive, most, 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._most:
            raise HTTPException(413, _too_large(self._most))
        return message


class _Answering:
    """A response being sent: sets its headers, logs and counts it."""

    def __init__(self, scope: Scope, routed: Scope, send: Send, settings: Settings) -> None:
        self._scope, self._routed, self._send, self._settings = scope, routed, send, settings
        self._began = time.perf_counter()
        self._status = 0
        self._meters = meters()
        if self._meters is not None:
            self._meters.under_way.inc()

    @property
    def started(self) -> bool:
        return self._status != 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers[ID_HEADER] = REQUEST_ID.get()
            if "location" in headers:
                headers["Location"] = self._settings.outside(self._within(headers["location"]))
            if self._settings.secure_cookies:
                headers["Strict-Transport-Security"] = "max-age=31536000"
            is_file = self._scope["path"].startswith("/static/")
            headers["Cache-Control"] = "no-cache" if is_file else "no-store"
        await self._send(message)

    def _within(self, location: str) -> str:
        """Return the address of a redirect as a path, if it is one of this server's."""
        own = f"{self._scope['scheme']}://{Headers(scope=self._scope).get('host', '')}"
        return location.removeprefix(own) if location.startswith(f"{own}/") else location

    def end(self) -> None:
        """Log and count the request, whether or not an answer was sent."""
        seconds = time.perf_counter() - self._began
        self._log(seconds)
        if self._meters is not None:
            self._meters.under_way.dec()
            self._meters.count_request(self._scope["method"], _route(self._routed), self._status, seconds)

    def _log(self, seconds: float) -> None:
        """Log method, path, status, duration and caller: no query, no header, nothing of a body."""
        caller = self._scope.get("state", {}).get("caller")
        method, path, status = self._scope["method"], _path(self._scope), self._status
        milliseconds, name = seconds * 1000, "-" if caller is None else quote(caller.name, safe=" ")
        parts = {
            "method": method,
            "path": path,
            "status": status,
            "milliseconds": round(milliseconds, 1),
            "caller": None if caller is None else caller.name,
        }
        ACCESS.info("%s %s %d %.1f ms %s", method, path, status, milliseconds, name, extra=parts)


def _route(scope: Scope) -> str:
    """Return the route that answered, without the names in the path: there are as many as the program has."""
    path, asked = getattr(scope.get("route"), "path", None), scope["path"]
    if path is None:
        return "/static" if asked.startswith("/static/") else "other"
    # newer versions of FastAPI leave out the prefix under which a router was included
    return f"{API}{path}" if asked.startswith(f"{API}/") and not path.startswith(f"{API}/") else str(path)


_WORKER = re.compile(r"^(/api/v1/sites/.*?/workers/).+", re.DOTALL)


def _path(scope: Scope) -> str:
    """Return the path percent-encoded, so that it cannot break a log line, and without a worker's id.

    Logs are kept elsewhere, and longer than a person who asks to be erased.
    """
    return quote(_WORKER.sub(r"\1-", scope["path"]))
