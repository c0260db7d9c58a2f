"""Posting to addresses that users name: only to permitted ones, within a time limit, following no redirect."""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from crewlearn.advisor.ledger.notices.addresses import Target, address_fault, checked_url
from crewlearn.problem.errors import InvalidInput

MOST_SECONDS = 10.0
"""Seconds that an attempt may take in all, once the name is resolved."""
_MOST_READ = 4096
"""Bytes of the answer that are read, so that the receiver sees an orderly end; they are not used."""


@dataclass(frozen=True)
class Outcome:
    """Whether a receiver took what was posted, and what it answered or what went wrong, in a few words.

    `unclear` is set if it may have taken it without our hearing of it.
    """

    taken: bool
    words: str
    unclear: bool = False


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    allowed: Collection[str] = (),
    *,
    seconds: float = MOST_SECONDS,
) -> Outcome:
    """Post a body once; any status from 200 to 299 takes it.

    The name is resolved first, and exactly the addresses that were checked are connected to: a name that resolves
    differently a moment later leads nowhere else.
    """
    try:
        target = checked_url("url", url)
        addresses = _resolved(target)
    except InvalidInput as error:
        return Outcome(False, f"the address {error.remedy}")
    except (OSError, UnicodeError) as error:
        return Outcome(False, f"the name cannot be resolved ({_told(error)})")
    fault = address_fault(target, addresses, allowed)
    if fault is not None:
        return Outcome(False, fault)
    connection = _PinnedConnection(target, addresses, seconds)
    watch = threading.Timer(seconds, connection.abort)  # a receiver that sends a byte a second would never time out
    watch.daemon = True
    watch.start()
    try:
        sent = {"Host": target.authority, "User-Agent": "crewlearn", "Connection": "close", **headers}
        connection.request("POST", target.path, body, sent)
        response = connection.getresponse()
        response.read(_MOST_READ)
        return _outcome(response.status)
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = connection.aborted or isinstance(error, TimeoutError)
        words = f"no answer within {seconds:g} s" if late else f"no answer ({_told(error)})"
        return Outcome(False, words, unclear=connection.reached)
    finally:
        watch.cancel()
        connection.close()


def _outcome(status: int) -> Outcome:
    if 200 <= status < 300:
        return Outcome(True, f"answered {status}")
    if 300 <= status < 400:
        return Outcome(False, f"answered {status}, and redirects are not followed")
    return Outcome(False, f"answered {status}")


def _told(error: Exception) -> str:
    """Return an error in a few words."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return " ".join(text.split())[:150]


def _resolved(target: Target) -> list[str]:
    """Return the addresses of a host, in the order in which to try them."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to one of some addresses, over TLS in the name of the host; `abort` ends it from another thread."""

    def __init__(self, target: Target, addresses: Sequence[str], seconds: float) -> None:
        super().__init__(target.host, target.port, timeout=seconds)
        self.target, self.addresses = target, addresses
        self.deadline = time.monotonic() + seconds
        self.aborted = self.reached = False

    def connect(self) -> None:
        """Connect to the first address that answers."""
        fault: OSError | None = None
        for address in self.addresses:
            left = self.deadline - time.monotonic()
            if left <= 0.0:
                break
            try:
                self.sock = socket.create_connection((address, self.target.port), timeout=left)
                break
            except OSError as error:
                fault = error
        else:
            raise fault or OSError("no address")
        if self.sock is None:
            raise fault or TimeoutError
        if self.target.scheme == "https":
            plain = self.sock
            self.sock = _tls().wrap_socket(plain, server_hostname=self.target.host)
        self.reached = True

    def abort(self) -> None:
        """End the connection; whoever waits for it gets an error."""
        self.aborted = True
        if self.sock is not None:
            with suppress(OSError):  # closed already
                self.sock.shutdown(socket.SHUT_RDWR)


@cache
def _tls() -> ssl.SSLContext:
    """Return the context in which certificates are checked; reading the authorities takes a while."""
    return ssl.create_default_context()
