"""Connections of the server: so many at a time, and none that sends or reads too slowly.

A connection is closed when a request's head is late, when its body comes slower than `Limits.body_rate`, or when nobody
reads the response. Those beyond the limits are told so and closed, with a line in the log a minute at most.
"""

import logging
import resource
import time
from asyncio import AbstractEventLoop, BaseTransport, Protocol, Transport, get_event_loop
from dataclasses import dataclass, replace
from typing import Any, cast

import h11
from uvicorn import Config
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from crewlearn.web.auth.failures import network_of

LOG = logging.getLogger("crewlearn.web")
BACKLOG = 256
"""Connections that the system accepts before the server takes them up; it takes up as many at once."""

_RESERVED = 256
"""Descriptors left to the store, files, and threads."""

_WANTED_DESCRIPTORS = 4096
DRAIN_SECONDS = 1.0
"""Seconds that an idle connection of a stopping server stays open, for a request that is on its way already."""

_LOG_SECONDS = 60.0
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 5\r\n"
    b"connection: close\r\ncontent-length: 44\r\n\r\nToo many connections; try again in a moment."
)


@dataclass(frozen=True)
class Limits:
    """How many connections there may be, in all and from a network, and how long each may keep the server waiting.

    Times are in seconds. A body may take `body_seconds`, and a second more for every `body_rate` bytes.
    """

    most: int = 1000
    most_of_network: int = 250
    head_seconds: float = 15.0
    body_seconds: float = 20.0
    body_rate: float = 4096.0
    reading_seconds: float = 60.0
    check_seconds: float = 2.0

    def within_descriptors(self, descriptors: int) -> "Limits":
        """Return these limits, lowered where the process may open too few files.

        >>> Limits().within_descriptors(4096).most, Limits().within_descriptors(1024).most
        (1000, 512)
        """
        most = max(16, min(self.most, descriptors - BACKLOG - _RESERVED))
        return replace(self, most=most, most_of_network=max(8, self.most_of_network * most // self.most))


def limits_here() -> Limits:
    """Return the limits of this process, which may open more files from now on, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return Limits().within_descriptors(_WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft)


def bounded_protocol(limits: Limits) -> type[Protocol]:
    """Return uvicorn's protocol with limits."""
    return cast("type[Protocol]", type("Bounded", (BoundedProtocol,), {"limits": limits}))


class BoundedProtocol(H11Protocol):
    """A connection that is refused where there are too many, and closed where it keeps the server waiting."""

    limits = Limits()
    ending = False
    """Whether the server stops: a connection then gets one more answer, which says that it is the last."""

    _refused = 0
    _logged = float("-inf")

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop or get_event_loop())
        self.network = ""
        self._full = False
        self._head_since: float | None = None
        self._body_since: float | None = None
        self._bytes = 0
        self._unread_since: float | None = None
        self._closing_since: float | None = None
        self._lost = False

    # --- what happens to the connection

    def connection_made(self, transport: BaseTransport) -> None:
        """Take the connection, or refuse it where there are too many."""
        super().connection_made(cast("Transport", transport))
        self.network = network_of(self.client[0]) if self.client else ""
        if self._too_many():
            self._full = True
            self.connections.discard(self)
            self.transport.write(_FULL)
            self.transport.close()
            self._tell_of_refusal()
            return
        self._head_since = self.loop.time()
        self.loop.call_later(self.limits.check_seconds, self._check)
        if self.ending:  # it was on its way when the server began to stop
            self.shutdown()

    def data_received(self, data: bytes) -> None:
        """Take in what came, noting when a head or a body began."""
        if self._full:
            return
        if self._head_since is None and self._is_idle():
            self._head_since = self.loop.time()
        self._bytes += len(data)
        super().data_received(data)
        if self._head_since is not None and not self._is_idle():
            self._head_since = None
            self._body_since, self._bytes = self.loop.time(), 0
            if self.ending:
                self._answer_last()

    def shutdown(self) -> None:
        """Close the connection as soon as nothing is lost by it."""
        if not self._is_idle():
            self._answer_last()
        elif not self.transport.is_closing():
            self.loop.call_later(DRAIN_SECONDS, self._close_idle)

    def _answer_last(self) -> None:
        """Let the request under way be the last of this connection, and say so in the answer."""
        self.cycle.keep_alive = False
        self.cycle.scope["headers"] = [*self.cycle.scope["headers"], CLOSE_HEADER]

    def _close_idle(self) -> None:
        if self._is_idle() and not self.transport.is_closing():
            super().shutdown()

    def pause_writing(self) -> None:
        """Note that the client is slower to read than we to send."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client has read on."""
        self._unread_since = None
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the next head, which may have come already."""
        super().on_response_complete()
        if not self._is_idle():  # a pipelined request
            self._body_since, self._bytes = self.loop.time(), 0

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._lost = True
        super().connection_lost(exc)

    # --- limits

    def _is_idle(self) -> bool:
        """Return whether no request is under way."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _too_many(self) -> bool:
        if len(self.connections) > self.limits.most:
            return True
        if self.config.proxy_headers:  # they all come from the proxy
            return False
        of_network = sum(1 for other in self.connections if getattr(other, "network", None) == self.network)
        return of_network > self.limits.most_of_network

    def _tell_of_refusal(self) -> None:
        kind, now = type(self), time.monotonic()
        kind._refused += 1
        if now - kind._logged >= _LOG_SECONDS:
            LOG.warning("too many connections: %d refused, the last from %s", kind._refused, self.network or "-")
            kind._logged, kind._refused = now, 0

    def _check(self) -> None:
        """Close the connection if it keeps the server waiting; otherwise look again later."""
        if self._lost:
            return
        now = self.loop.time()
        if self.transport.is_closing():
            if self._closing_since is None:
                self._closing_since = now
            elif now - self._closing_since > self.limits.reading_seconds:
                self.transport.abort()
                return
        elif self._unread_since is not None:
            if now - self._unread_since > self.limits.reading_seconds:
                self.transport.abort()
                return
        elif self._is_idle():
            if self._head_since is not None and now - self._head_since > self.limits.head_seconds:
                self._give_up(answer=self._bytes > 0)
        elif self.cycle.more_body:
            self._check_body(now)
        self.loop.call_later(self.limits.check_seconds, self._check)

    def _check_body(self, now: float) -> None:
        """Close the connection if the body is too slow; time in which we do not read it does not count."""
        if self._body_since is None or self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._body_since, self._bytes = now, 0
        elif now - self._body_since > self.limits.body_seconds + self._bytes / self.limits.body_rate:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._give_up(answer=not self.cycle.response_started)

    def _give_up(self, *, answer: bool) -> None:
        """Close the connection, with a 408 if an answer can still be sent."""
        if answer and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
            response = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            for event in (response, h11.Data(data=b"The request came too slowly."), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
