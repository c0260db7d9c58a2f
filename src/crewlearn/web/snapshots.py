"""Immutable snapshots of sites, with values derived from them, cached until the site changes.

Words among them are English, whoever asks first: programs read them too.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from crewlearn.advisor.advice.candidates import LISTED, Candidate, candidates_of, state_now
from crewlearn.advisor.advice.commands import unknown_worker
from crewlearn.advisor.advice.readings import SiteLearned, in_units, readings_at, state_for_readings
from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.evidence.site_record import Past, read_past, read_rows
from crewlearn.advisor.evidence.track_record import TrackRecord, track_record
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.events import Cached, RecordedRow, invalidated_by
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.keyed_locks import KeyedLocks
from crewlearn.advisor.ledger.site import PROPOSED, Proposal, Site
from crewlearn.advisor.ledger.site_cache import SiteCache
from crewlearn.advisor.ledger.store import SiteSnapshot, Store, Version
from crewlearn.advisor.wording import documents
from crewlearn.advisor.wording.explain import Member, members, sentence
from crewlearn.language import ENGLISH, reading_in
from crewlearn.policies.explanations import Readings
from crewlearn.problem.errors import InvalidInput

LOG = logging.getLogger("crewlearn.web")
T = TypeVar("T")
PATIENCE_SECONDS = 1.0
"""Seconds an expensive read yields to other work on the same site."""


@dataclass(frozen=True)
class Snapshot:
    """A site's state, identities and past, read in one transaction; derived values are computed once.

    `policy_state` is the state of a policy that offers readings or learns by day, so that nothing is learned again;
    None for other policies. `rows` are the output that the gain is derived from.
    """

    name: str
    standing: SiteSnapshot
    people: People
    past: Past
    policy_state: Any = None
    rows: tuple[RecordedRow, ...] = ()

    @property
    def site(self) -> Site:
        """The site's state."""
        return self.standing.site

    @property
    def key(self) -> int:
        """The site's key in the store."""
        return self.standing.version.key

    @property
    def version(self) -> int:
        """The number of the site's last event."""
        return self.standing.version.events

    @cached_property
    def estimates(self) -> list[dict[str, float]]:
        """The estimates of all workers."""
        return estimates_of(self.site)[0]

    @cached_property
    def readings(self) -> Readings | None:
        """What the policy has learned, in its own units; None if it offers no readings."""
        return readings_at(self.site, self.policy_state)

    @cached_property
    def learned(self) -> SiteLearned | None:
        """What the policy has learned about people and days; None if it offers no readings."""
        return None if self.readings is None else in_units(self.site, self.readings)

    @cached_property
    def unusual_periods(self) -> frozenset[int]:
        """The periods that the policy found unusual for everybody."""
        return frozenset() if self.learned is None else frozenset(day.period for day in self.learned.unusual_days)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """All workers, the team by station first."""
        with reading_in(ENGLISH):  # kept for all readers, and served to programs
            return tuple(members(self.site, self.people, self.estimates, self.learned))

    @cached_property
    def track_record(self) -> TrackRecord:
        """What the replacements so far have brought, one by one and as a whole."""
        return track_record(self.site, self.past, self.rows, self.policy_state)

    @property
    def gain(self) -> Gain:
        """The gain over the same site without the advised replacements."""
        return self.track_record.gain

    @cached_property
    def sentence(self) -> str:
        """The advice in a sentence."""
        with reading_in(ENGLISH):
            return sentence(self.site, self.people)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Worker numbers by the firm's own ids."""
        return {known: number for number, known in self.people.ids.items() if known is not None}

    @cached_property
    def advice(self) -> dict[str, Any]:
        """The advice as a JSON document."""
        with reading_in(ENGLISH):
            return documents.advice(self.name, self.site, self.people, self.candidates)

    @cached_property
    def candidates(self) -> Mapping[int, Sequence[Candidate]]:
        """Who could come in instead, for the first proposals that wait for an answer, by their number."""
        return self._candidates_of(self.site.open_proposals(PROPOSED)[:LISTED])

    def candidates_of(self, proposals: Sequence[Proposal]) -> Mapping[int, Sequence[Candidate]]:
        """Return who could come in instead, for some proposals; answered ones have none."""
        others = [proposal for proposal in proposals if proposal.id not in self.candidates]
        return {**self.candidates, **self._candidates_of(others)} if others else self.candidates

    def _candidates_of(self, proposals: Sequence[Proposal]) -> Mapping[int, Sequence[Candidate]]:
        if not proposals:
            return {}
        return candidates_of(self.site, state_now(self.site, self.policy_state), proposals, self.readings)

    @cached_property
    def status(self) -> dict[str, Any]:
        """The status as a JSON document."""
        with reading_in(ENGLISH):
            return documents.status(self.name, self.site, self.people, self.track_record, self.members, self.learned)

    @cached_property
    def advice_text(self) -> bytes:
        """The advice, encoded."""
        return as_json(self.advice)

    @cached_property
    def status_text(self) -> bytes:
        """The status, encoded."""
        return as_json(self.status)

    def number_of(self, worker_id: str) -> int:
        """Return a worker's number by the firm's own id."""
        if worker_id not in self.numbers:
            raise unknown_worker(worker_id, len(self.numbers))
        return self.numbers[worker_id]


@dataclass(frozen=True)
class Unreadable:
    """A site that cannot be shown, and why."""

    name: str
    reason: str


def each(names: Sequence[str], make: Callable[[str], T]) -> list[T | Unreadable]:
    """Apply `make` to each site by name; one that cannot be read is listed as `Unreadable`."""
    return [_made(name, make) for name in names]


def _made(name: str, make: Callable[[str], T]) -> T | Unreadable:
    try:
        return make(name)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):  # no site can be read
            raise
        return Unreadable(name, error.remedy if error.field == "site" else str(error))
    except Exception:  # such as an error in a policy's own code
        LOG.exception("site %s cannot be shown", quote(name))
        return Unreadable(name, "cannot be shown because of a bug; the server's log has more")


def as_json(document: Any) -> bytes:
    """Encode a JSON document."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


_caches: WeakKeyDictionary[sa.Engine, SiteCache[Snapshot]] = WeakKeyDictionary()
_turns = KeyedLocks()
_lock = Lock()


def snapshot(store: Store, name: str) -> Snapshot:
    """Return the current snapshot of a site. After a change one reader builds it while the others wait."""
    with store.reading() as connection:
        cached = current(store, connection, name)
    if cached is None:
        with _turns.of(store.engine, name), store.reading() as connection:
            cached = snapshot_in(store, connection, name)
    return cached


def snapshot_in(store: Store, connection: sa.Connection, name: str) -> Snapshot:
    """Return the snapshot of a site within a transaction, consistent with whatever else is read there."""
    return current(store, connection, name) or _cache_of(store).put(name, _read(store, connection, name))


@contextmanager
def making(store: Store, seen: Snapshot, *derived: str) -> Iterator[Snapshot]:
    """Yield a current snapshot, serialising expensive rendering per site.

    If the current snapshot already has the named derived values, it is yielded at once.
    """
    if derived and vars(seen).keys() >= set(derived):
        yield seen
        return
    with store.in_turn(seen.name, PATIENCE_SECONDS):
        yield snapshot(store, seen.name)


def current(store: Store, connection: sa.Connection, name: str) -> Snapshot | None:
    """Return the cached snapshot of a site, or None if the site has changed since."""
    cached = _cache_of(store).get(name)
    return cached if cached is not None and cached.standing.version == store.version(connection, name) else None


def _read(store: Store, connection: sa.Connection, name: str) -> Snapshot:
    """Build a snapshot; identities and past are read again only if an event since then changes them."""
    now, cached = store.snapshot(connection, name), _cache_of(store).get(name)
    key = now.version.key
    state = state_for_readings(connection, key, now.site)
    if cached is None or cached.key != key:
        people, past = read_people(connection, key), read_past(connection, key)
        return Snapshot(name, now, people, past, state, read_rows(connection, key, past))
    stale = _stale_since(connection, cached.standing.version)
    people = read_people(connection, key) if Cached.PEOPLE in stale else cached.people
    past = read_past(connection, key) if Cached.PAST in stale else cached.past
    return Snapshot(name, now, people, past, state, read_rows(connection, key, past))


def _stale_since(connection: sa.Connection, since: Version) -> frozenset[Cached]:
    """Return the cached data that is stale since a version; all of it if the record lacks that version."""
    table = schema.events
    seal = sa.select(table.c.hash).where(table.c.site == since.key, table.c.number == since.events)
    if connection.execute(seal).scalar() != since.head:
        return frozenset(Cached)
    later = sa.select(table.c.type).where(table.c.site == since.key, table.c.number > since.events)
    return invalidated_by(connection.execute(later.distinct()).scalars())


def _cache_of(store: Store) -> SiteCache[Snapshot]:
    """Return the cache of a store's snapshots."""
    with _lock:
        return _caches.setdefault(store.engine, SiteCache())
