"""A small policy that learns by day, whose state tells exactly what it was told."""

from dataclasses import dataclass, replace
from typing import ClassVar

from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.transitions import LEGAL, request_fault

UNTRIED = 0.5


@dataclass(frozen=True)
class RecentState:
    """Levels and days worked by worker, everything told as text, and how often the policy was asked."""

    levels: tuple[float, ...]
    days: tuple[int, ...]
    told: tuple[str, ...]
    asked: int = 0


@dataclass(frozen=True)
class Recent(Policy[RecentState]):
    """Goes by recent output: a level moves half of the way to each day's output, so that the order of days matters."""

    state_type: ClassVar[type[RecentState]] = RecentState

    @property
    def name(self) -> str:
        return "recent"

    @property
    def learns_by_day(self) -> bool:
        return True

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> RecentState:
        return self._grown(RecentState((), (), ()), situation)

    def revise(self, state: RecentState, situation: Situation) -> RecentState:
        return self._grown(state, situation)

    def _grown(self, state: RecentState, situation: Situation) -> RecentState:
        assert situation.prior is not None
        assert situation.experience is not None
        known, workers = len(state.levels), situation.setting.workers
        counts, sums = situation.prior.counts.tolist(), situation.prior.sums.tolist()
        levels = [sums[n] / counts[n] if counts[n] else UNTRIED for n in range(known, workers)]
        days = situation.experience.tolist()[known:workers]
        return replace(state, levels=(*state.levels, *levels), days=(*state.days, *days))

    def observe(self, state: RecentState, report: Report) -> RecentState:
        levels, days = list(state.levels), list(state.days)
        for worker, output in report.output.items():
            levels[worker] += 0.5 * (output - levels[worker])
            days[worker] += 1
        moves = "".join(f" {out}>{into}" for out, into in report.completed)
        moves += "".join(f" {out}x{into}" for out, into in report.failed)
        moves += "".join(f" -{worker}" for worker in report.left)
        told = f"{report.period}: {' '.join(map(str, report.output))}{moves}"
        return replace(state, levels=tuple(levels), days=tuple(days), told=(*state.told, told))

    def decide(self, state: RecentState, situation: Situation) -> tuple[list[Pair], RecentState]:
        assert len(state.levels) == situation.setting.workers
        assert situation.experience is not None  # a live site always tells it
        assert list(state.days) == situation.experience.tolist()
        seated = situation.roster.active
        leavers = sorted((n for n in seated if situation.may_leave[n]), key=lambda n: (state.levels[n], n))
        entrants = [n for n in range(len(state.levels)) if n not in seated and situation.may_enter[n]]
        entrants.sort(key=lambda n: (-state.levels[n], n))
        outs = [NOBODY] * situation.roster.stations.count(NOBODY) + leavers
        pairs = []
        for out, into in zip(outs, entrants, strict=False):
            pays = out == NOBODY or state.levels[into] > state.levels[out] + 0.05
            if pays and request_fault(situation.roster.arrays, out, into) == LEGAL:
                pairs.append((out, into))
        return pairs[:2], replace(state, asked=state.asked + 1)
