"""What a policy that learns by day has learned at a site.

It is a function of the facts on record alone: the policy starts with everybody who was enrolled when the site began,
is told of every recorded period, oldest first, and meets newcomers in the period they were enrolled in. What it decides
leaves no trace in it. Learning goes on from the newest checkpoint whose facts are unchanged.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from crewlearn.advisor.ledger.events.rows import RecordedRow, observation
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import FAILURES, REJECTED, STARTED, Proposal, Site
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.beliefs.estimates import Estimates
from crewlearn.policies.contract import NOT_INTERVIEWED, Pair, Policy, Report, Situation
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster


@dataclass(frozen=True)
class LearnedState:
    """A policy's state after it was told of all periods up to `period`, when it knew so many workers."""

    period: int
    workers: int
    state: Any


@dataclass(frozen=True)
class LearnedText:
    """A learned state as stored: plain data as JSON, with its digest."""

    period: int
    workers: int
    text: bytes
    digest: str

    @classmethod
    def of(cls, policy: Policy[Any], learned: LearnedState) -> "LearnedText":
        """Return the stored form of a state."""
        text = json.dumps(policy.state_to_json(learned.state), separators=(",", ":"), default=_plain).encode()
        return cls(learned.period, learned.workers, text, digest_of(learned.period, learned.workers, text))

    def parsed(self, policy: Policy[Any]) -> LearnedState:
        """Return the state."""
        return LearnedState(self.period, self.workers, policy.state_from_json(json.loads(self.text)))


def digest_of(period: int, workers: int, text: bytes) -> str:
    """Hash a learned state."""
    digest = hashlib.sha256(f"{period},{workers},".encode())
    digest.update(text)
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Return the plain number of a NumPy scalar."""
    return value.item()


class RecordedPeriod(NamedTuple):
    """A period on record, and what a policy is told about it, with its place in time as the period."""

    number: int
    report: Report


class DayRecord(Protocol):
    """The recorded days of a site, and what was learned from them at its checkpoints."""

    def reports(self, site: Site, after: Checkpoint | None) -> Iterable[RecordedPeriod]:
        """Return every recorded period before the coming one and after a checkpoint, oldest first."""

    def load(self, checkpoint: Checkpoint, policy: Policy[Any]) -> LearnedState | None:
        """Return what was learned at a checkpoint; None if it is missing or damaged."""

    def keep(self, learned: LearnedText, state: LearnedState) -> None:
        """Keep what was learned, for a checkpoint."""


class _NoDays:
    """A record without days, for policies that do not learn by day."""

    def reports(self, site: Site, after: Checkpoint | None) -> Iterable[RecordedPeriod]:
        """Return no periods."""
        return ()

    def load(self, checkpoint: Checkpoint, policy: Policy[Any]) -> LearnedState | None:
        """Return None."""
        return None

    def keep(self, learned: LearnedText, state: LearnedState) -> None:
        """Keep nothing."""


NO_DAYS: DayRecord = _NoDays()


def learn(site: Site, policy: Policy[Any], record: DayRecord) -> tuple[LearnedState, str]:
    """Return what the policy has learned from all periods before the coming one, and its digest.

    What was learned anew is kept, at the end and at those checkpoints of the site that had been lost.
    """
    after, learned = _newest(site, policy, record)
    digest = None if after is None else after.digest
    listed = {checkpoint.period: checkpoint.digest for checkpoint in site.checkpoints}
    for recorded in record.reports(site, after):
        learned, digest = _told(site, policy, learned, recorded), None
        if recorded.number in listed:
            text = LearnedText.of(policy, learned)
            if text.digest == listed[recorded.number]:
                record.keep(text, learned)
                digest = text.digest
    if digest is None:
        text = LearnedText.of(policy, learned)
        digest = text.digest
        record.keep(text, learned)
    return learned, digest


def learned_anew(site: Site, policy: Policy[Any], record: DayRecord) -> Iterator[LearnedState]:
    """Yield what the policy learns from each recorded period, from the first, without any checkpoint."""
    learned = _started(site, policy)
    for recorded in record.reports(site, None):
        learned = _told(site, policy, learned, recorded)
        yield learned


def _newest(site: Site, policy: Policy[Any], record: DayRecord) -> tuple[Checkpoint | None, LearnedState]:
    """Return the newest checkpoint that can be read, with its state; or none, and the state at the start."""
    for checkpoint in reversed(site.checkpoints):
        learned = record.load(checkpoint, policy)
        if learned is not None:
            return checkpoint, learned
    return None, _started(site, policy)


def _started(site: Site, policy: Policy[Any]) -> LearnedState:
    workers = site.enrolled_by(1)
    scores = interview_scores(site, policy)
    given = None if scores is None else scores[:workers]
    return LearnedState(0, workers, policy.start(_opening(site, workers), site.config.stream_key, given))


def _told(site: Site, policy: Policy[Any], learned: LearnedState, recorded: RecordedPeriod) -> LearnedState:
    """Return what is learned from a period, after meeting everybody who was enrolled or worked by then."""
    number, report = recorded
    named = (worker for pair in (*report.completed, *report.failed) for worker in pair)
    last = max((*report.output, *named, *report.left), default=-1)
    met = max(learned.workers, site.enrolled_by(number), last + 1)
    state = learned.state
    if met > learned.workers:
        state = policy.revise(state, _opening(site, met))
    return LearnedState(number, met, policy.observe(state, report))


def _opening(site: Site, workers: int) -> Situation:
    """Return the situation that learning starts from: the first team, earlier data and experience, and no output.

    What is learned must not depend on the horizon, the fee or the delay, which change: they are neutral.
    """
    everybody, prior = np.ones(workers, dtype=np.bool_), site.prior(workers)
    team = [worker for worker in site.first_team if worker < workers][: site.config.team]
    return Situation(
        period=1,
        setting=Setting(workers, site.config.team, 1, 0.0, 0.0),
        roster=Roster.start(workers, team, site.config.team),
        estimates=Estimates(prior.counts.copy(), prior.sums.copy(), prior.sums.copy()),
        may_enter=everybody,
        may_leave=everybody,
        prior=prior,
        experience=site.experience_before(workers),
    )


def interview_scores(site: Site, policy: Policy[Any]) -> FloatArray | None:
    """Return everybody's interview score, if the policy buys them; raise if one is missing."""
    if policy.interview(site.setting()) is None:
        return None
    missing = site.not_interviewed()
    if missing:
        remedy = f"policy {policy.name} ranks by interview scores; worker {missing[0]} has none, so import one"
        raise InvalidInput("interview", None, remedy)
    scores = [NOT_INTERVIEWED if worker.interview is None else worker.interview for worker in site.workers]
    return np.array(scores, dtype=np.float64)


def make_reports(
    site: Site,
    rows: Iterable[RecordedRow],
    proposals: Mapping[int, Proposal],
    stints: Iterable[Stint],
    after: Checkpoint | None,
) -> Iterator[RecordedPeriod]:
    """Yield the periods on record after a checkpoint and before the coming one, oldest first.

    A period is on record if it has a row, even if nobody was present, or if a hire started or failed in it, or somebody
    left the team, or if its day was opened as worked, even if the rows were of another shift or taken back. Output
    is by station, as in a simulation, and then that of people without one.
    """
    units, calendar = site.config.units, site.config.calendar
    first = calendar.first_order if after is None else calendar.order_of(after.period) + 1
    places = range(first, calendar.order_of(site.period))
    held: dict[int, list[Span]] = {}
    for stint in stints:
        until = math.inf if stint.until is None else calendar.order_of(stint.until)
        held.setdefault(stint.worker, []).append((calendar.order_of(stint.since), until, stint.station))
    output: dict[int, dict[int, float]] = {}
    placed = ((calendar.order_of(row.period), row) for row in rows)
    given = [(place, _station(held, row.worker, place), row.worker, row) for place, row in placed if place in places]
    for place, _, worker, row in sorted(given, key=itemgetter(0, 1, 2)):
        value = observation(units, row)
        observed = output.setdefault(place, {})
        if value is not None:
            observed[worker] = value
    opened = (calendar.order_of(number) for day in calendar.opened if day.worked for number in day.numbers)
    for place in opened:
        if place in places:
            output.setdefault(place, {})
    completed, failed = _pairs(proposals, calendar, places)
    left = _left(held, completed, places)
    for place in sorted(output.keys() | completed.keys() | failed.keys() | left.keys()):
        report = Report(
            period=place,
            output=output.get(place, {}),
            completed=tuple(completed.get(place, ())),
            failed=tuple(failed.get(place, ())),
            left=tuple(sorted(left.get(place, ()))),
        )
        yield RecordedPeriod(calendar.period_at(place), report)


Span = tuple[int, float, int]
"""When a station was held, from one place in time to before another, and which."""


def _station(held: Mapping[int, Sequence[Span]], worker: int, place: int) -> float:
    """Return the station that a worker held at a place in time; infinity if none."""
    stations = (station for since, until, station in held.get(worker, ()) if since <= place < until)
    return next(stations, math.inf)


def _left(
    held: Mapping[int, Sequence[Span]], completed: Mapping[int, Sequence[Pair]], places: range
) -> dict[int, set[int]]:
    """Return who left the team without being replaced, by place in time."""
    left: dict[int, set[int]] = {}
    for worker, spans in held.items():
        for since, until, _ in spans:
            if until == math.inf or until <= since or until not in places:
                continue
            when = int(until)
            if _station(held, worker, when) == math.inf and all(worker != out for out, _ in completed.get(when, ())):
                left.setdefault(when, set()).add(worker)
    return left


def _pairs(
    proposals: Mapping[int, Proposal], calendar: WorkCalendar, places: range
) -> tuple[dict[int, list[Pair]], dict[int, list[Pair]]]:
    """Return the pairs that started, and those that failed or were rejected, by place in time."""
    completed: dict[int, list[Pair]] = {}
    failed: dict[int, list[Pair]] = {}
    for _, proposal in sorted(proposals.items()):
        if proposal.status not in (STARTED, REJECTED, *FAILURES):
            continue
        place = calendar.order_of(proposal.decided_in if proposal.status == REJECTED else proposal.settled_in)
        if place not in places:
            continue
        if proposal.status == STARTED:
            completed.setdefault(place, []).append((proposal.leaver, proposal.into))
        else:
            failed.setdefault(place, []).append((proposal.out, proposal.into))
    return completed, failed
