"""A server's settings: where it listens, which names it answers to, how large requests may be, and whom it may tell."""

import ipaddress
from dataclasses import dataclass, field

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
MOST_NUMBER = 2**31 - 1
"""The largest integer accepted in a form, a path or a cursor: that of an integer column."""


@dataclass(frozen=True)
class MailSettings:
    """The mail server that digests are sent by; `security` is starttls, tls or (on this machine only) none."""

    host: str
    sender: str
    port: int = 587
    user: str = ""
    password: str = field(default="", repr=False)
    security: str = "starttls"


@dataclass(frozen=True)
class Settings:
    """The settings of `crewlearn serve`; sizes are in bytes.

    `url` is the server's address in links of messages. Webhooks and chats go to public addresses, and to `notify_hosts`
    wherever these are.

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
    url: str = ""
    notify_hosts: tuple[str, ...] = ()
    mail: MailSettings | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    def cookie(self, name: str) -> str:
        """Return a cookie's name as it is sent; over HTTPS with the prefix that browsers bind to this very host.

        >>> Settings().cookie("said"), Settings(secure_cookies=True).cookie("said")
        ('said', '__Host-said')
        """
        return f"__Host-{name}" if self.secure_cookies else name

    @property
    def names(self) -> frozenset[str]:
        """The host names a request may use, in lower case: loopback names, `host` and `allowed_hosts`."""
        names = (*LOOPBACK_NAMES, self.host, *self.allowed_hosts)
        return frozenset(name.lower().strip("[]").rstrip(".") for name in names)
