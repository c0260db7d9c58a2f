"""A server's settings: where it listens, which names it answers to, how large requests may be, and whom it may tell."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.web.observing.logs import LOG_FORMATS, TEXT

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
MOST_NUMBER = 2**31 - 1
"""The largest integer accepted in a form, a path or a cursor: that of an integer column."""
_ROOT = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9._~-]+)*")


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
class SignOn:
    """A provider of single sign-on, as the operator describes it in a file.

    `roles` maps values of the role claim to roles, and `sites` those of the site claim to sites (None: all of them).
    Without a site claim everybody sees all sites. `clock_skew` is in seconds.
    """

    name: str
    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    label: str = "Sign in with single sign-on"
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    name_claim: str = "preferred_username"
    role_claim: str = "groups"
    site_claim: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    sites: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    clock_skew: int = 60
    session_hours: float = 12.0
    log_out: bool = True


@dataclass(frozen=True)
class Settings:
    """The settings of `crewlearn serve`; sizes are in bytes.

    `root_path` is the path under which a proxy offers the server, such as /crew, and `url` the whole address, for links
    in messages. Webhooks and chats go to public addresses, and to `notify_hosts` wherever these are.

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
    root_path: str = ""
    log_format: str = TEXT
    sign_on: tuple[SignOn, ...] = ()

    def __post_init__(self) -> None:
        one_of("log_format", self.log_format, LOG_FORMATS)
        if not _ROOT.fullmatch(self.root_path):
            raise InvalidInput("root_path", self.root_path, "must be a path such as /crew, without a slash at its end")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    def cookie(self, name: str) -> str:
        """Return a cookie's name as it is sent; over HTTPS with the prefix that browsers bind to this very host.

        That prefix takes the path `/`: below a root path, the one that browsers bind to HTTPS remains.

        >>> Settings().cookie("said"), Settings(secure_cookies=True).cookie("said")
        ('said', '__Host-said')
        >>> Settings(secure_cookies=True, root_path="/crew").cookie("said")
        '__Secure-said'
        """
        if not self.secure_cookies:
            return name
        return f"__Secure-{name}" if self.root_path else f"__Host-{name}"

    @property
    def cookie_path(self) -> str:
        """The path of every cookie: other programs below the same host name do not get them."""
        return self.root_path or "/"

    def outside(self, path: str) -> str:
        """Return a path of this server as browsers must ask for it; other addresses stay as they are.

        >>> Settings(root_path="/crew").outside("/sites/north"), Settings(root_path="/crew").outside("//other.example/")
        ('/crew/sites/north', '//other.example/')
        """
        return f"{self.root_path}{path}" if path.startswith("/") and not path.startswith("//") else path

    def inside(self, path: str) -> str:
        """Return a requested path without the root path, whether the proxy has stripped it or not.

        >>> crew = Settings(root_path="/crew")
        >>> crew.inside("/crew/sites"), crew.inside("/crew"), crew.inside("/sites"), crew.inside("/crewmen")
        ('/sites', '/', '/sites', '/crewmen')
        """
        root = self.root_path
        return path[len(root) :] or "/" if root and f"{path}/".startswith(f"{root}/") else path

    @property
    def names(self) -> frozenset[str]:
        """The host names a request may use, in lower case: loopback names, `host` and `allowed_hosts`."""
        names = (*LOOPBACK_NAMES, self.host, *self.allowed_hosts)
        return frozenset(name.lower().strip("[]").rstrip(".") for name in names)
