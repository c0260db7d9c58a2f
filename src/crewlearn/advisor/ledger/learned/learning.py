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
from typing import Any, Protocol

import numpy as np

from crewlearn.advisor.ledger.events.rows import RecordedRow, observation
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import FAILURES, REJECTED, STARTED, Proposal, Site
from crewlearn.advisor.ledger.stints import Stint
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


class DayRecord(Protocol):
    """The recorded days of a site, and what was learned from them at its checkpoints."""

    def reports(self, site: Site, after: Checkpoint | None) -> Iterable[Report]:
        """Return every recorded period before the coming one and after a checkpoint, oldest first."""

    def load(self, checkpoint: Checkpoint, policy: Policy[Any]) -> LearnedState | None:
        """Return what was learned at a checkpoint; None if it is missing or damaged."""

    def keep(self, learned: LearnedText, state: LearnedState) -> None:
        """Keep what was learned, for a checkpoint."""


class _NoDays:
    """A record without days, for policies that do not learn by day."""

    def reports(self, site: Site, after: Checkpoint | None) -> Iterable[Report]:
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
    for report in record.reports(site, after):
        learned, digest = _told(site, policy, learned, report), None
        if report.period in listed:
            text = LearnedText.of(policy, learned)
            if text.digest == listed[report.period]:
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
    for report in record.reports(site, None):
        learned = _told(site, policy, learned, report)
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


def _told(site: Site, policy: Policy[Any], learned: LearnedState, report: Report) -> LearnedState:
    """Return what is learned from a period, after meeting everybody who was enrolled or worked by then."""
    named = (worker for pair in (*report.completed, *report.failed) for worker in pair)
    last = max((*report.output, *named, *report.left), default=-1)
    met = max(learned.workers, site.enrolled_by(report.period), last + 1)
    state = learned.state
    if met > learned.workers:
        state = policy.revise(state, _opening(site, met))
    return LearnedState(report.period, met, policy.observe(state, report))


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
    units: Units,
    rows: Iterable[RecordedRow],
    proposals: Mapping[int, Proposal],
    stints: Iterable[Stint],
    periods: range,
) -> Iterator[Report]:
    """Yield those of the `periods` that are on record, oldest first.

    A period is on record if it has a row, even if nobody was present, or if a hire started or failed in it, or somebody
    left the team. Output is by station, as in a simulation, and then that of people without one.
    """
    held: dict[int, list[Stint]] = {}
    for stint in stints:
        held.setdefault(stint.worker, []).append(stint)
    output: dict[int, dict[int, float]] = {}
    given = (row for row in rows if row.period in periods)
    for row in sorted(given, key=lambda row: (row.period, _station(held, row.worker, row.period), row.worker)):
        value = observation(units, row)
        observed = output.setdefault(row.period, {})
        if value is not None:
            observed[row.worker] = value
    completed, failed = _pairs(proposals, periods)
    left = _left(held, completed, periods)
    for period in sorted(output.keys() | completed.keys() | failed.keys() | left.keys()):
        yield Report(
            period=period,
            output=output.get(period, {}),
            completed=tuple(completed.get(period, ())),
            failed=tuple(failed.get(period, ())),
            left=tuple(sorted(left.get(period, ()))),
        )


def _station(held: Mapping[int, Sequence[Stint]], worker: int, period: int) -> float:
    """Return the station that a worker held in a period; infinity if none."""
    stations = (
        stint.station
        for stint in held.get(worker, ())
        if stint.since <= period and (stint.until is None or period < stint.until)
    )
    return next(stations, math.inf)


def _left(
    held: Mapping[int, Sequence[Stint]], completed: Mapping[int, Sequence[Pair]], periods: range
) -> dict[int, set[int]]:
    """Return who left the team without being replaced, by period."""
    left: dict[int, set[int]] = {}
    for worker, stints in held.items():
        for until in (stint.until for stint in stints):
            if until is None or until not in periods or _station(held, worker, until) < math.inf:
                continue
            if all(worker != out for out, _ in completed.get(until, ())):
                left.setdefault(until, set()).add(worker)
    return left


def _pairs(proposals: Mapping[int, Proposal], periods: range) -> tuple[dict[int, list[Pair]], dict[int, list[Pair]]]:
    """Return the pairs that started, and those that failed or were rejected, by period."""
    completed: dict[int, list[Pair]] = {}
    failed: dict[int, list[Pair]] = {}
    for _, proposal in sorted(proposals.items()):
        if proposal.status == STARTED and proposal.settled_in in periods:
            completed.setdefault(proposal.settled_in, []).append((proposal.leaver, proposal.into))
        elif proposal.status in FAILURES and proposal.settled_in in periods:
            failed.setdefault(proposal.settled_in, []).append((proposal.out, proposal.into))
        elif proposal.status == REJECTED and proposal.decided_in in periods:
            failed.setdefault(proposal.decided_in, []).append((proposal.out, proposal.into))
    return completed, failed
