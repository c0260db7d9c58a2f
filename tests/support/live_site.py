"""A small live site for tests: its facts, a policy, and methods for what people may do."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from crewlearn.beliefs.estimates import grown, no_data, record
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import LEGAL, completion_fault

AnyPolicy = TypeVar("AnyPolicy", bound=Policy[Any])


class LiveSite(Generic[AnyPolicy]):
    """Facts of a site, changed by events; the policy decides once a period and observes everything else."""

    def __init__(
        self,
        policy: AnyPolicy,
        setting: Setting,
        active: Sequence[int],
        output: Callable[[int, int], float] = lambda period, worker: 0.5,
    ) -> None:
        self.policy, self.setting, self.output = policy, setting, output
        self.roster = Roster.start(setting.workers, active, setting.team)
        self.estimates = no_data(setting.workers)
        self.may_enter = np.ones(setting.workers, dtype=np.bool_)
        self.may_leave = np.ones(setting.workers, dtype=np.bool_)
        self.period, self.fees_paid = 1, 0.0
        self.completed: list[Pair] = []
        self.failed: list[Pair] = []
        bought = policy.interview(setting)
        scores = None if bought is None else np.random.default_rng(5).random(setting.workers)
        self.state = policy.start(self.situation(), 99, scores)

    def situation(self) -> Situation:
        return Situation(self.period, self.setting, self.roster, self.estimates, self.may_enter, self.may_leave)

    def ask(self) -> list[Pair]:
        """Return the policy's decision for this period; check that it repeats from a restored state."""
        facts = self.facts()
        pairs, after = self.policy.decide(self.state, self.situation())
        again, _ = self.policy.decide(self.restored(), self.situation())
        assert again == pairs
        assert self.facts() == facts, "decide changed the facts"
        self.state = after
        return pairs

    def facts(self) -> tuple[Any, ...]:
        return (self.roster.to_json(), *(array.tolist() for array in self.estimates), self.may_enter.tolist())

    def restored(self) -> Any:
        """Return the policy's state after a round trip through JSON."""
        again = self.policy.state_from_json(json.loads(json.dumps(self.policy.state_to_json(self.state))))
        assert again == self.state
        return again

    def initiate(self, pairs: Iterable[Pair], delay: int | None = None) -> None:
        for out, into in pairs:
            self.roster.initiate(out, into, self.period, NOBODY if delay is None else self.period + delay)
            self.fees_paid += self.setting.cost

    def reject(self, pair: Pair) -> None:
        self.failed.append(pair)

    def decline(self, into: int) -> None:
        self.failed.append(self.roster.fail(into))

    def arrive(self, into: int) -> None:
        """Let a pending worker start; if the policy left open who leaves, ask it now."""
        out = next(pending.out for pending in self.roster.pending if pending.into == into)
        leaver = self.policy.assign(self.state, self.situation(), into) if out == NOBODY else out
        if leaver == NOBODY and completion_fault(self.roster.arrays, 0, leaver) != LEGAL:
            self.decline(into)
        else:
            self.completed.append(self.roster.complete(into, leaver))

    def work(self, absent: Iterable[int] = ()) -> None:
        """Let the workers due start, record the period's output, and close the period."""
        for pending in self.roster.elapsed(self.period):
            self.arrive(pending.into)
        output = {w: self.output(self.period, w) for w in self.roster.active if w not in set(absent)}
        for worker, amount in output.items():
            record(self.estimates, worker, amount)
        report = Report(self.period, output, tuple(self.completed), tuple(self.failed))
        self.state = self.policy.observe(self.state, report)
        self.completed, self.failed = [], []
        self.period += 1

    def run(self, periods: int, delay: int = 0) -> list[tuple[int, list[Pair]]]:
        """Play periods without other events; return the periods with requests, and their pairs."""
        asked = []
        for _ in range(periods):
            pairs = self.ask()
            if pairs:
                asked.append((self.period, pairs))
            self.initiate(pairs, delay)
            self.work()
        return asked

    def revise(self, **changes: Any) -> None:
        self.setting = replace(self.setting, **changes)
        self.state = self.policy.revise(self.state, self.situation())

    def leave(self, worker: int) -> None:
        """Remove a worker from the pool for good."""
        for pending in self.roster.pending:
            if pending.into == worker:
                self.decline(worker)
        if worker in self.roster.active:
            self.roster.vacate(worker)
        self.may_enter[worker] = False
        self.revise()

    def join(self, count: int = 1) -> None:
        """Add workers to the pool."""
        workers = self.setting.workers + count
        self.roster, self.estimates = self.roster.grown(workers), grown(self.estimates, workers)
        self.may_enter = np.append(self.may_enter, np.ones(count, dtype=np.bool_))
        self.may_leave = np.append(self.may_leave, np.ones(count, dtype=np.bool_))
        self.revise(workers=workers)

    def resize(self, team: int) -> None:
        self.roster = self.roster.resized(team)
        self.revise(team=team)
