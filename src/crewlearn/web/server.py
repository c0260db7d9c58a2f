"""One server process: its socket, its log and its shutdown."""

import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI

from crewlearn.problem.errors import InvalidInput
from crewlearn.web.connections import BACKLOG, BoundedProtocol, Limits, bounded_protocol, limits_here
from crewlearn.web.observing.logs import log_to_stderr
from crewlearn.web.settings import Settings

GRACE_SECONDS = 20
"""Seconds that a stopping server gives to requests under way."""

KEEP_ALIVE_SECONDS = 75
"""Seconds an idle connection stays open: longer than proxies and clients keep it, so that they close it first."""

SWITCH_SECONDS = 0.0005
"""Seconds between thread switches, short so that responses need not wait for long computations."""

GC_THRESHOLDS = (50_000, 20, 100)
"""Thresholds of the cyclic garbage collector, well above Python's defaults.

A full collection over a large site blocks every response for a tenth of a second, and hardly anything is in cycles.
"""


def listen(settings: Settings) -> socket.socket:
    """Return a socket listening at the host and port of the settings; port 0 is any free one."""
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise InvalidInput("host", settings.host, f"is not an address of this machine ({error})") from error
    # explicitly TCP: otherwise asyncio leaves Nagle's algorithm on, and responses wait 40 ms for an ACK
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        taken.close()
        raise _not_taken(settings, error) from error
    return taken


def _not_taken(settings: Settings, error: Exception) -> InvalidInput:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return InvalidInput("port", settings.port, "is in use by another program; choose another with --port")
    if number == errno.EADDRNOTAVAIL:
        return InvalidInput("host", settings.host, "is not an address of this machine")
    return InvalidInput("port", settings.port, f"cannot be used ({error}); choose another with --port")


def url_of(taken: socket.socket, settings: Settings) -> str:
    """Return the server's URL for people; where it listens on all addresses, the loopback one."""
    host, port = taken.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    elif settings.host.lower() == "localhost":
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def public_url(taken: socket.socket, settings: Settings) -> str:
    """Return the URL that links use: behind a proxy with HTTPS, the first of the allowed hosts."""
    if settings.secure_cookies and settings.allowed_hosts:
        return f"https://{settings.allowed_hosts[0]}{settings.root_path}"
    return url_of(taken, settings) + settings.root_path


def run(app: FastAPI, taken: socket.socket, settings: Settings, announce: Callable[[], None]) -> None:
    """Announce the server and serve until a signal; then finish the requests under way, and stop the jobs."""
    log_to_stderr(settings.log_format)
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    server = _Server(config_of(app, settings, limits_here()))

    def end(number: int, frame: FrameType | None) -> None:
        """Shut down cleanly, also before uvicorn installs its handlers and when it raises the signal once more."""
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        announce()
        server.run(sockets=[taken])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """A server whose connections know when it stops."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what has been sent, and stop."""
        cast("type[BoundedProtocol]", self.config.http_protocol_class).ending = True
        await super().shutdown(sockets)


def config_of(app: FastAPI, settings: Settings, limits: Limits) -> uvicorn.Config:
    """Return the configuration of a server whose connections are limited."""
    return uvicorn.Config(
        app,
        http=bounded_protocol(limits),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        proxy_headers=settings.behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
