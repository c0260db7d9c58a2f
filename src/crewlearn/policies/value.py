"""Value of replacement: replace where the expected gain over the periods left exceeds the fees, and nowhere else.

Each period, from the worst active worker i up, the outside worker j whose trial gains most (`trials`) is a candidate to
take i's place. The pair is made if its gain is positive and waiting would not gain more. Waiting has two reasons:

- i is still being learned, which costs nothing. Once i is known better the fee may turn out not to be worth paying, or
  worth more; so i stays as long as the expected gain of deciding later exceeds that of acting now.
- Stations whose entrant is still on the way may need j more than i's station does. If those outside who would beat i
  are no more than such stations, j is kept for the one that will gain most from it, unless acting now gains more.

Several pairs of one period share one pool: the r-th takes the r-th best entrant, and counts on the r-th best of those
outside to go back to. Among workers equally good as far as is known, a random order drawn at the start decides, so that
nobody is tried first for a low number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from crewlearn.policies.candidates import unclaimed_stations
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.posterior import (
    BETWEEN,
    CENTRE,
    CENTRE_DOUBT,
    LEARN,
    NOISE,
    Assumed,
    Beliefs,
    fresh_beliefs,
    learn,
    learned,
)
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.teams import FOREVER, NEXT, SETTLED, Facts, nothing_to_ask
from crewlearn.policies.trials import (
    Trial,
    best_trial,
    chance_above,
    gain_later,
    gain_of,
    possible,
    sd_of_finding,
    upside,
)
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.chance import shuffle
from crewlearn.problem.errors import real, whole
from crewlearn.problem.model import MOST, Setting
from crewlearn.problem.transitions import FREE, PENDING, RosterArrays

RECHECK, MARGIN, HORIZON, FEE, DELAY, ASSUMED = range(6)
"""Places in the parameters of the rule; what is assumed of the pool stands from ASSUMED on."""

OUTSIDE = 2
"""The place in `ValueMemory.numbers`, after SETTLED and NEXT, of how many outside may enter."""

ENTERS = -1
"""Stands, in `ValueMemory.standing`, for a worker who enters in this period."""

LEAST_GAIN = 0.01
"""What a replacement must gain in all, in units of output, so that equals are not exchanged where there is no fee."""

WAITS = (0.5, 1.5)
"""How long waiting for a worker to become known may take, in multiples of all that is known so far."""


class ValueMemory(NamedTuple):
    """What the rule works with. All but SETTLED and NEXT in `numbers`, `queue` and what `beliefs` spares is scratch.

    `queue` is the order, drawn once, in which workers come who are equally good as far as is known. `outside` are those
    who may enter, from whom most is expected down, `others` what is expected of each, `standing` where a worker stands
    among them. `scores` are the gains of the `entrants`, whose `ranks` say who comes first; `levels` are what the
    stations of the `leavers` are worth, whose `order` says who goes first.
    """

    numbers: IntArray
    beliefs: Beliefs
    queue: IntArray
    outside: IntArray
    others: FloatArray
    standing: IntArray
    scores: FloatArray
    entrants: IntArray
    ranks: IntArray
    levels: FloatArray
    leavers: IntArray
    order: IntArray


def fresh_value_memory(team: int, spared_counts: IntArray, spared_sums: FloatArray, stream_key: int) -> ValueMemory:
    """Begin: draw the queue, and make room."""
    workers = len(spared_counts)
    memory = ValueMemory(
        np.zeros(3, dtype=np.int64),
        fresh_beliefs(spared_counts, spared_sums),
        np.arange(workers),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers + team, dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers + team, dtype=np.int64),
    )
    stream = np.zeros(2, dtype=np.int64)
    stream[0] = stream_key
    shuffle(memory.queue, workers, stream)
    return memory


def decide_value(
    parameters: FloatArray, memory: ValueMemory, period: int, facts: Facts, outs: IntArray, ins: IntArray
) -> int:
    """Fill in the pairs that pay; give their number."""
    numbers, beliefs, roster = memory.numbers, memory.beliefs, facts.roster
    numbers[SETTLED] = 1
    numbers[NEXT] = FOREVER
    left = periods_left(parameters, period)
    if left <= 1.0:
        return 0
    learn(beliefs, facts.estimates, _assumed(parameters))
    n = 0
    n_out = _list_leavers(memory, facts)
    if n_out > 0:
        n_in = _list_entrants(parameters, memory, facts, float(memory.levels[memory.order[0]]), left)
        n = _make_pairs(parameters, memory, roster, n_out, n_in, left, outs, ins)
    numbers[NEXT] = period + 1
    if n == 0 and roster.counts[PENDING] == 0:  # as long as little is learned, there is nothing new to decide
        numbers[NEXT] += _least_seen(facts) // int(parameters[RECHECK])
    return n


def periods_left(parameters: FloatArray, period: int) -> float:
    """Give the periods that a worker asked for now can be expected to work."""
    return float(parameters[HORIZON] - period + 1.0 - parameters[DELAY])


def _assumed(parameters: FloatArray) -> Assumed:
    """Give what is assumed of the pool."""
    return Assumed(
        float(parameters[ASSUMED]),
        float(parameters[ASSUMED + 1]),
        float(parameters[ASSUMED + 2]),
        float(parameters[ASSUMED + 3]),
        float(parameters[ASSUMED + 4]),
    )


def _least_seen(facts: Facts) -> int:
    """Count the observations of the active worker least seen."""
    least = FOREVER
    for worker in facts.roster.stations:
        if worker != NOBODY:
            least = min(least, int(facts.estimates.counts[worker]))
    return least if least < FOREVER else 0


def _list_leavers(memory: ValueMemory, facts: Facts) -> int:
    """List who may make room, and rank them by what their station is worth a period: nothing, if it is empty."""
    roster, leavers, levels = facts.roster, memory.leavers, memory.levels
    n = 0
    for worker in range(len(roster.station_of)):
        if roster.station_of[worker] >= 0 and roster.role[worker] == FREE and facts.may_leave[worker]:
            leavers[n] = worker
            levels[n] = memory.beliefs.means[worker]
            n += 1
    for _ in range(unclaimed_stations(roster)):
        leavers[n] = NOBODY
        levels[n] = 0.0
        n += 1
    rank_leavers(levels[:n], memory.order)
    return n


def _list_entrants(parameters: FloatArray, memory: ValueMemory, facts: Facts, level: float, left: float) -> int:
    """List who may enter and might pay at a station worth `level`, and rank them by what their trial gains there.

    Those who would not pay even if all about them came to be known at once are left out. All are ranked for a trial as
    long as suits the one least known; of the others there is less to find out.
    """
    roster, beliefs, counts = facts.roster, memory.beliefs, facts.estimates.counts
    scores, entrants, fee, noise = memory.scores, memory.entrants, float(parameters[FEE]), float(beliefs.pool[NOISE])
    _rank_outside(memory, facts)
    # the untried are all alike: reckon once
    doubt = math.sqrt(beliefs.pool[BETWEEN] + beliefs.pool[CENTRE_DOUBT])
    promise_untried = left * upside(float(beliefs.pool[CENTRE]), doubt, level)
    n, least_known = 0, NOBODY
    for worker in memory.queue:
        if roster.station_of[worker] >= 0 or roster.role[worker] != FREE or not facts.may_enter[worker]:
            continue
        promise = promise_untried
        if counts[worker] > 0:
            promise = left * upside(float(beliefs.means[worker]), math.sqrt(beliefs.variances[worker]), level)
        if promise > fee:
            entrants[n] = worker
            n += 1
            if least_known == NOBODY or counts[worker] < counts[least_known]:
                least_known = worker
    if n == 0:
        return 0
    trial = _trial_of(parameters, memory, least_known, level, left, best_other(memory, least_known, 0))
    gain_untried = gain_of(trial, level, left)
    for place in range(n):
        worker = entrants[place]
        scores[place] = gain_untried
        if counts[worker] > 0:
            sd = sd_of_finding(float(beliefs.variances[worker]), noise, trial.length)
            other = best_other(memory, worker, 0)
            scores[place] = gain_of(Trial(float(beliefs.means[worker]), sd, trial.length, other, fee), level, left)
    rank_descending(scores, memory.ranks, n)
    return n


def _rank_outside(memory: ValueMemory, facts: Facts) -> None:
    """Rank those who may enter by what is to be expected of them: whom trials that fail can go back to."""
    roster, means, variances = facts.roster, memory.beliefs.means, memory.beliefs.variances
    n = 0
    for worker in range(len(means)):
        memory.standing[worker] = FOREVER
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and facts.may_enter[worker]:
            memory.entrants[n] = worker
            memory.scores[n] = possible(float(means[worker]), math.sqrt(variances[worker]))
            n += 1
    rank_descending(memory.scores, memory.ranks, n)
    for place in range(n):
        worker = memory.entrants[memory.ranks[place]]
        memory.outside[place] = worker
        memory.others[place] = memory.scores[memory.ranks[place]]
        memory.standing[worker] = place
    memory.numbers[OUTSIDE] = n


def best_other(memory: ValueMemory, worker: int, claimed: int) -> float:
    """Give the most to be expected of anybody outside, this worker apart and so many that others may go back to."""
    place = claimed + 1 if memory.standing[worker] <= claimed else claimed
    return float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0


def _trial_of(
    parameters: FloatArray, memory: ValueMemory, worker: int, level: float, left: float, other: float
) -> Trial:
    """Give the best trial of a worker outside at a station worth `level`, with `other` to be expected of a way back."""
    beliefs = memory.beliefs
    mean, variance = float(beliefs.means[worker]), float(beliefs.variances[worker])
    return best_trial(mean, variance, float(beliefs.pool[NOISE]), other, float(parameters[FEE]), level, left)


def _make_pairs(
    parameters: FloatArray,
    memory: ValueMemory,
    roster: RosterArrays,
    n_out: int,
    n_in: int,
    left: float,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Pair the best entrants with the worst leavers while that pays; leavers who had better wait are passed over."""
    room = len(roster.stations) - roster.counts[PENDING]
    least = LEAST_GAIN + float(parameters[MARGIN] * parameters[FEE])
    n = 0
    for place in range(n_out):
        if n >= min(room, n_in):
            break
        station = memory.order[place]
        leaver, level = memory.leavers[station], float(memory.levels[station])
        entrant = memory.entrants[memory.ranks[n]]
        trial = _trial_of(parameters, memory, entrant, level, left, best_other(memory, entrant, n))
        gain = gain_of(trial, level, left)
        if gain <= least:
            break
        if leaver == NOBODY or not (
            _learning_pays(memory, leaver, trial, gain, left)
            or _needed_elsewhere(memory, roster, entrant, n_in - n, level, trial, gain, left - parameters[DELAY])
        ):
            outs[n] = leaver
            ins[n] = entrant
            n += 1
    return _keep_paying(parameters, memory, n, least, left, outs, ins)


def _keep_paying(
    parameters: FloatArray, memory: ValueMemory, n: int, least: float, left: float, outs: IntArray, ins: IntArray
) -> int:
    """Reckon each pair again, now that all who enter are known: trials go back only to those who stay outside."""
    means = memory.beliefs.means
    for pair in range(n):
        memory.standing[ins[pair]] = ENTERS
    kept = place = 0
    for pair in range(n):
        place = next_outside(memory, place)
        other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        level = 0.0 if outs[pair] == NOBODY else float(means[outs[pair]])
        if gain_of(_trial_of(parameters, memory, ins[pair], level, left, other), level, left) > least:
            outs[kept] = outs[pair]
            ins[kept] = ins[pair]
            kept += 1
            place += 1
    return kept


def next_outside(memory: ValueMemory, place: int) -> int:
    """Give the place, from this one on, of the next worker outside who does not enter."""
    while place < memory.numbers[OUTSIDE] and memory.standing[memory.outside[place]] == ENTERS:
        place += 1
    return place


def _learning_pays(memory: ValueMemory, leaver: int, trial: Trial, gain: float, left: float) -> bool:
    """Say whether to see more of the leaver before deciding."""
    beliefs = memory.beliefs
    mean, variance, noise = float(beliefs.means[leaver]), float(beliefs.variances[leaver]), float(beliefs.pool[NOISE])
    for multiple in range(len(WAITS)):
        periods = math.ceil(WAITS[multiple] * noise / variance)
        if gain_later(trial, mean, sd_of_finding(variance, noise, periods), math.inf, left - periods) > gain:
            return True
    return False


def _needed_elsewhere(
    memory: ValueMemory,
    roster: RosterArrays,
    entrant: int,
    hopeful: int,
    level: float,
    trial: Trial,
    gain: float,
    left_then: float,
) -> bool:
    """Say whether to keep the entrant for a station whose own entrant, still on the way, may well turn out worse."""
    beliefs = memory.beliefs
    stations, worst = 0, NOBODY
    for slot in range(roster.counts[PENDING]):
        coming = roster.pending_in[slot]
        if beliefs.means[coming] < level:
            stations += 1
            if worst == NOBODY or beliefs.means[coming] < beliefs.means[worst]:
                worst = coming
    if stations == 0:
        return False
    better = hopeful * chance_above(trial.mean, math.sqrt(beliefs.variances[entrant]), level)
    if better > stations:
        return False
    sd = math.sqrt(beliefs.variances[worst])
    return gain_later(trial, float(beliefs.means[worst]), sd, level, left_then - 1.0) > gain


@dataclass(frozen=True)
class ValueState:
    """What the policy remembers: when to look again, the key of its queue, and who came with data of unknown spread.

    `known` counts the workers looked at for such data.
    """

    settled: bool
    look_again: int
    stream_key: int
    spared_workers: tuple[int, ...] = ()
    spared_counts: tuple[int, ...] = ()
    spared_sums: tuple[float, ...] = ()
    known: int = 0


@dataclass(frozen=True)
class Belief:
    """What is thought of a worker's mean output: expected value and standard deviation; an empty station has both 0."""

    mean: float
    sd: float


@dataclass(frozen=True)
class PoolBelief:
    """What is thought of the pool: its centre, the spread between workers, and that of a worker's own output."""

    centre: float
    between_sd: float
    noise_sd: float


@dataclass(frozen=True)
class ValueReason:
    """Why a pair was proposed, in numbers.

    `chance_better` is the chance that the incoming worker's mean is above the outgoing one's. `gain` is the expected
    gain in output over the `periods` that the incoming worker can be expected to stay, counting what it costs to undo a
    trial that fails after `trial` periods, to the `fallback` a period; what is left after the fee is the value.
    """

    out: int
    into: int
    out_belief: Belief
    in_belief: Belief
    chance_better: float
    periods: float
    trial: float
    fallback: float
    gain: float
    fee: float

    @property
    def value(self) -> float:
        """What the replacement is expected to bring, its fee paid."""
        return self.gain - self.fee


@dataclass(frozen=True)
class ValueOfReplacement(Policy[ValueState]):
    """Makes the replacements whose expected gain over the periods left exceeds the fees, and no others.

    The gain must exceed the fees by `margin` fees: what looks barely worth its fee is where the beliefs err most, and
    where least is lost by keeping. What output varies by is guessed, as the standard deviation `noise_guess` (the
    largest there is) with the weight of `guess_weight` observations, and learned; so are the pool's centre and spread.
    Who knows them may tell them: `centre`, `between_sd` and `noise_sd` are then taken for certain. Where nothing is
    pending and nothing pays, the policy looks again after the least-seen active worker was seen one `recheck`-th more.
    """

    margin: float = 1.0
    noise_guess: float = 0.5
    guess_weight: float = 4.0
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    recheck: int = 16
    state_type: ClassVar[type[ValueState]] = ValueState

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        real("noise_guess", self.noise_guess, 0.0, 0.5, above=True)
        real("guess_weight", self.guess_weight, 0.0, 1e6, above=True)
        whole("recheck", self.recheck, 1, MOST)
        if self.centre is not None:
            real("centre", self.centre, 0.0, 1.0)
        if self.between_sd is not None:
            real("between_sd", self.between_sd, 0.001, 0.5)
        if self.noise_sd is not None:
            real("noise_sd", self.noise_sd, 0.0, 0.5)

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "value-of-replacement"

    def parameters(self, setting: Setting) -> FloatArray:
        """Give the numbers that the rule takes."""
        told = (LEARN if number is None else number for number in (self.centre, self.between_sd, self.noise_sd))
        own, assumed = (self.recheck, self.margin), (self.noise_guess, self.guess_weight, *told)
        return np.array([*own, setting.horizon, setting.cost, setting.mean_delay, *assumed], dtype=np.float64)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> ValueState:
        """Begin, noting whose earlier output came without its spread: its squares then equal its sums."""
        return _sparing_newcomers(ValueState(settled=False, look_again=0, stream_key=stream_key), situation)

    def decide(self, state: ValueState, situation: Situation) -> tuple[list[Pair], ValueState]:
        """Ask for the replacements that pay and are not better decided later."""
        if nothing_to_ask((int(state.settled), state.look_again), situation.period):
            return [], state
        memory, team = _memory(state, situation), situation.roster.team
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = decide_value(self.parameters(situation.setting), memory, situation.period, _facts(situation), outs, ins)
        state = replace(state, settled=bool(memory.numbers[SETTLED]), look_again=int(memory.numbers[NEXT]))
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def observe(self, state: ValueState, report: Report) -> ValueState:
        """Look again after anything came about or failed."""
        return replace(state, settled=False) if report.completed or report.failed else state

    def revise(self, state: ValueState, situation: Situation) -> ValueState:
        """Look again after any change; earlier output of newcomers came without its spread too."""
        return _sparing_newcomers(replace(state, settled=False), situation)

    def beliefs(self, state: ValueState, situation: Situation) -> tuple[PoolBelief, list[Belief]]:
        """Show what is thought of the pool and of everybody's mean output."""
        known, assumed = _memory(state, situation).beliefs, _assumed(self.parameters(situation.setting))
        beliefs = learned(situation.estimates, known.spared_counts, known.spared_sums, assumed)
        pool = PoolBelief(float(beliefs.pool[CENTRE]), math.sqrt(beliefs.pool[BETWEEN]), math.sqrt(beliefs.pool[NOISE]))
        pairs = zip(beliefs.means, beliefs.variances, strict=True)
        return pool, [Belief(mean, math.sqrt(variance)) for mean, variance in pairs]

    def reasons(self, state: ValueState, situation: Situation, pairs: Sequence[Pair]) -> list[ValueReason]:
        """Give, for each pair, what spoke for it at the start of the situation's period.

        `pairs` are all that were proposed together: each counts on somebody else outside to go back to.
        """
        parameters, memory = self.parameters(situation.setting), _memory(state, situation)
        left = periods_left(parameters, situation.period)
        known = memory.beliefs
        beliefs = learned(situation.estimates, known.spared_counts, known.spared_sums, _assumed(parameters))
        memory = memory._replace(beliefs=_plain(beliefs))
        _rank_outside(memory, _facts(situation))
        means, variances = memory.beliefs.means, memory.beliefs.variances
        for _, into in pairs:
            memory.standing[into] = ENTERS
        reasons, place = [], 0
        for out, into in pairs:
            leaving = Belief(0.0, 0.0) if out == NOBODY else Belief(float(means[out]), math.sqrt(variances[out]))
            entering = Belief(float(means[into]), math.sqrt(variances[into]))
            place = next_outside(memory, place)
            other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
            place += 1
            trial = _trial_of(parameters, memory, into, leaving.mean, left, other)
            reasons.append(
                ValueReason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=chance_above(entering.mean, math.hypot(leaving.sd, entering.sd), leaving.mean),
                    periods=left,
                    trial=trial.length,
                    fallback=max(other, leaving.mean),
                    gain=gain_of(trial, leaving.mean, left) + trial.fee,
                    fee=trial.fee,
                )
            )
        return reasons


def _sparing_newcomers(state: ValueState, situation: Situation) -> ValueState:
    """Note which of the workers not known before came with output whose spread is not known; all, where it is told."""
    if situation.prior is not None:
        state = replace(state, spared_workers=(), spared_counts=(), spared_sums=(), known=0)
    counts, sums, squares = (array.tolist() for array in situation.prior or situation.estimates)
    news = range(state.known, len(counts))
    spared = [worker for worker in news if counts[worker] > 0 and squares[worker] == sums[worker]]
    return replace(
        state,
        spared_workers=(*state.spared_workers, *spared),
        spared_counts=(*state.spared_counts, *(counts[worker] for worker in spared)),
        spared_sums=(*state.spared_sums, *(sums[worker] for worker in spared)),
        known=len(counts),
    )


def _facts(situation: Situation) -> Facts:
    return _plain(Facts(situation.roster.arrays, situation.estimates, situation.may_enter, situation.may_leave))


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def _plain(arrays: Arrays) -> Arrays:
    """Give a named tuple of arrays as one of lists, which plain Python reads and writes several times as fast."""
    lists = (item.tolist() if isinstance(item, np.ndarray) else _plain(item) for item in arrays)
    return type(arrays)(*lists)


def _memory(state: ValueState, situation: Situation) -> ValueMemory:
    workers = situation.setting.workers
    counts, sums = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.float64)
    counts[list(state.spared_workers)] = state.spared_counts
    sums[list(state.spared_workers)] = state.spared_sums
    return _plain(fresh_value_memory(situation.roster.team, counts, sums, state.stream_key))
