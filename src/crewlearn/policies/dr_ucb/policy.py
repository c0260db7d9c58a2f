"""DR-UCB, the paper's policy (Section 4), with a choice for each of its three rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from crewlearn.beliefs.estimates import mean
from crewlearn.beliefs.radii import RADII, confidence_bounds, log_term
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.dr_ucb.decision import (
    DR_UCB_RULE,
    Choices,
    Memory,
    fresh_memory,
    fresh_scratch,
    notice_disturbance,
    replacement_threshold,
)
from crewlearn.policies.dr_ucb.frontier import FRONTIER_CAP
from crewlearn.policies.dr_ucb.pairing import PAIRINGS
from crewlearn.policies.dr_ucb.selection import EXACT, FRONTIER_STATES, LARGEST_FRONTIER, LOSS_BOUND, SELECTIONS
from crewlearn.policies.dr_ucb.timing import DISTURBED, TIMINGS
from crewlearn.policies.explanations import Bounds, Level, PolicyWait, Reason
from crewlearn.policies.rule import Rule, ask, facts_of, happened_in
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import one_of, real, whole
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Pending
from crewlearn.problem.transitions import unclaimed_stations
from crewlearn.theory.gamma import gamma_star


@dataclass(frozen=True)
class DRUCBState:
    """DR-UCB's state between periods.

    `least_observed` had `seen_then` observations at the decision and needs `needed` more. `next_date` is the fixed
    calendar's next date, in periods after the first. `marked` are to leave. `stream` is the key and the number of draws
    of the policy's own stream. The remaining fields describe how the last target was found.
    """

    cycle: int
    decided_at: int
    least_observed: int
    seen_then: int
    needed: int
    next_date: int
    disturbed: bool
    target: tuple[int, ...]
    marked: tuple[int, ...]
    stream: tuple[int, int]
    exact: bool = True
    frontier_states: int = 0
    largest_frontier: int = 0
    loss_bound: float = 0.0

    def numbers(self) -> tuple[int, ...]:
        """Return the cycle's numbers in the order that `timing` defines."""
        return (
            self.cycle,
            self.decided_at,
            self.least_observed,
            self.seen_then,
            self.needed,
            self.next_date,
            int(self.disturbed),
        )

    def arrays(self, workers: int = 0) -> Memory:
        """Return the state as the memory of the rule, with room to decide about so many workers."""
        diagnostics = (self.exact, self.frontier_states, self.largest_frontier, self.loss_bound)
        return Memory(
            np.array(self.numbers(), dtype=np.int64),
            np.array(self.target, dtype=np.int64),
            np.array(self.marked, dtype=np.int64),
            np.array(self.stream, dtype=np.int64),
            np.array(diagnostics, dtype=np.float64),
            fresh_scratch(workers, len(self.target)),
        )

    @classmethod
    def of(cls, memory: Memory) -> "DRUCBState":
        """Return the rule's memory as a state."""
        cycle, decided_at, least_observed, seen_then, needed, next_date, disturbed = memory.cycle.tolist()
        key, draws = memory.stream.tolist()
        return cls(
            cycle=cycle,
            decided_at=decided_at,
            least_observed=least_observed,
            seen_then=seen_then,
            needed=needed,
            next_date=next_date,
            disturbed=bool(disturbed),
            target=tuple(memory.target.tolist()),
            marked=tuple(memory.marked.tolist()),
            stream=(key, draws),
            exact=bool(memory.diagnostics[EXACT]),
            frontier_states=int(memory.diagnostics[FRONTIER_STATES]),
            largest_frontier=int(memory.diagnostics[LARGEST_FRONTIER]),
            loss_bound=float(memory.diagnostics[LOSS_BOUND]),
        )


@dataclass(frozen=True, kw_only=True)
class PairReason(Reason):
    """DR-UCB's reason for a pair: its optimistic gain per period, and the gain that pays for the fee."""

    leaver: int = field()
    optimistic_gain: float = field()
    threshold: float = field()
    out_bounds: Bounds = field()
    in_bounds: Bounds = field()


@dataclass(frozen=True)
class LearningCycle:
    """The state of the current learning cycle, for display.

    `phase` is "transition" until the whole target is active, then "exploration". `still_needed` is the number of
    observations that the least-observed worker still needs. `awaited` are the pending replacements. `exact` is False if
    the frontier exceeded its cap and the heuristic chose the target; its sum of UCBs is then within `loss_bound` of the
    optimum.
    """

    number: int
    phase: str
    decided_at: int
    target: tuple[int, ...]
    least_observed: int
    still_needed: int
    awaited: tuple[Pending, ...]
    exact: bool
    largest_frontier: int
    loss_bound: float


@dataclass(frozen=True)
class DRUCB(Policy[DRUCBState]):
    """The paper's policy, with a choice for each of its rules.

    `gamma` sets the pace of replacement. By default it is gamma*, which minimises the paper's full bound in the current
    setting. The defaults follow the paper's text.
    """

    gamma: float | None = None
    radius: str = "log-T"
    timing: str = "adaptive"
    selection: str = "constrained"
    pairing: str = "rank-lcb"
    frontier_cap: int = FRONTIER_CAP
    always_build_frontier: bool = False
    state_type: ClassVar[type[DRUCBState]] = DRUCBState
    rule: ClassVar[Rule] = DR_UCB_RULE

    def __post_init__(self) -> None:
        if self.gamma is not None:
            real("gamma", self.gamma, 0.0, 1e12, above=True)
        whole("frontier_cap", self.frontier_cap, 2, 10**8)
        choices = {"radius": RADII, "timing": TIMINGS, "selection": SELECTIONS, "pairing": PAIRINGS}
        for name, known in choices.items():
            one_of(name, getattr(self, name), known)

    @property
    def name(self) -> str:
        """The name of this combination of rules."""
        parts = {
            "-v": self.radius == "empirical-bernstein",
            "-without-screening": self.selection == "top-m",
            "+fixed-calendar": self.timing == "fixed-calendar",
            "+random-pairing": self.pairing == "random",
            "+oracle-delayed-pairing": self.pairing == "oracle",
            "+late-pairing": self.pairing == "late",
        }
        return "dr-ucb" + "".join(part for part, chosen in parts.items() if chosen)

    @property
    def oracle(self) -> bool:
        """Whether the pairing is the oracle's, which needs hidden facts."""
        return self.pairing == "oracle"

    def pace(self, setting: Setting) -> float:
        """Return gamma for a setting."""
        return gamma_star(setting) if self.gamma is None else self.gamma

    def parameters(self, setting: Setting) -> Choices:
        """Return the rule's parameters."""
        return Choices(
            timing=TIMINGS[self.timing],
            selection=SELECTIONS[self.selection],
            pairing=PAIRINGS[self.pairing],
            radius=RADII[self.radius],
            frontier_cap=int(self.frontier_cap),
            always_build=bool(self.always_build_frontier),
            gamma=np.array([self.pace(setting)], dtype=np.float64),
        )

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> DRUCBState:
        """Return the initial state; the first cycle begins with the first decision."""
        return DRUCBState.of(fresh_memory(0, situation.setting.team, stream_key))

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        """Wait, or choose a new target and request the replacements that lead to it."""
        if len(state.target) != situation.roster.team:
            state = self.revise(state, situation)
        memory, facts = state.arrays(situation.roster.workers), facts_of(self, situation)
        pairs = ask(self.rule, self.parameters(situation.setting), memory, situation.period, facts)
        return pairs, DRUCBState.of(memory)

    def assign(self, state: DRUCBState, situation: Situation, incoming: int) -> int:
        """Return who makes room on arrival: an empty station first, then the lowest LCB of those marked to leave."""
        facts, parameters = facts_of(self, situation), self.parameters(situation.setting)
        return int(self.rule.assign(parameters, state.arrays(), situation.period, facts, incoming))

    def observe(self, state: DRUCBState, report: Report) -> DRUCBState:
        """Record whether anything unplanned happened."""
        if not (report.completed or report.failed):
            return state
        memory = state.arrays()
        notice_disturbance(TIMINGS[self.timing], memory, happened_in(report))
        return replace(state, disturbed=bool(memory.cycle[DISTURBED]))

    def revise(self, state: DRUCBState, situation: Situation) -> DRUCBState:
        """Resize the target to the team, and check at the next decision whether it can still be reached."""
        team, roster = situation.setting.team, situation.roster
        if len(state.target) == team:
            return replace(state, disturbed=True)
        reachable = {*roster.active, *(pending.into for pending in roster.pending)}
        target = _resized([worker for worker in state.target if worker in reachable], team)
        return replace(
            state,
            disturbed=True,
            target=target,
            least_observed=state.least_observed if state.least_observed in target else NOBODY,
            marked=_resized([worker for worker in state.marked if worker in roster.active], team),
        )

    def bounds(self, situation: Situation) -> tuple[FloatArray, FloatArray]:
        """Return everybody's upper and lower confidence bounds."""
        code, workers = RADII[self.radius], len(situation.estimates.counts)
        ucb, lcb = np.empty(workers), np.empty(workers)
        log_value = log_term(code, situation.setting.horizon, situation.period)
        confidence_bounds(code, situation.estimates, log_value, ucb, lcb)
        return ucb, lcb

    def cycle(self, state: DRUCBState, situation: Situation) -> LearningCycle:
        """Return the state of the cycle at the start of the situation's period, before deciding."""
        active = set(situation.roster.active)
        whole_target_active = all(worker in active for worker in state.target if worker != NOBODY)
        seen = 0 if state.least_observed == NOBODY else int(situation.estimates.counts[state.least_observed])
        return LearningCycle(
            number=state.cycle,
            phase="exploration" if whole_target_active and not situation.roster.pending else "transition",
            decided_at=state.decided_at,
            target=state.target,
            least_observed=state.least_observed,
            still_needed=max(0, state.seen_then + state.needed - seen),
            awaited=situation.roster.pending,
            exact=state.exact,
            largest_frontier=state.largest_frontier,
            loss_bound=state.loss_bound,
        )

    @property
    def weighs_fees(self) -> bool:
        """True: replacements are screened by their fee."""
        return True

    def reasons(
        self, state: DRUCBState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[PairReason]:
        """Return the reason for each pair at the start of the situation's period.

        For an open hire, the leaver is who would make room if it arrived first: an empty station, or the lowest LCB of
        those marked to leave. `costs` set each pair's threshold.
        """
        setting = situation.setting
        ucb, lcb = self.bounds(situation)
        vacancies = [NOBODY] * max(0, unclaimed_stations(situation.roster.arrays))
        marked = sorted((worker for worker in state.marked if worker != NOBODY), key=lambda w: (lcb[w], -w))
        makes_room = iter(vacancies + marked)
        fees = [setting.cost] * len(pairs) if costs is None else costs
        reasons = []
        for (out, into), cost in zip(pairs, fees, strict=True):
            leaver = next(makes_room, NOBODY) if out == NOBODY else out
            out_bounds = Bounds(0.0, 0.0) if leaver == NOBODY else Bounds(float(lcb[leaver]), float(ucb[leaver]))
            in_bounds = Bounds(float(lcb[into]), float(ucb[into]))
            reasons.append(
                PairReason(
                    out=out,
                    into=into,
                    leaver=leaver,
                    optimistic_gain=in_bounds.upper - out_bounds.lower,
                    threshold=replacement_threshold(cost, setting.horizon, situation.period),
                    out_bounds=out_bounds,
                    in_bounds=in_bounds,
                )
            )
        return reasons

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee that the optimistic gain just pays for; None in the last period, when nothing pays.

        Bounds are clipped to [0, 1], so an incoming worker never observed counts as 1 and an outgoing one as 0.
        """
        if reason.in_bounds is None or reason.out_bounds is None:
            return None
        gain_for_unit_fee = replacement_threshold(1.0, situation.setting.horizon, situation.period)
        if not math.isfinite(gain_for_unit_fee):
            return None
        best = min(1.0, reason.in_bounds.upper) - max(0.0, reason.out_bounds.lower)
        return best / gain_for_unit_fee

    def waiting(self, state: DRUCBState, situation: Situation) -> PolicyWait:
        """Return the cycle's number and phase, and the observations it still needs."""
        cycle = self.cycle(state, situation)
        return PolicyWait(
            cycle=cycle.number,
            phase=cycle.phase,
            least_observed=cycle.least_observed,
            still_needed=cycle.still_needed,
        )

    def levels(self, state: DRUCBState, situation: Situation) -> list[Level]:
        """Return everybody's mean with the confidence bounds, clipped to [0, 1]."""
        ucb, lcb = self.bounds(situation)
        return [
            Level(
                mean=mean(situation.estimates, worker) if count else None,
                low=max(0.0, float(lcb[worker])),
                high=min(1.0, float(ucb[worker])),
            )
            for worker, count in enumerate(situation.estimates.counts.tolist())
        ]


def _resized(workers: list[int], team: int) -> tuple[int, ...]:
    """Return the first `team` workers, padded with NOBODY."""
    return (*workers[:team], *[NOBODY] * (team - len(workers)))
