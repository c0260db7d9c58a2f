"""The exact optimum of tiny problems, by going through every decision and every chance: independent of the limit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations, product

NOBODY = -1

Fact = float | tuple[int, int] | None
"""What is known of a worker: the mean, days worked and successes, or nothing."""

Known = tuple[Fact, ...]

State = tuple[int, tuple[int, ...], tuple[tuple[int, int, int], ...], Known]
"""Period from 0, workers at the stations, pending (out, in, due), and what is known so far."""


@dataclass
class Tiny:
    """A problem with noiseless output, so that a period of work tells the mean, and delays known when drawn.

    `means` and `delays` map values to probabilities; a delay beyond the horizon never ends. With `named`, the leaver is
    named with the hire; else it may be left open.
    """

    workers: int
    team: int
    horizon: int
    cost: float
    means: Mapping[float, float]
    delays: Mapping[int, float]
    named: bool = True
    at_completion: bool = False
    _values: dict[State, float] = field(default_factory=dict)

    def optimum(self) -> float:
        """Return the most that any policy earns in expectation, from the first workers as the team."""
        return self._value((0, tuple(range(self.team)), (), (None,) * self.workers))

    def _value(self, state: State) -> float:
        if state[0] == self.horizon:
            return 0.0
        if state not in self._values:
            self._values[state] = max(self._after_request(state, pairs) for pairs in self._requests(state))
        return self._values[state]

    def _requests(self, state: State) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield every legal set of pairs."""
        _, team, pending, _ = state
        busy = {worker for out, into, _ in pending for worker in (out, into)}
        ins = [worker for worker in range(self.workers) if worker not in team and worker not in busy]
        outs = [worker for worker in team if worker not in busy] + ([] if self.named else [NOBODY] * self.team)
        for number in range(min(len(ins), self.team - len(pending)) + 1):
            for chosen in combinations(ins, number):
                for leavers in set(permutations(outs, number)):
                    yield tuple(zip(leavers, chosen, strict=True))

    def _after_request(self, state: State, pairs: tuple[tuple[int, int], ...]) -> float:
        period, team, pending, known = state
        fees = 0.0 if self.at_completion else self.cost * len(pairs)
        total = 0.0
        for drawn in product(self.delays.items(), repeat=len(pairs)):
            chance = 1.0
            begun = list(pending)
            for (out, into), (delay, probability) in zip(pairs, drawn, strict=True):
                chance *= probability
                begun.append((out, into, period + delay))
            total += chance * self._arrive(period, team, tuple(begun), known)
        return total - fees

    def _arrive(
        self,
        period: int,
        team: tuple[int, ...],
        pending: tuple[tuple[int, int, int], ...],
        known: Known,
    ) -> float:
        """Let the first hire that is due start, in the best way; work when none is left."""
        due = next((pair for pair in pending if pair[2] <= period), None)
        if due is None:
            return self._work(period, team, pending, known)
        rest = tuple(pair for pair in pending if pair != due)
        out, into, _ = due
        spoken_for = {pair[0] for pair in rest}
        leavers = [out] if out != NOBODY else [NOBODY, *(worker for worker in team if worker not in spoken_for)]
        best = -float("inf")
        for leaver in leavers:  # NOBODY: nobody makes room, and the hire lapses
            after = team if leaver == NOBODY else tuple(sorted({*team, into} - {leaver}))
            fee = self.cost if self.at_completion and leaver != NOBODY else 0.0
            best = max(best, self._arrive(period, after, rest, known) - fee)
        return best

    def _work(
        self,
        period: int,
        team: tuple[int, ...],
        pending: tuple[tuple[int, int, int], ...],
        known: Known,
    ) -> float:
        total = 0.0
        for lessons in product(*(self._lessons(known[worker]) for worker in team)):
            chance, learned, made = 1.0, list(known), 0.0
            for worker, (probability, output, lesson) in zip(team, lessons, strict=True):
                chance *= probability
                made += output
                learned[worker] = lesson
            total += chance * (made + self._value((period + 1, team, pending, tuple(learned))))
        return total

    def _lessons(self, known: Fact) -> list[tuple[float, float, Fact]]:
        """Return what a period of work may show: its chance, the output, and what is known then."""
        if known is None:
            return [(probability, mean, mean) for mean, probability in self.means.items()]
        assert isinstance(known, float)
        return [(1.0, known, known)]


@dataclass
class TinyFlips(Tiny):
    """A problem with 0/1 output, so that only a law of the mean is known after any number of days."""

    def _lessons(self, known: Fact) -> list[tuple[float, float, Fact]]:
        days, won = known if isinstance(known, tuple) else (0, 0)
        weights = {mean: chance * mean**won * (1.0 - mean) ** (days - won) for mean, chance in self.means.items()}
        success = sum(mean * weight for mean, weight in weights.items()) / sum(weights.values())
        return [(success, 1.0, (days + 1, won + 1)), (1.0 - success, 0.0, (days + 1, won))]
