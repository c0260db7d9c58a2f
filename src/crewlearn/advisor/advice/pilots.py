"""Commands of a pilot: seal its plan and begin it, record a planned look, end it.

A pilot over several sites is recorded at each of them, one transaction a site. If that is interrupted, the same command
again completes it: the seed comes from the first site's record, and a site that has the pilot already is left alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import Event, PilotEnded, PilotLooked, PilotStarted
from crewlearn.advisor.ledger.pilots.assignment import assigned, digest_of
from crewlearn.advisor.ledger.pilots.sealed import LOOK_LEVEL, RunningPilot, SealedPlan
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_REASON, checked_text
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput

LONGEST_SEED = 200

Expected = Mapping[str, int]
"""The version of each site, by name, that a change is based on; others may have changed."""

ANY_VERSION: Expected = {}


@dataclass(frozen=True)
class PilotRecord:
    """What a site's record has of its newest pilot: its start, its looks so far, and its end if it has ended."""

    started: PilotStarted
    at: str
    by: str
    looks: tuple[PilotLooked, ...] = ()
    ended: PilotEnded | None = None
    ended_at: str = ""


def start_pilot(
    store: Store, plan: SealedPlan, actor: str, *, seed: str | None = None, expected: Expected = ANY_VERSION
) -> PilotStarted:
    """Seal a plan, assign the groups at random and begin the pilot at each of its sites.

    Without a `seed`, it is the hash of the first site's last event, which nobody can choose freely. `expected` has
    the versions of sites that this is based on.
    """
    if seed is not None:
        checked_text("seed", seed, LONGEST_SEED, 1)
    digest, first = digest_of(plan), plan.sites[0]
    _check_all(store, plan, digest)
    for name in plan.sites:
        with store.writing(name, actor, expected.get(name)) as work:
            if _is_begun(work.site, plan, digest):
                if name == first:
                    seed = record_of(work.connection, work.key).started.seed  # type: ignore[union-attr] # it is running
                continue
            _check_start(work.site, name, plan)
            seed = work.head if seed is None else seed
            started = PilotStarted(name, plan, digest, seed, assigned(plan, seed))
            work.add(started)
    assert seed is not None
    return PilotStarted(first, plan, digest, seed, assigned(plan, seed))


def _check_all(store: Store, plan: SealedPlan, digest: str) -> None:
    """Refuse a pilot that any of its sites refuses before it begins at one of them."""
    for name in plan.sites:
        with store.reading() as connection:
            _, site, _ = store.site(connection, name)
        if not _is_begun(site, plan, digest):
            _check_start(site, name, plan)


def _is_begun(site: Site, plan: SealedPlan, digest: str) -> bool:
    """Return whether a site has a pilot over several sites already, from an interrupted start."""
    return site.pilot is not None and len(plan.sites) > 1 and digest_of(site.pilot.plan) == digest


def _check_start(site: Site, name: str, plan: SealedPlan) -> None:
    """Refuse to begin a second pilot, one in the past, or one with stations that do not exist."""
    if site.pilot is not None:
        raise Conflict("pilot", name, "has one already, until it is ended; see: pilot status")
    if plan.steps[0] < site.day:
        remedy = f"must not be before {site.day}, the coming day of {name}: a pilot is sealed before it begins"
        raise InvalidInput("first day", str(plan.steps[0]), remedy)
    highest = max(station for group in plan.groups if group.site == name for station in group.stations)
    if highest >= site.config.team:
        remedy = f"{name} has {site.config.team} stations; name those that exist"
        raise InvalidInput("station", highest + 1, remedy)


def record_look(
    store: Store, plan: SealedPlan, look: int, p: float, actor: str, *, expected: Expected = ANY_VERSION
) -> bool:
    """Record planned look number `look`, counted from 1, with its p-value; return whether the pilot may stop."""
    stop, digest = p <= LOOK_LEVEL, digest_of(plan)
    for name in plan.sites:
        with store.writing(name, actor, expected.get(name)) as work:
            running = running_pilot(work.site, name)
            if digest_of(running.plan) != digest:
                raise Conflict("pilot", name, "has another pilot now; see: pilot status")
            if running.looks + 1 == look:
                work.add(PilotLooked(digest, look, p, stop))
            elif len(plan.sites) == 1:
                raise Conflict("look", look, f"{name} has taken {running.looks} looks already; see: pilot status")
    return stop


def end_pilot(
    store: Store,
    plan: SealedPlan,
    result: Mapping[str, Any] | None,
    actor: str,
    reason: str = "",
    *,
    expected: Expected = ANY_VERSION,
) -> None:
    """Record the end of a pilot at each of its sites: with its result, or without one for a reason."""
    checked_text("reason", reason, LONGEST_REASON, 1 if result is None else 0)
    digest = digest_of(plan)
    for name in plan.sites:
        with store.writing(name, actor, expected.get(name)) as work:
            if work.site.pilot is None and len(plan.sites) > 1 and _has_ended(work, digest):
                continue
            if digest_of(running_pilot(work.site, name).plan) != digest:
                raise Conflict("pilot", name, "has another pilot now; see: pilot status")
            work.add(PilotEnded(digest, result, reason))


def _has_ended(work: SiteTransaction, digest: str) -> bool:
    record = record_of(work.connection, work.key)
    return record is not None and record.ended is not None and record.ended.digest == digest


def running_pilot(site: Site, name: str) -> RunningPilot:
    """Return the pilot under way at a site; refuse if there is none."""
    if site.pilot is None:
        raise Conflict("pilot", name, "has no pilot under way; begin one: pilot start")
    return site.pilot


def record_of(connection: Any, key: int) -> PilotRecord | None:
    """Return what a site's record has of its newest pilot; None if it never had one."""
    events: Sequence[Event] = list(
        read_events(connection, key, kinds=(PilotStarted, PilotLooked, PilotEnded), newest_first=True, limit=10)
    )
    looks: list[PilotLooked] = []
    ended, ended_at = None, ""
    for event in events:
        if isinstance(event.fact, PilotEnded):
            ended, ended_at = event.fact, event.at
        elif isinstance(event.fact, PilotLooked):
            looks.insert(0, event.fact)
        elif isinstance(event.fact, PilotStarted):
            return PilotRecord(event.fact, event.at, event.actor, tuple(looks), ended, ended_at)
    return None
