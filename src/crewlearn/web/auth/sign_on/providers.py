"""The providers of a server, without what they need to work: that is imported only where there are any."""

from typing import TYPE_CHECKING

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.access import Caller
from crewlearn.web.settings import Settings, SignOn

if TYPE_CHECKING:
    from collections.abc import Mapping


class Providers:
    """Single sign-on with the providers of a server's settings, by their names."""

    def __init__(self, store: Store, settings: Settings) -> None:
        try:
            from crewlearn.web.auth.sign_on import accounts, flow
            from crewlearn.web.auth.sign_on.provider import Provider
        except ImportError as error:
            remedy = "needs packages that are not installed; run: pip install 'crewlearn[server]'"
            raise InvalidInput("sign_on", settings.sign_on[0].name, remedy) from error
        self._store, self._settings, self._flow, self._accounts = store, settings, flow, accounts
        self._providers = {one.name: Provider(one) for one in settings.sign_on}

    def __contains__(self, name: str) -> bool:
        """Return whether there is a provider of this name."""
        return name in self._providers

    def begin(self, name: str, next: str) -> tuple[str, str]:
        """Return the address at a provider to go to, and the cookie for the way back."""
        return self._flow.begin(self._settings, self._providers[name], next)

    def finish(self, name: str, cookie: str | None, answer: "Mapping[str, str]") -> tuple[Caller, str, str]:
        """Return whom a provider's answer brings back, their new session's secret, and the page they asked for."""
        pending = self._flow.pending_in(cookie)
        caller, session = self._flow.finish(self._store, self._settings, self._providers[name], pending, answer)
        return caller, session, "/" if pending is None else pending.next

    def farewell(self, session: str, kept: bytes | None) -> tuple[SignOn, str] | None:
        """Return the provider that a session came from, and the address to end it there too; None if there is none."""
        said = self._accounts.farewell_of(session, kept)
        provider = None if said is None else self._providers.get(said[0])
        if said is None or provider is None:
            return None
        url = self._flow.farewell_url(self._settings, provider, said[1])
        return None if url is None else (provider.settings, url)


def providers_of(store: Store, settings: Settings) -> Providers | None:
    """Return the providers of a server, or None without single sign-on."""
    names = [one.name for one in settings.sign_on]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput("name", name, "is the name of two providers; give one of them another")
    return Providers(store, settings) if names else None
