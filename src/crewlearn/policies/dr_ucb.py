"""DR-UCB: when to replace, whom to employ and who replaces whom, from the three rules (the paper's Section 4)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crewlearn.policies.candidates import Candidates, list_candidates, list_going
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.estimates import Estimates
from crewlearn.policies.frontier import FRONTIER_CAP
from crewlearn.policies.pairing import (
    LATE,
    PAIRINGS,
    choose_leaver,
    keep_legal,
    pair_by_delay,
    pair_up,
)
from crewlearn.policies.radii import RADII, confidence_bounds, log_term
from crewlearn.policies.selection import (
    DIAGNOSTICS,
    EXACT,
    FRONTIER_STATES,
    LARGEST_FRONTIER,
    LOSS_BOUND,
    SELECTIONS,
    select,
)
from crewlearn.policies.timing import (
    CYCLE,
    FIXED_CALENDAR,
    NEW_CYCLE,
    TIMINGS,
    WAIT,
    begin_cycle,
    time_to_replace,
)
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput, real, unknown_name, whole
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Pending
from crewlearn.problem.transitions import PENDING, RosterArrays
from crewlearn.theory.gamma import gamma_star


def replacement_threshold(cost: float, horizon: int, period: int) -> float:
    """Give c/(T-t), the gain a period that pays for a replacement; infinite in the last period, when none can."""
    return cost / (horizon - period) if period < horizon else math.inf


def choose_round(
    selection: int,
    cap: int,
    always_build: bool,
    roster: RosterArrays,
    ucb: FloatArray,
    lcb: FloatArray,
    may_enter: BoolArray,
    may_leave: BoolArray,
    threshold: float,
    held: IntArray,
    pending_too: bool,
    target: IntArray,
    marked: IntArray,
    leaving: IntArray,
    entering: IntArray,
    diagnostics: FloatArray,
) -> tuple[Candidates, int]:
    """Choose the target and who leaves and enters for it, as places in the candidates given back with their number.

    Those `held` do not leave. With `pending_too` the choice is made as if nothing were pending (the fixed calendar's
    way); otherwise it builds on what is.
    """
    going = np.zeros(len(roster.role), dtype=np.bool_)
    if not pending_too:
        going = list_going(roster, marked, lcb, may_leave)
    replaceable = may_leave.copy()
    for worker in held:
        if worker != NOBODY:
            replaceable[worker] = False
    candidates = list_candidates(roster, ucb, lcb, replaceable, may_enter, going, pending_too)
    r = 0
    if not math.isinf(threshold):
        r = select(selection, candidates, threshold, cap, always_build, leaving, entering, diagnostics)
    for index in range(r):
        worker = candidates.out_worker[leaving[index]]
        if worker != NOBODY:
            going[worker] = True
    size = 0
    for place in range(len(target)):
        target[place] = NOBODY
    for worker in roster.stations:
        if worker != NOBODY and not going[worker]:
            target[size] = worker
            size += 1
    if not pending_too:
        for slot in range(roster.counts[PENDING]):
            if size < len(target):
                target[size] = roster.pending_in[slot]
                size += 1
    for index in range(r):
        if size < len(target):
            target[size] = candidates.in_worker[entering[index]]
            size += 1
    size = 0
    for place in range(len(marked)):
        marked[place] = NOBODY
    for worker in roster.stations:
        if worker != NOBODY and going[worker]:
            marked[size] = worker
            size += 1
    return candidates, r


@dataclass(frozen=True)
class DRUCBState:
    """What DR-UCB remembers between periods.

    `least_observed` had `seen_then` observations at the decision and needs `needed` more. `next_date` is the fixed
    calendar's next date, in periods after the first. `marked` are to leave. `stream` is the key and the number of draws
    of its own stream. The rest tells how the last target was found.
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

    def memory(self) -> IntArray:
        """Give the cycle's numbers as `timing` takes them."""
        numbers = (
            self.cycle,
            self.decided_at,
            self.least_observed,
            self.seen_then,
            self.needed,
            self.next_date,
            self.disturbed,
        )
        return np.array(numbers, dtype=np.int64)

    def remembering(self, memory: IntArray) -> "DRUCBState":
        """Give the state with the cycle's numbers replaced."""
        cycle, decided_at, least_observed, seen_then, needed, next_date, disturbed = memory.tolist()
        return replace(
            self,
            cycle=cycle,
            decided_at=decided_at,
            least_observed=least_observed,
            seen_then=seen_then,
            needed=needed,
            next_date=next_date,
            disturbed=bool(disturbed),
        )


@dataclass(frozen=True)
class Bounds:
    """A worker's confidence bounds; an empty station has both at 0."""

    lower: float
    upper: float


@dataclass(frozen=True)
class PairReason:
    """Why a pair was proposed: its optimistic gain a period against the gain that pays for the fee."""

    out: int
    into: int
    optimistic_gain: float
    threshold: float
    out_bounds: Bounds
    in_bounds: Bounds


@dataclass(frozen=True)
class Cycle:
    """The learning cycle for people to look at.

    `phase` is "transition" until the whole target is active, then "exploration". `still_needed` counts the observations
    of the least-observed worker that are missing; `awaited` are the replacements under way. `exact` is False if the
    frontier grew past its cap and the heuristic chose the target; its sum of UCBs is then within `loss_bound` of the
    best one's.
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
    """The paper's policy; each of its rules is a choice.

    `gamma` sets the pace of replacement; left out, it is gamma*, which minimises the paper's full bound in the setting
    at hand. The defaults are as the paper's text has them.
    """

    gamma: float | None = None
    radius: str = "log-T"
    timing: str = "adaptive"
    selection: str = "constrained"
    pairing: str = "rank-lcb"
    frontier_cap: int = FRONTIER_CAP
    always_build_frontier: bool = False
    state_type: ClassVar[type[DRUCBState]] = DRUCBState

    def __post_init__(self) -> None:
        if self.gamma is not None:
            real("gamma", self.gamma, 0.0, above=True)
        whole("frontier_cap", self.frontier_cap, 2)
        choices = {"radius": RADII, "timing": TIMINGS, "selection": SELECTIONS, "pairing": PAIRINGS}
        for field, known in choices.items():
            if getattr(self, field) not in known:
                raise unknown_name(field, str(getattr(self, field)), known)

    @property
    def name(self) -> str:
        """The name people know this choice of rules by."""
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
        """Only the oracle's pairing needs what is hidden."""
        return self.pairing == "oracle"

    def pace(self, setting: Setting) -> float:
        """Give gamma in a setting."""
        return gamma_star(setting) if self.gamma is None else self.gamma

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> DRUCBState:
        """Begin with no cycle yet: the first decision comes in the first period asked about."""
        return DRUCBState(
            cycle=0,
            decided_at=0,
            least_observed=NOBODY,
            seen_then=0,
            needed=0,
            next_date=0,
            disturbed=False,
            target=situation.roster.stations,
            marked=(),
            stream=(stream_key, 0),
        )

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        """Wait, or choose a new target and ask for the replacements that lead to it."""
        roster, period = situation.roster.arrays, situation.period
        memory, gamma, timing = state.memory(), self.pace(situation.setting), TIMINGS[self.timing]
        target = np.array(state.target, dtype=np.int64)
        todo = time_to_replace(
            timing,
            memory,
            target,
            len(target),
            roster,
            situation.estimates,
            situation.may_enter,
            period,
            gamma,
        )
        if todo == WAIT:
            return [], replace(state, disturbed=False) if state.disturbed else state

        team = len(roster.stations)
        after = np.empty(team, dtype=np.int64)
        marked = np.array(state.marked + (NOBODY,) * (team - len(state.marked)), dtype=np.int64)
        leaving, entering = np.empty(team, dtype=np.int64), np.empty(len(roster.role), dtype=np.int64)
        diagnostics = np.zeros(DIAGNOSTICS)
        ucb, lcb = self.bounds(situation)
        new_cycle = todo == NEW_CYCLE
        memory[CYCLE] += new_cycle
        candidates, r = choose_round(
            SELECTIONS[self.selection],
            self.frontier_cap,
            self.always_build_frontier,
            roster,
            ucb,
            lcb,
            situation.may_enter,
            situation.may_leave,
            replacement_threshold(situation.setting.cost, situation.setting.horizon, period),
            target[:0] if new_cycle else target,  # within a cycle only what fell through is chosen again
            new_cycle and timing == FIXED_CALENDAR,
            after,
            marked,
            leaving,
            entering,
            diagnostics,
        )
        begin_cycle(memory, after, team, situation.estimates, period, gamma)
        stream = np.array(state.stream, dtype=np.int64)
        outs, ins = pair_up(PAIRINGS[self.pairing], candidates, leaving, entering, r, stream)
        if self.oracle:
            _pair_as_oracle(situation, outs, ins)
        kept = keep_legal(roster, outs, ins, r)
        key, draws = stream.tolist()
        chosen = replace(
            state.remembering(memory),
            target=tuple(after.tolist()),
            marked=tuple(marked.tolist()) if PAIRINGS[self.pairing] == LATE else (),
            stream=(key, draws),
            exact=bool(diagnostics[EXACT]),
            frontier_states=int(diagnostics[FRONTIER_STATES]),
            largest_frontier=int(diagnostics[LARGEST_FRONTIER]),
            loss_bound=float(diagnostics[LOSS_BOUND]),
        )
        return list(zip(outs[:kept].tolist(), ins[:kept].tolist(), strict=True)), chosen

    def assign(self, state: DRUCBState, situation: Situation, incoming: int) -> int:
        """Settle on arrival who makes room: an empty station first, then the lowest LCB of those marked to leave."""
        _, lcb = self.bounds(situation)
        marked, target = np.array(state.marked, dtype=np.int64), np.array(state.target, dtype=np.int64)
        return int(choose_leaver(situation.roster.arrays, marked, target, lcb, situation.may_leave))

    def observe(self, state: DRUCBState, report: Report) -> DRUCBState:
        """Notice whether anything happened that was not in the plan."""
        strayed = any(
            into not in state.target or out in state.target for out, into in report.completed if out != NOBODY
        )
        return replace(state, disturbed=True) if report.failed or strayed else state

    def revise(self, state: DRUCBState, situation: Situation) -> DRUCBState:
        """Look, at the next decision, whether the target can still be reached."""
        return replace(state, disturbed=True)

    def bounds(self, situation: Situation) -> tuple[FloatArray, FloatArray]:
        """Give everybody's upper and lower confidence bounds."""
        return _bounds(RADII[self.radius], situation.estimates, situation.setting.horizon, situation.period)

    def cycle(self, state: DRUCBState, situation: Situation) -> Cycle:
        """Show the cycle as it stands at the start of the situation's period, before deciding."""
        active = set(situation.roster.active)
        whole_target_active = all(worker in active for worker in state.target if worker != NOBODY)
        seen = 0 if state.least_observed == NOBODY else int(situation.estimates.counts[state.least_observed])
        return Cycle(
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

    def reasons(self, situation: Situation, pairs: Sequence[Pair]) -> list[PairReason]:
        """Give, for each pair, what spoke for it at the start of the situation's period."""
        ucb, lcb = self.bounds(situation)
        threshold = replacement_threshold(situation.setting.cost, situation.setting.horizon, situation.period)
        reasons = []
        for out, into in pairs:
            out_bounds = Bounds(0.0, 0.0) if out == NOBODY else Bounds(float(lcb[out]), float(ucb[out]))
            in_bounds = Bounds(float(lcb[into]), float(ucb[into]))
            gain = in_bounds.upper - out_bounds.lower
            reasons.append(PairReason(out, into, gain, threshold, out_bounds, in_bounds))
        return reasons


def _bounds(code: int, estimates: Estimates, horizon: int, period: int) -> tuple[FloatArray, FloatArray]:
    workers = len(estimates.counts)
    ucb, lcb = np.empty(workers), np.empty(workers)
    confidence_bounds(code, estimates, log_term(code, horizon, period), ucb, lcb)
    return ucb, lcb


def _pair_as_oracle(situation: Situation, outs: IntArray, ins: IntArray) -> None:
    """Pair with knowledge of true means and delays; an empty station counts as mean 0."""
    hidden = situation.hidden
    if hidden is None:
        raise InvalidInput("pairing", "oracle", "needs hidden means and delays, which only a simulation has")
    means = np.array([0.0 if out == NOBODY else hidden.means[out] for out in outs], dtype=np.float64)
    delays = np.array(
        [[hidden.delay(situation.period, out, into) for into in ins.tolist()] for out in outs.tolist()],
        dtype=np.int64,
    ).reshape(len(outs), len(ins))
    pair_by_delay(outs, ins, means, delays)
