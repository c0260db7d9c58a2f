"""The state of a site: facts, the policy's memory, and open proposals.

The state is a fold over the site's events. It is stored as JSON, so that ordinary commands read it instead of the whole
history.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint
from crewlearn.advisor.ledger.pilots.sealed import RunningPilot
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site.advice_record import NO_ADVICE, Cause, StandingAdvice
from crewlearn.advisor.ledger.site.former_units import FormerUnits
from crewlearn.advisor.ledger.site.proposals import OPEN, PROPOSED, FirstApproval, Proposal
from crewlearn.advisor.ledger.site.remarks import NO_REMARKS, Remark, Remarks
from crewlearn.advisor.ledger.site.request_keys import UsedKey
from crewlearn.advisor.ledger.site.slip import Slip
from crewlearn.advisor.ledger.site.workers import BLOCKED, LEFT, POOL, Worker
from crewlearn.beliefs.estimates import Estimates, Prior, no_data
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.problem.arrays import NOBODY, IntArray
from crewlearn.problem.floor import EXPERIENCED
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster


@dataclass
class Site:
    """The state of a site after some event.

    `period` is the coming one, which advice is for. `memory` is the policy's state before it was last asked, `after`
    its state since. `decided` is the period it was last asked about. `changed` is set if facts call for new advice
    within the period, `revised` if the settings or the pool changed; `because` is what happened since the last advice.
    `completed` and `failed` are pairs not yet reported to the policy. `values` are the values of a unit of output, each
    with its first period, and `former_units` the units before each change of the range, oldest first. `interviews` is
    the part of the fees paid for interviews. `seats` is the holder of each station, with their first period. `undo`
    restores what the last answer changed. `used_keys` are the newest idempotency keys.

    `remarks` are what people said of workers, and until when. `first_team` is who was at work when the site began, as
    named or, if nobody was, by the first output, in period `began`. `enrolled` are the periods in which people were
    enrolled, each with the number of workers then. `named_team` is the first team that was named, where output told of
    days before it. `first_days` are the first periods of those who are known to have
    begun at a station then, by worker.

    If the policy learns by day, `memory` has only the digest of what it has learned, and `after` is None. The states
    themselves are stored apart; `checkpoints` are those whose facts have not changed since.

    `profiles` are the readings of files that people confirmed, by name, the newest last. `pilot` is the one under way.
    `first_approvals` are those that a second person has yet to join, by proposal.
    """

    config: SiteConfig
    roster: Roster
    estimates: Estimates
    workers: list[Worker] = field(default_factory=list)
    period: int = 1
    memory: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    decided: int = 0
    changed: bool = False
    revised: bool = False
    because: list[Cause] = field(default_factory=list)
    completed: list[Pair] = field(default_factory=list)
    failed: list[Pair] = field(default_factory=list)
    held_back: list[Pair] = field(default_factory=list)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    next_proposal: int = 1
    advice: StandingAdvice = NO_ADVICE
    fees: float = 0.0
    interviews: float = 0.0
    values: list[tuple[int, float]] = field(default_factory=list)
    seats: list[tuple[int, int]] = field(default_factory=list)
    delays: tuple[int, int] = (0, 0)
    last_output: dict[int, float] = field(default_factory=dict)
    first_team: list[int] = field(default_factory=list)
    began: int = 0
    named_team: list[int] | None = None
    enrolled: list[tuple[int, int]] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    first_days: dict[int, int] = field(default_factory=dict)
    profiles: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    remarks: Remarks = NO_REMARKS
    undo: Slip | None = None
    former_units: list[FormerUnits] = field(default_factory=list)
    used_keys: list[UsedKey] = field(default_factory=list)
    pilot: RunningPilot | None = None
    first_approvals: dict[int, FirstApproval] = field(default_factory=dict)

    @classmethod
    def empty(cls, config: SiteConfig) -> "Site":
        """Return a site with nobody in it."""
        values = [(1, config.units.value_per_unit)]
        seats = [(NOBODY, 1)] * config.team
        return cls(config, Roster.start(0, [], config.team), no_data(0), values=values, seats=seats)

    @property
    def policy(self) -> Policy[Any]:
        """The site's policy."""
        return self.config.make_policy()

    @property
    def mean_delay(self) -> float:
        """The mean delay for the policy: as set, or learned from the site's offers, of which the set value is one."""
        count, total = self.delays
        if not self.config.learn_delay:
            return self.config.mean_delay
        return (self.config.mean_delay + total) / (1 + count)

    def setting(self) -> Setting:
        """Return the setting for the policy, in its units."""
        config = self.config
        horizon = self.period - 1 + config.horizon if config.rolling else config.horizon
        return Setting(len(self.workers), config.team, horizon, config.units.policy_cost(config.fee), self.mean_delay)

    def situation(self) -> Situation:
        """Return what the policy sees for the coming period."""
        may_enter = np.array([self.may_enter(worker) for worker in range(len(self.workers))], dtype=np.bool_)
        may_leave = np.array([self.may_leave(worker) for worker in range(len(self.workers))], dtype=np.bool_)
        prior = self.prior()
        return Situation(
            period=self.period,
            setting=self.setting(),
            roster=self.roster,
            estimates=self.estimates,
            may_enter=may_enter,
            may_leave=may_leave,
            prior=prior,
            experience=self.experience_before() + self.estimates.counts - prior.counts,
        )

    def prior(self, first: int | None = None) -> Prior:
        """Return the earlier observations, whose spread is unknown, of everybody or the `first` workers."""
        workers = self.workers[:first]
        counts = np.array([worker.prior_n for worker in workers], dtype=np.int64)
        sums = np.array([worker.prior_n * worker.prior_mean for worker in workers], dtype=np.float64)
        return Prior(counts, sums)

    def experience_before(self, first: int | None = None) -> IntArray:
        """Return the days worked before those on record, of everybody or the `first` workers.

        Whoever was at work when the site began is experienced, unless their first day is known; others have worked the
        days that they bring along.
        """
        days = self.prior(first).counts
        for worker in self.first_team:
            if worker < len(days):
                days[worker] = self._experience_at_first(worker, int(days[worker]))
        return days

    def _experience_at_first(self, worker: int, brought: int) -> int:
        """Return the experience of one of the first team: the days since they took their station, if that is known."""
        calendar = self.config.calendar
        first = calendar.date_of(self.began or 1)
        joined = calendar.date_of(self.first_days[worker]) if worker in self.first_days else None
        if joined is None or joined > first:
            return EXPERIENCED
        planned = replace(calendar, start=joined, opened=())
        return min(EXPERIENCED, brought + len(planned.periods_between(joined, first - timedelta(days=1))))

    def enrolled_by(self, period: int) -> int:
        """Return how many workers were enrolled by a period."""
        order_of = self.config.calendar.order_of
        return max((workers for since, workers in self.enrolled if order_of(since) <= order_of(period)), default=0)

    def forget_from(self, period: int) -> None:
        """Drop what was learned from a period on, because its facts changed."""
        order_of = self.config.calendar.order_of
        first = order_of(period)
        self.checkpoints = [checkpoint for checkpoint in self.checkpoints if order_of(checkpoint.period) < first]

    def prior_mean_of(self, number: int) -> float | None:
        """Return the mean of a worker's earlier observations in the site's units, as given; None if there are none.

        Older records have only the value clipped to the range.
        """
        worker = self.workers[number]
        if not worker.prior_n:
            return None
        return self.config.units.people_output(worker.prior_mean) if worker.prior_given is None else worker.prior_given

    @property
    def day(self) -> date:
        """The day of the coming period."""
        return self.config.calendar.date_of(self.period)

    def may_enter(self, number: int) -> bool:
        """Return whether a worker may be hired now."""
        worker = self.workers[number]
        return worker.status == POOL and worker.barred_until <= self.period and self.block_on(number) is None

    def may_leave(self, number: int) -> bool:
        """Return whether a worker may be let go now."""
        stays = self.is_pinned(number) or self.is_withheld(number)
        return not stays and self.tenure(number) >= self.config.least_tenure

    def withheld_stations(self, day: date | None = None) -> frozenset[int]:
        """Return the stations that a pilot leaves to usual practice, on a day or that of the coming period."""
        return frozenset() if self.pilot is None else self.pilot.withheld(self.day if day is None else day)

    def is_withheld(self, number: int) -> bool:
        """Return whether a worker holds a station that a pilot leaves to usual practice now."""
        return self.pilot is not None and self.station_of(number) in self.withheld_stations()

    def station_of(self, number: int) -> int:
        """Return the station that a worker holds; -1 for none."""
        return int(self.roster.arrays.station_of[number])

    @property
    def pilot_turned(self) -> bool:
        """Whether a pilot gave stations back to advice since it was last derived."""
        if self.pilot is None or not 0 < self.decided < self.period:
            return False
        return self.withheld_stations(self.config.calendar.date_of(self.decided)) != self.withheld_stations()

    def tenure(self, number: int) -> int:
        """Return for how many periods a worker has held their station."""
        return self.config.calendar.between(self.workers[number].since, self.period)

    def is_pinned(self, number: int) -> bool:
        """Return whether a worker is to be kept: for good, or until a day to come."""
        return self.workers[number].pinned or self.protection_of(number) is not None

    def protection_of(self, number: int) -> Remark | None:
        """Return why and until when a worker is to be kept; None if they are not, or if nobody said why."""
        return self.remarks.protection_of(number, self.day, for_good=self.workers[number].pinned)

    def block_on(self, number: int) -> Remark | None:
        """Return why and until when a worker is not to be brought in; None if they are not, or if nobody said why."""
        return self.remarks.block_on(number, self.day, for_good=self.workers[number].status == BLOCKED)

    def notes_on(self, number: int) -> tuple[Remark, ...]:
        """Return the notes on a worker that hold now, oldest first."""
        return self.remarks.notes_on(number, self.day)

    def is_set_aside(self, out: int, into: int) -> bool:
        """Return whether an exchange is not to be proposed now."""
        return self.remarks.set_aside.get((out, into), 0) > self.period

    @property
    def remarks_ended(self) -> bool:
        """Whether something that people said held when advice was last derived, and ended since."""
        if not self.remarks or not 0 < self.decided < self.period:
            return False
        asked = self.config.calendar.date_of(self.decided)
        return self.remarks.ended_between(asked, self.day, self.decided, self.period)

    @property
    def needs_advice(self) -> bool:
        """Whether advice must be derived: for a new period, or because facts changed within it."""
        return bool(self.workers) and (self.decided < self.period or self.changed or self.revised)

    def not_interviewed(self) -> list[int]:
        """Return the workers without an interview score, except those who left or were erased."""
        return [
            number for number, worker in enumerate(self.workers) if worker.interview is None and worker.status != LEFT
        ]

    def fee_of(self, number: int) -> float:
        """Return what hiring a worker costs, in money."""
        own = self.workers[number].fee
        return self.config.fee if own is None else own

    @property
    def earned(self) -> float:
        """The money value of all recorded output, each day at the value of a unit then.

        Where less is better, it is the saving against the worst output that counts.
        """
        return math.fsum(worker.earned for worker in self.workers)

    def value_in(self, period: int) -> float:
        """Return what a unit of output is worth in a period, in money."""
        order_of = self.config.calendar.order_of
        when = max(1, order_of(period))  # history before the start counts at the first value
        return next(value for since, value in reversed(self.values) if order_of(since) <= when)

    def units_in(self, period: int) -> Units:
        """Return the units that the money of a period's output was counted in."""
        order_of = self.config.calendar.order_of
        when = max(1, order_of(period))
        former = (former.units for former in self.former_units if when < order_of(former.period))
        return next(former, self.config.units)

    def units_of(self, proposal: int) -> Units:
        """Return the units that the reasons of a proposal are in, by its number."""
        return next((former.units for former in self.former_units if proposal < former.proposal), self.config.units)

    @property
    def has_begun(self) -> bool:
        """Whether a worker was seated or hired, or a period recorded; until then a first team can be named."""
        return bool(self.roster.active or self.roster.pending) or self.has_output

    @property
    def has_output(self) -> bool:
        """Whether output is on record."""
        return any(worker.recorded_to for worker in self.workers)

    def open_proposals(self, *statuses: str) -> list[Proposal]:
        """Return the proposals with these statuses, by default all open ones, oldest first."""
        return [proposal for proposal in self.proposals.values() if proposal.status in (statuses or OPEN)]

    def first_approval_of(self, number: int) -> FirstApproval | None:
        """Return the first approval of a proposal that waits for the second; None if there is none."""
        proposal = self.proposals.get(number)
        waits = self.config.second_approver and proposal is not None and proposal.status == PROPOSED
        return self.first_approvals.get(number) if waits else None

    def approve_first(self, number: int, approval: FirstApproval) -> None:
        """Note the first approval of a proposal; those of proposals that were answered since are dropped."""
        open_now = {proposal.id for proposal in self.open_proposals(PROPOSED)}
        standing = {other: earlier for other, earlier in self.first_approvals.items() if other in open_now}
        self.first_approvals = {**standing, number: approval}

    def set_worker(self, number: int, **changes: Any) -> None:
        """Change fields of a worker."""
        self.workers[number] = replace(self.workers[number], **changes)

    def set_proposal(self, number: int, **changes: Any) -> Proposal:
        """Change fields of a proposal and return it."""
        self.proposals[number] = replace(self.proposals[number], **changes)
        return self.proposals[number]

    def copy(self) -> "Site":
        """Return a copy to apply events to: they change its arrays, lists and dicts, and nothing deeper."""
        own: dict[str, Any] = {
            name: value.copy() for name, value in vars(self).items() if isinstance(value, (list, dict, Roster))
        }
        counts, sums, squares = self.estimates
        return replace(self, estimates=Estimates(counts.copy(), sums.copy(), squares.copy()), **own)

    def to_json(self) -> dict[str, Any]:
        """Describe the state as plain data."""
        return {
            "config": self.config.to_json(),
            "estimates": {name: array.tolist() for name, array in self.estimates._asdict().items()},
            "workers": [dict(vars(worker)) for worker in self.workers],
            "period": self.period,
            "next_proposal": self.next_proposal,
            "interviews": self.interviews,
            "values": [list(pair) for pair in self.values],
            "last_output": {str(worker): value for worker, value in self.last_output.items()},
            "first_team": list(self.first_team),
            "began": self.began,
            **({"named_team": list(self.named_team)} if self.named_team is not None else {}),
            "enrolled": [list(pair) for pair in self.enrolled],
            "undo": None if self.undo is None else self.undo.to_json(),
            **({"first_days": {str(who): day for who, day in self.first_days.items()}} if self.first_days else {}),
            **({"profiles": [[name, dict(plan)] for name, plan in self.profiles.items()]} if self.profiles else {}),
            **({"used_keys": [list(vars(used).values()) for used in self.used_keys]} if self.used_keys else {}),
            **({"pilot": self.pilot.to_json()} if self.pilot is not None else {}),
            **({"former_units": [former.to_json() for former in self.former_units]} if self.former_units else {}),
            **self.answered_json(),
        }

    def answered_json(self) -> dict[str, Any]:
        """Describe what an answer and the advice after it may change, apart from workers."""
        first_approvals = {str(number): vars(approval) for number, approval in sorted(self.first_approvals.items())}
        return {
            "roster": self.roster.to_json(),
            "memory": self.memory,
            "after": self.after,
            "decided": self.decided,
            "changed": self.changed,
            "revised": self.revised,
            "because": [cause.to_json() for cause in self.because],
            "completed": [list(pair) for pair in self.completed],
            "failed": [list(pair) for pair in self.failed],
            "held_back": [list(pair) for pair in self.held_back],
            "proposals": [proposal.to_json() for proposal in self.proposals.values()],
            "advice": self.advice.to_json(),
            "fees": self.fees,
            "seats": [list(seat) for seat in self.seats],
            "delays": list(self.delays),
            "checkpoints": [list(checkpoint) for checkpoint in self.checkpoints],
            **({"remarks": self.remarks.to_json()} if self.remarks else {}),
            **({"first_approvals": first_approvals} if first_approvals else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Site":
        """Rebuild what `to_json` described."""
        estimates = data["estimates"]
        return cls(
            config=SiteConfig.from_json(data["config"]),
            roster=Roster.from_json(data["roster"]),
            estimates=Estimates(
                np.array(estimates["counts"], dtype=np.int64),
                np.array(estimates["sums"], dtype=np.float64),
                np.array(estimates["squares"], dtype=np.float64),
            ),
            workers=[Worker(**worker) for worker in data["workers"]],
            period=data["period"],
            memory=data["memory"],
            after=data["after"],
            decided=data["decided"],
            changed=data["changed"],
            revised=data["revised"],
            because=[Cause.from_json(cause) for cause in data["because"]],
            completed=[(out, into) for out, into in data["completed"]],
            failed=[(out, into) for out, into in data["failed"]],
            held_back=[(out, into) for out, into in data["held_back"]],
            proposals={proposal["id"]: Proposal.from_json(proposal) for proposal in data["proposals"]},
            next_proposal=data["next_proposal"],
            advice=StandingAdvice.from_json(data["advice"]),
            fees=data["fees"],
            interviews=data["interviews"],
            values=[(since, value) for since, value in data["values"]],
            seats=[(worker, since) for worker, since in data["seats"]],
            delays=(data["delays"][0], data["delays"][1]),
            last_output={int(worker): value for worker, value in data["last_output"].items()},
            first_team=list(data["first_team"]),
            began=data["began"],
            named_team=data.get("named_team"),
            enrolled=[(period, workers) for period, workers in data["enrolled"]],
            checkpoints=[Checkpoint(*checkpoint) for checkpoint in data["checkpoints"]],
            first_days={int(worker): period for worker, period in data.get("first_days", {}).items()},
            profiles=dict(data.get("profiles", ())),
            remarks=Remarks.from_json(data["remarks"]) if "remarks" in data else NO_REMARKS,
            undo=None if data["undo"] is None else Slip.from_json(data["undo"]),
            former_units=[FormerUnits.from_json(former) for former in data.get("former_units", ())],
            used_keys=[UsedKey(*used) for used in data.get("used_keys", ())],
            pilot=RunningPilot.from_json(data["pilot"]) if "pilot" in data else None,
            first_approvals={
                int(number): FirstApproval(**approval) for number, approval in data.get("first_approvals", {}).items()
            },
        )
