"""How a server runs: where it listens, under which names, and what it lets in."""

import ipaddress
from dataclasses import dataclass

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """What `crewlearn serve` was told; sizes are in bytes.

    >>> Settings(host="192.168.1.5").is_loopback, Settings(host="::1").is_loopback
    (False, True)
    """

    db: str = "sqlite:///crewlearn.db"
    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    secure_cookies: bool = False
    behind_proxy: bool = False
    json_bytes: int = 1_000_000
    import_bytes: int = 64_000_000
    session_days: float = 7.0

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @property
    def names(self) -> frozenset[str]:
        """The names a request may call this server by, in lower case: its own, and those it was given."""
        own = (*LOOPBACK_NAMES, self.host, *self.allowed_hosts)
        return frozenset(name.lower().strip("[]").rstrip(".") for name in own)
