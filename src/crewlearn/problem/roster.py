"""An object-oriented view of the roster's arrays: who works where, and which replacements are pending."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crewlearn.problem import transitions
from crewlearn.problem.arrays import NOBODY, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.model import MOST
from crewlearn.problem.transitions import (
    ARRIVING,
    COMPLETED,
    FAILED,
    FREE,
    INITIATED,
    LEAVING,
    NEVER,
    PENDING,
    RosterArrays,
)

REMEDIES = {
    transitions.NO_SUCH_INCOMING: "the incoming worker does not exist; name one of the workers 0 to k-1",
    transitions.NO_SUCH_OUTGOING: "the outgoing worker does not exist; name an active worker, or -1 to leave it open",
    transitions.INCOMING_IS_ACTIVE: "the incoming worker is in the active team already; choose one who is not",
    transitions.INCOMING_IS_PENDING: "the incoming worker is in a pending replacement already; choose another or wait",
    transitions.OUTGOING_IS_NOT_ACTIVE: "the outgoing worker is not active; choose one of the active team",
    transitions.OUTGOING_IS_PENDING: "the outgoing worker is in a pending replacement already; choose another or wait",
    transitions.EVERY_STATION_IS_SPOKEN_FOR: "there are as many pending replacements as stations; wait for one to end",
    transitions.NO_EMPTY_STATION: "no station is empty; name the active worker who makes room",
    transitions.INCOMING_LEFT_FOR_GOOD: "the incoming worker left for good; choose one of those who may enter",
}


@dataclass(frozen=True)
class Pending:
    """A pending replacement: `into` takes the place of `out` (-1: open) in period `due` (-1: unknown)."""

    out: int
    into: int
    since: int
    due: int


class Roster:
    """Who is at which station and which replacements are pending.

    >>> roster = Roster.start(workers=6, active=[1, 2, 5])
    >>> roster.initiate(1, 3, period=4, due=4)
    >>> roster.initiate(2, 4, period=4, due=6)
    >>> [roster.complete(pending.into) for pending in roster.elapsed(4)]
    [(1, 3)]
    >>> roster.active
    (2, 3, 5)
    >>> roster.pending
    (Pending(out=2, into=4, since=4, due=6),)
    """

    def __init__(self, arrays: RosterArrays) -> None:
        self.arrays = arrays

    @classmethod
    def start(cls, workers: int, active: Sequence[int], team: int | None = None) -> "Roster":
        """Build a roster of `team` stations (by default the length of `active`); -1 is an empty station."""
        workers = whole("workers", workers, 0)
        stations = whole("team", len(active) if team is None else team, 1)
        if len(active) > stations:
            raise InvalidInput("active", list(active), f"names {len(active)} workers for {stations} stations")
        roster = cls(
            RosterArrays(
                stations=_nobody(stations),
                station_of=_nobody(workers),
                role=np.zeros(workers, dtype=np.int64),
                pending_out=_nobody(stations),
                pending_in=_nobody(stations),
                pending_since=_nobody(stations),
                pending_due=_nobody(stations),
                counts=np.zeros(4, dtype=np.int64),
            )
        )
        for station, given in enumerate(active):
            worker = whole(f"active[{station}]", given, NOBODY, workers - 1)
            if worker == NOBODY:
                continue
            if roster.arrays.station_of[worker] >= 0:
                raise InvalidInput(f"active[{station}]", worker, "is at a station already; name each worker once")
            roster.arrays.stations[station] = worker
            roster.arrays.station_of[worker] = station
        return roster

    @property
    def workers(self) -> int:
        """Number of workers, k."""
        return len(self.arrays.station_of)

    @property
    def team(self) -> int:
        """Number of stations, m."""
        return len(self.arrays.stations)

    @property
    def stations(self) -> tuple[int, ...]:
        """The worker at each station; -1 if it is empty."""
        return tuple(self.arrays.stations.tolist())

    @property
    def active(self) -> tuple[int, ...]:
        """The active workers in worker order, the paper's A_t."""
        return tuple(sorted(worker for worker in self.stations if worker != NOBODY))

    @property
    def outside(self) -> tuple[int, ...]:
        """The workers not in the active team, in worker order."""
        return tuple(np.flatnonzero(self.arrays.station_of < 0).tolist())

    @property
    def empty(self) -> int:
        """Number of empty stations."""
        return self.stations.count(NOBODY)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """The pending replacements in order of initiation."""
        arrays, n = self.arrays, self.arrays.counts[PENDING]
        columns = (arrays.pending_out, arrays.pending_in, arrays.pending_since, arrays.pending_due)
        return tuple(Pending(*row) for row in zip(*(column[:n].tolist() for column in columns), strict=True))

    @property
    def initiated(self) -> int:
        """Number of replacements initiated so far."""
        return int(self.arrays.counts[INITIATED])

    @property
    def completed(self) -> int:
        """Number of replacements completed so far."""
        return int(self.arrays.counts[COMPLETED])

    @property
    def failed(self) -> int:
        """Number of replacements withdrawn so far."""
        return int(self.arrays.counts[FAILED])

    def elapsed(self, period: int) -> tuple[Pending, ...]:
        """Return the pending replacements whose incoming worker is available by `period`."""
        return tuple(item for slot, item in enumerate(self.pending) if transitions.is_due(self.arrays, slot, period))

    def initiate(self, out: int, into: int, period: int, due: int = NEVER) -> None:
        """Begin to replace `out` by `into`; `out` = -1 leaves the outgoing worker open or fills an empty station."""
        for name, worker in (("out", out), ("into", into)):
            whole(name, worker, -MOST, MOST)
        refuse(f"replacement ({out}, {into})", transitions.request_fault(self.arrays, out, into), self)
        transitions.initiate(self.arrays, out, into, period, due)

    def complete(self, into: int, leaver: int | None = None) -> tuple[int, int]:
        """Let the incoming worker `into` start in place of `leaver` (by default the pair's `out`); return the pair."""
        slot = self._slot(into)
        out = int(self.arrays.pending_out[slot]) if leaver is None else leaver
        refuse(f"completion ({out}, {into})", transitions.completion_fault(self.arrays, slot, out), self)
        transitions.complete(self.arrays, slot, out)
        return out, into

    def fail(self, into: int) -> tuple[int, int]:
        """Withdraw the pending replacement that brings `into`; return the pair."""
        slot = self._slot(into)
        pair = int(self.arrays.pending_out[slot]), into
        transitions.fail(self.arrays, slot)
        return pair

    def vacate(self, worker: int) -> None:
        """Remove an active worker at once; the station stays empty until a hire fills it."""
        if worker not in self.active:
            raise InvalidInput("worker", worker, f"is not active; the active team is {list(self.active)}")
        transitions.vacate(self.arrays, worker)

    def grown(self, workers: int) -> "Roster":
        """Return a copy of the roster with a larger pool; the newcomers are not active."""
        extra = whole("workers", workers, self.workers) - self.workers
        arrays = self.copy().arrays
        return Roster(
            arrays._replace(
                station_of=np.concatenate([arrays.station_of, _nobody(extra)]),
                role=np.concatenate([arrays.role, np.zeros(extra, dtype=np.int64)]),
            )
        )

    def resized(self, team: int) -> "Roster":
        """Return a copy of the roster with `team` stations; only stations that no one holds or is to fill can go."""
        whole("team", team, 1)
        kept = [worker for worker in self.stations if worker != NOBODY]
        if len(kept) > team:
            raise InvalidInput("team", team, f"{len(kept)} workers are active; let {len(kept) - team} go first")
        claimed = min(self.empty, sum(pending.out == NOBODY for pending in self.pending))
        if len(self.pending) > team or len(kept) + claimed > team:
            raise InvalidInput("team", team, "the pending hires need more stations; take some back first")
        roster = Roster.start(self.workers, self.stations if team >= self.team else kept, team)
        for pending in self.pending:
            transitions.initiate(roster.arrays, pending.out, pending.into, pending.since, pending.due)
        roster.arrays.counts[:] = self.arrays.counts
        return roster

    def reseated(self, stations: Sequence[int], arrived: int = 0) -> "Roster":
        """Return a copy of the roster with these holders; -1 is an empty station.

        Pending hires of people who hold a station now have ended, `arrived` of them as completed. Where the worker to
        be replaced is gone, the hire is left open.
        """
        roster = Roster.start(self.workers, stations, self.team)
        seated = set(roster.active)
        remaining = [pending for pending in self.pending if pending.into not in seated]
        for pending in remaining:
            out = pending.out if pending.out in seated else NOBODY
            transitions.initiate(roster.arrays, out, pending.into, pending.since, pending.due)
        ended = len(self.pending) - len(remaining)
        roster.arrays.counts[:] = self.arrays.counts
        roster.arrays.counts[PENDING] = len(remaining)
        roster.arrays.counts[COMPLETED] += arrived
        roster.arrays.counts[FAILED] += ended - arrived
        return roster

    def copy(self) -> "Roster":
        """Return an independent copy."""
        return Roster(RosterArrays(*(array.copy() for array in self.arrays)))

    def to_json(self) -> dict[str, Any]:
        """Return the roster as plain data."""
        return {name: array.tolist() for name, array in self.arrays._asdict().items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Roster":
        """Rebuild a roster from the data that `to_json` returned."""
        return cls(RosterArrays(**{name: np.array(data[name], dtype=np.int64) for name in RosterArrays._fields}))

    def check(self) -> None:
        """Raise if the arrays contradict each other or the paper's coherence constraints."""
        arrays, pending = self.arrays, self.pending
        seated = [worker for worker in self.stations if worker != NOBODY]
        incoming = [item.into for item in pending]
        outgoing = [item.out for item in pending if item.out != NOBODY]
        role = np.full(self.workers, FREE)
        role[incoming] = ARRIVING
        role[outgoing] = LEAVING
        rules = {
            "a worker is at two stations": len(set(seated)) == len(seated),
            "station_of contradicts stations": all(
                arrays.stations[station] == worker for worker, station in enumerate(arrays.station_of) if station >= 0
            )
            and int((arrays.station_of >= 0).sum()) == len(seated),
            "a worker is in two pending replacements": len(set(incoming + outgoing)) == len(incoming + outgoing),
            "an outgoing worker is not active": all(arrays.station_of[worker] >= 0 for worker in outgoing),
            "an incoming worker is active": all(arrays.station_of[worker] < 0 for worker in incoming),
            "a role is wrong": bool((arrays.role == role).all()),
            "more hires than stations": len(pending) <= self.team,
            "the counts do not add up": self.initiated == self.completed + self.failed + len(pending),
        }
        for complaint, holds in rules.items():
            if not holds:
                raise AssertionError(f"{complaint}: {self!r}")

    def _slot(self, into: int) -> int:
        for slot, pending in enumerate(self.pending):
            if pending.into == into:
                return slot
        awaited = [pending.into for pending in self.pending]
        raise InvalidInput("into", into, f"no pending replacement brings this worker; awaited are {awaited}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Roster) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # a roster is mutable

    def __repr__(self) -> str:
        return f"Roster(stations={list(self.stations)}, pending={[(p.out, p.into, p.due) for p in self.pending]})"


def _nobody(n: int) -> IntArray:
    return np.full(n, NOBODY, dtype=np.int64)


def refuse(what: str, fault: int, roster: Roster) -> None:
    """Raise the error for a fault, unless it is LEGAL."""
    if fault != transitions.LEGAL:
        raise InvalidInput(what, list(roster.stations), f"{REMEDIES[fault]} (the stations hold the team shown)")
