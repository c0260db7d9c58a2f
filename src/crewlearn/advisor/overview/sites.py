"""All sites of a store in a few statements: what changed since the last look is read again, and nothing else.

The first look at a large store would take long: it stops after a while, a thread reads the rest, and what needs an
answer is known of every site all the same, from one statement over the proposals.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock, Thread
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.store import Store, Version
from crewlearn.advisor.overview.summaries import SiteSummary, summarise
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput

LOG = logging.getLogger("crewlearn.overview")
PATIENCE_SECONDS = 1.0
"""Seconds that a look may spend on reading sites that changed."""

_PAUSE = 0.5
"""The thread that reads the rest rests for this share of the time it works, so that requests are served meanwhile."""


@dataclass(frozen=True)
class SiteLine:
    """A site in the overview: proposals to answer and, if it could be read, its summary.

    `fault` says why it cannot be read; without fault and summary it is yet to be read.
    """

    name: str
    key: int
    proposed: int
    summary: SiteSummary | None = None
    fault: InvalidInput | None = None

    @property
    def is_unread(self) -> bool:
        """Whether it is yet to be read."""
        return self.summary is None and self.fault is None

    def urgency(self, now: datetime) -> tuple[int, int, str]:
        """Return the place in an order by need: faults, proposals, overdue offers, output and workers to import."""
        name = self.name.casefold()
        if self.fault is not None:
            return 0, 0, name
        if self.proposed:
            return 1, -self.proposed, name
        summary = self.summary
        if summary is None:
            return 5, 0, name
        if summary.overdue:
            return 2, -summary.overdue, name
        if not summary.workers:
            return 4, 0, name
        missing = summary.missing_days(now)
        return (3, -missing, name) if missing else (6, 0, name)


@dataclass(frozen=True)
class MoneyTotal:
    """Sums of money over the sites that have the same currency, and how many people were replaced there."""

    currency: str | None
    earned: float
    fees: float
    gain: Gain
    replaced: int


@dataclass(frozen=True)
class Totals:
    """Sums over sites; `read` of them are included. Money is summed by currency."""

    sites: int
    read: int
    proposed: int
    overdue: int
    team: int
    filled: int
    money: tuple[MoneyTotal, ...]


def totals_of(lines: Sequence[SiteLine]) -> Totals:
    """Return the sums over sites."""
    summaries = [line.summary for line in lines if line.summary is not None]
    return Totals(
        sites=len(lines),
        read=len(summaries),
        proposed=sum(line.proposed for line in lines),
        overdue=sum(summary.overdue for summary in summaries),
        team=sum(summary.team for summary in summaries),
        filled=sum(summary.filled for summary in summaries),
        money=tuple(
            _money_total(currency, [summary for summary in summaries if summary.config.currency == currency])
            for currency in sorted({summary.config.currency for summary in summaries} or {None}, key=str)
        ),
    )


def _money_total(currency: str | None, summaries: Sequence[SiteSummary]) -> MoneyTotal:
    return MoneyTotal(
        currency,
        earned=sum(summary.earned for summary in summaries),
        fees=sum(summary.fees for summary in summaries),
        gain=total_gain([summary.gain for summary in summaries]),
        replaced=sum(summary.replaced for summary in summaries),
    )


def total_gain(gains: Iterable[Gain]) -> Gain:
    """Return the sum of gains of different sites, which err independently: distances to the ends add up as squares.

    >>> total_gain([Gain(10.0, 7.0, 14.0), Gain(5.0, 1.0, 8.0)])
    Gain(expected=15.0, low=10.0, high=20.0)
    """
    expected = down = up = 0.0
    for gain in gains:
        expected += gain.expected
        down += (gain.expected - gain.low) ** 2
        up += (gain.high - gain.expected) ** 2
    return Gain(expected, expected - down**0.5, expected + up**0.5)


@dataclass
class _Summaries:
    """The summaries of a store's sites with their versions, and whether a thread is reading more."""

    known: dict[str, tuple[Version, SiteSummary]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    reading: bool = False


_stores: WeakKeyDictionary[sa.Engine, _Summaries] = WeakKeyDictionary()
_lock = Lock()


def overview(store: Store, sees: Callable[[str], bool], patience: float = PATIENCE_SECONDS) -> list[SiteLine]:
    """Return the sites that somebody sees, by name; those that need most are read first."""
    with store.reading() as connection:
        versions = {name: version for name, version in _versions(connection) if sees(name)}
        proposed = _proposed(connection)
    summaries, deadline = _summaries_of(store), time.monotonic() + patience
    known = summaries.known
    stale = [name for name, version in versions.items() if name not in known or known[name][0] != version]
    stale.sort(key=lambda name: -proposed.get(versions[name].key, 0))
    faults: dict[str, InvalidInput] = {}
    late = 0
    for at, name in enumerate(stale):
        if at and time.monotonic() > deadline:
            late = len(stale) - at
            break
        fault = _read(store, summaries, name)
        if fault is not None:
            faults[name] = fault
    if late:
        _read_on(store, summaries, stale[-late:])
    return [
        _line(name, version, proposed.get(version.key, 0), known, faults) for name, version in sorted(versions.items())
    ]


def _line(
    name: str,
    version: Version,
    proposed: int,
    known: Mapping[str, tuple[Version, SiteSummary]],
    faults: Mapping[str, InvalidInput],
) -> SiteLine:
    """Return the line of a site; while it is read again, its earlier summary is shown."""
    entry = known.get(name)
    summary = entry[1] if entry is not None and entry[0].key == version.key and name not in faults else None
    return SiteLine(name, version.key, proposed, summary, faults.get(name))


def _versions(connection: sa.Connection) -> list[tuple[str, Version]]:
    """Return the sites by name, each with its version."""
    table = schema.sites
    rows = connection.execute(sa.select(table.c.name, table.c.id, table.c.events, table.c.head))
    return [(row.name, Version(row.id, row.events, row.head)) for row in rows]


def _proposed(connection: sa.Connection) -> dict[int, int]:
    """Return the number of proposals to answer, by the site's key."""
    table = schema.proposals
    query = sa.select(table.c.site, sa.func.count()).where(table.c.status == PROPOSED).group_by(table.c.site)
    return {row[0]: row[1] for row in connection.execute(query)}


def _summaries_of(store: Store) -> _Summaries:
    with _lock:
        return _stores.setdefault(store.engine, _Summaries())


def _read(store: Store, summaries: _Summaries, name: str) -> InvalidInput | None:
    """Read the summary of a site; return why it cannot be read, if so."""
    try:
        with store.reading() as connection:
            version = store.version(connection, name)
            if version is not None:
                summaries.known[name] = version, summarise(store, connection, name)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        return error
    except Exception as error:  # such as an error in a policy's own code
        LOG.exception("site %r cannot be summarised", name)
        fault = InvalidInput("site", name, _("cannot be shown because of a bug; the server's log has more"))
        fault.__cause__ = error
        return fault
    return None


def _read_on(store: Store, summaries: _Summaries, names: Sequence[str]) -> None:
    """Read the summaries of more sites in a thread, if none does."""
    with summaries.lock:
        if summaries.reading:
            return
        summaries.reading = True

    def read() -> None:
        try:
            for name in names:
                begun = time.monotonic()
                _read(store, summaries, name)
                time.sleep(_PAUSE * (time.monotonic() - begun))
        except StoreUnavailable:  # the next look tries again
            pass
        finally:
            summaries.reading = False

    Thread(target=read, name="crewlearn-overview", daemon=True).start()
