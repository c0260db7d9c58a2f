"""Which addresses notices may be sent to, as far as the address itself says; names are checked when they are resolved.

A server that posts wherever it is told could be made to reach what only it can reach. So notices go out over HTTPS to
public addresses or to hosts that the operator allows; this very machine, to which HTTP is enough, is such a host too.
"""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from crewlearn.advisor.ledger.text import checked_text
from crewlearn.problem.errors import InvalidInput

LONGEST_URL = 2000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Target:
    """The parts of an address that a request needs."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host, with its port unless that is the usual one, as the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _USUAL[self.scheme] else f"{host}:{self.port}"


_USUAL = {"https": 443, "http": 80}


def checked_url(field: str, url: str) -> Target:
    """Return the parts of an address that may be posted to: https, or http to this machine.

    >>> checked_url("url", "https://example.org/hook?team=7").path
    '/hook?team=7'
    """
    checked_text(field, url, LONGEST_URL, 1)
    wrong = InvalidInput(field, url, "must be an address such as https://example.org/hook")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise wrong
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in _USUAL or not host or port == 0 or "%" in host:
        raise wrong
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidInput(field, url, "must hold no user, password or fragment; put a key into the path or query")
    if parts.scheme == "http" and not is_loopback(host):
        raise InvalidInput(field, url, "must begin with https://, as http is only for addresses of this machine")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or _USUAL[parts.scheme], path)


def is_loopback(host: str) -> bool:
    """Return whether a host names this machine by itself.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("localhost.example.org")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def is_public(address: str) -> bool:
    """Return whether an IP address is reachable from anywhere, and so is no way into the operator's own network.

    An IPv6 address that stands for an IPv4 one is as public as that one.

    >>> is_public("93.184.215.14"), is_public("10.0.0.1"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1")
    (True, False, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and ip.teredo is not None:
            inner = ip.teredo[1]
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def address_fault(target: Target, addresses: Collection[str], allowed: Collection[str]) -> str | None:
    """Return why a resolved host must not be posted to, or None if it may.

    `allowed` are the hosts that the operator vouches for, with a port where only that one is meant. This machine is
    reached only if it is among them: whoever may add a webhook could otherwise learn which of its ports answer.
    """
    host = target.host.lower().rstrip(".")
    places = {host, f"[{host}]:{target.port}" if ":" in host else f"{host}:{target.port}"}
    if places & {place.lower().rstrip(".") for place in allowed}:
        return None
    if all(is_public(ip) for ip in addresses):
        return None
    return f"{target.host} is not a public address; the operator can allow it: crewlearn serve --notify-host"
