"""The delayed-replacement problem of the paper's Section 3, as data."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput, one_of, real, whole
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS, DelayLaw, OutputLaw, UniformOutput
from crewlearn.problem.people import LevelPath, Presence, Ramp
from crewlearn.problem.recipes import Estimated, Recipe
from crewlearn.problem.script import Script

FEE_DUE = ("initiation", "completion")

CONVENTIONS = ("as-written", "as-released")
"""The paper's text (the default everywhere), and the code behind its printed tables."""

MOST = 10**9
MOST_PERIODS = 10**7
"""The longest horizon: simulations hold arrays with a number for each period."""
"""Upper limit on counts, periods, delays and fees: far beyond any site, and safe for 64-bit arithmetic."""


@dataclass(frozen=True)
class Setting:
    """What a policy is told about the problem: k workers, team of m, horizon T, cost c, mean delay omega-bar.

    A live pool may be smaller than its team, so `workers` need not exceed `team` here; in a `Problem` it must.
    """

    workers: int
    team: int
    horizon: int
    cost: float
    mean_delay: float

    def __post_init__(self) -> None:
        whole("workers", self.workers, 0, MOST)
        whole("team", self.team, 1, MOST)
        whole("horizon", self.horizon, 1)  # unbounded for theory; a problem's horizon is bounded
        real("cost", self.cost, 0.0, MOST)
        real("mean_delay", self.mean_delay, 0.0, MOST)


@dataclass(frozen=True)
class Pool:
    """Workers with given means in [0, 1] and, optionally, prior data: n earlier observations and their mean.

    >>> Pool(means=(0.4, 0.8), prior_n=(0, 12), prior_mean=(0.0, 0.75)).count
    2
    """

    means: tuple[float, ...]
    prior_n: tuple[int, ...] = ()
    prior_mean: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        checks: dict[str, Callable[[str, object], float]] = {
            "means": lambda name, value: real(name, value, 0.0, 1.0),
            "prior_n": lambda name, value: whole(name, value, 0, MOST),
            "prior_mean": lambda name, value: real(name, value, 0.0, 1.0),
        }
        for name, check in checks.items():
            values = getattr(self, name)
            if not isinstance(values, (list, tuple, np.ndarray)):
                raise InvalidInput(f"[workers] {name}", values, "must be a list with one entry for each worker")
            checked = tuple(check(f"[workers] {name}[{index}]", value) for index, value in enumerate(values))
            if checked and len(checked) != len(self.means):
                raise InvalidInput(
                    f"[workers] {name}",
                    list(checked),
                    f"must have {len(self.means)} entries, one for each worker",
                )
            object.__setattr__(self, name, checked)
        if bool(self.prior_n) != bool(self.prior_mean):
            missing, present = ("prior_mean", "prior_n") if self.prior_n else ("prior_n", "prior_mean")
            raise InvalidInput(
                f"[workers] {missing}", [], f"must be given together with {present}, one entry for each worker"
            )

    @property
    def count(self) -> int:
        """Number of workers, k."""
        return len(self.means)


@dataclass(frozen=True)
class Start:
    """The state in which every run begins, in place of a random team and the pool's prior data.

    - `stations`: the worker at each station, -1 if it is empty.
    - `counts`, `sums`, `squares`: number, sum and sum of squares of each worker's observed outputs.
    - `prior_counts`, `prior_sums`: the part of `counts` and `sums` whose spread is unknown; by default none.
    - `may_enter`, `may_leave`: whether each worker may be hired and let go; by default everybody may.

    In the first `warmup` periods the team works on record before the policy may act; results count from there. In its
    periods `turnover`, 2 `turnover`, ... one place changes hands at random, unpaid and at once; quits are refilled
    likewise. The share `gone` of those leavers cannot come back. Turnover leaves the workers `spared` alone. `tenure`
    says for how many periods each worker has held a station before the first; left out, for none.

    >>> Start(stations=(1, -1), counts=(0, 2), sums=(0.0, 1.1), squares=(0.0, 0.61)).stations
    (1, -1)
    """

    stations: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    sums: tuple[float, ...] = ()
    squares: tuple[float, ...] = ()
    may_enter: tuple[bool, ...] = ()
    may_leave: tuple[bool, ...] = ()
    prior_counts: tuple[int, ...] = ()
    prior_sums: tuple[float, ...] = ()
    warmup: int = 0
    turnover: int = 0
    gone: float = 0.0
    spared: tuple[int, ...] = ()
    tenure: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        whole("[start] warmup", self.warmup, 0, MOST)
        whole("[start] turnover", self.turnover, 0, MOST)
        real("[start] gone", self.gone, 0.0, 1.0)
        checks: dict[str, Callable[[str, object], float]] = {
            "stations": lambda name, value: whole(name, value, NOBODY, MOST),
            "counts": lambda name, value: whole(name, value, 0, MOST),
            "sums": lambda name, value: real(name, value, 0.0, MOST),
            "squares": lambda name, value: real(name, value, 0.0, MOST),
            "may_enter": _truth,
            "may_leave": _truth,
            "prior_counts": lambda name, value: whole(name, value, 0, MOST),
            "prior_sums": lambda name, value: real(name, value, 0.0, MOST),
            "spared": lambda name, value: whole(name, value, 0, MOST),
            "tenure": lambda name, value: whole(name, value, 0, MOST),
        }
        for name, check in checks.items():
            values = getattr(self, name)
            if not isinstance(values, (list, tuple, np.ndarray)):
                raise InvalidInput(f"[start] {name}", values, "must be a list")
            checked = tuple(check(f"[start] {name}[{index}]", value) for index, value in enumerate(values))
            object.__setattr__(self, name, checked)
        if not len(self.counts) == len(self.sums) == len(self.squares):
            raise InvalidInput(
                "[start] counts", list(self.counts), "counts, sums and squares go together, one entry for each worker"
            )
        if len(self.prior_counts) != len(self.prior_sums) or len(self.prior_counts) not in (0, len(self.counts)):
            remedy = (
                "prior_counts and prior_sums go together, one entry for each worker, and are part of counts and sums"
            )
            raise InvalidInput("[start] prior_counts", list(self.prior_counts), remedy)
        for worker, (part, count) in enumerate(zip(self.prior_counts, self.counts, strict=False)):
            if part > count:
                remedy = f"is part of counts[{worker}] and must not exceed it: {count}"
                raise InvalidInput(f"[start] prior_counts[{worker}]", part, remedy)
        seated = [worker for worker in self.stations if worker != NOBODY]
        if len(set(seated)) != len(seated):
            raise InvalidInput("[start] stations", list(self.stations), "must name each worker once")

    def check(self, workers: int, team: int, horizon: int) -> None:
        """Raise if this does not fit a problem with so many workers, stations and periods."""
        if self.warmup >= horizon:
            raise InvalidInput("[start] warmup", self.warmup, f"must end before the horizon: at most {horizon - 1}")
        for worker in self.spared:
            if worker >= workers:
                raise InvalidInput("[start] spared", worker, f"must be a worker from 0 to {workers - 1}")
        if self.stations and len(self.stations) != team:
            raise InvalidInput("[start] stations", list(self.stations), f"must have {team} entries, one per station")
        if self.stations and max(self.stations) >= workers:
            raise InvalidInput(
                "[start] stations", max(self.stations), f"must be a worker from 0 to {workers - 1}, or -1"
            )
        for name in ("counts", "may_enter", "may_leave", "tenure"):
            entries = getattr(self, name)
            if entries and len(entries) != workers:
                raise InvalidInput(
                    f"[start] {name}", list(entries), f"must have {workers} entries, one for each worker"
                )


def _check_kind(name: str, part: object, kinds: tuple[type[object], ...]) -> None:
    if not isinstance(part, kinds):
        names = ", ".join(kind.__name__ for kind in kinds)
        remedy = f"must be one of {names}" if len(kinds) > 1 else f"must be a {names}, or left out"
        raise InvalidInput(name, part, remedy)


def _truth(field: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(field, value, "must be true or false")
    return bool(value)


@dataclass(frozen=True)
class Problem:
    """A delayed-replacement bandit: the pool of workers, their output, and the cost and delay of replacements.

    `conventions` are those that the problem was stated under. They change nothing in the world; policies given by name
    follow them unless told otherwise. With `rolling`, policies are told that so many periods are always ahead.

    `ramp`, `drift` and `presence` say how people change; left out, they do not. A `script` gives parts of the floor
    instead of drawing them; a problem file cannot hold it.

    >>> from crewlearn.problem.laws import GeometricDelay
    >>> problem = Problem(team=1, horizon=30, cost=2.0, workers=Pool((0.4, 0.8)), delay=GeometricDelay(mean=3.0))
    >>> problem.setting
    Setting(workers=2, team=1, horizon=30, cost=2.0, mean_delay=3.0)
    """

    team: int
    horizon: int
    cost: float
    workers: Pool | Recipe | Estimated
    delay: DelayLaw
    output: OutputLaw = field(default_factory=UniformOutput)
    fee_due: str = "initiation"
    assumed_mean_delay: float | None = None
    start: Start | None = None
    conventions: str = CONVENTIONS[0]
    rolling: int | None = None
    ramp: Ramp | None = None
    drift: LevelPath | None = None
    presence: Presence | None = None
    script: Script | None = None

    def __post_init__(self) -> None:
        _check_kind("workers", self.workers, (Pool, Recipe, Estimated))
        _check_kind("delay", self.delay, (*DELAY_LAWS, DelayLaw))
        _check_kind("output", self.output, (*OUTPUT_LAWS, OutputLaw))
        tables = {"start": Start, "ramp": Ramp, "drift": LevelPath, "presence": Presence, "script": Script}
        for name, kind in tables.items():
            if getattr(self, name) is not None:
                _check_kind(name, getattr(self, name), (kind,))
        whole("team", self.team, 1, MOST)
        whole("horizon", self.horizon, 1, MOST_PERIODS)
        real("cost", self.cost, 0.0, MOST)
        if self.rolling is not None:
            whole("rolling", self.rolling, 1, MOST)
        if self.start is not None:
            self.start.check(self.workers.count, self.team, self.horizon)
        if (self.start is None or not self.start.stations) and self.team >= self.workers.count:
            raise InvalidInput(
                "team",
                self.team,
                f"must be below the number of workers, {self.workers.count}: someone must be left to hire",
            )
        one_of("fee_due", self.fee_due, FEE_DUE)
        one_of("conventions", self.conventions, CONVENTIONS)
        if self.assumed_mean_delay is not None:
            real("assumed_mean_delay", self.assumed_mean_delay, 0.0, MOST)
        self.delay.form(self.workers.count)  # a list of availabilities must fit the workers
        self.output.form()  # a law of a user's own must say how it draws
        self.output.check(self.horizon)
        if self.ramp is not None:
            self.ramp.check(self.workers.count)
        if self.drift is not None:
            self.drift.own_step()
            self.drift.check(self.workers.count, self.horizon)
        if self.presence is not None:
            self.presence.check(self.horizon)
        if self.script is not None:
            self.script.check(self.workers.count, self.horizon)

    @cached_property
    def setting(self) -> Setting:
        """What policies are told in their first period."""
        return self.setting_in(1)

    def setting_in(self, period: int) -> Setting:
        """Return what policies are told in a period of theirs, which count from 1 after the warm-up."""
        mean_delay = self.delay.mean_delay if self.assumed_mean_delay is None else self.assumed_mean_delay
        ahead = self.horizon - self.warmup if self.rolling is None else max(1, period - 1 + self.rolling)
        return Setting(self.workers.count, self.team, ahead, float(self.cost), float(mean_delay))

    @property
    def warmup(self) -> int:
        """The periods on record before the policy may act."""
        return 0 if self.start is None else self.start.warmup

    @property
    def changes(self) -> bool:
        """Whether people, days or what policies are told of the horizon change; tables at neutral values do nothing."""
        people = any(table is not None and not table.neutral for table in (self.ramp, self.drift, self.presence))
        given = self.rolling is not None or self.script is not None
        return people or given or self.warmup > 0 or self.output.days_differ

    @property
    def laws(self) -> tuple[OutputLaw | DelayLaw | LevelPath, ...]:
        """The output law, the delay law and, if levels move, their path."""
        laws: tuple[OutputLaw | DelayLaw | LevelPath, ...] = (self.output, self.delay)
        return laws if self.drift is None else (*laws, self.drift)

    @property
    def first_stations(self) -> tuple[int, ...]:
        """The worker at each station in the first period; empty where each run draws a team."""
        return () if self.start is None else self.start.stations

    def means(self, seed: int = 0, run: int = 0) -> FloatArray:
        """Return the workers' hidden mean outputs in a run of a simulation with the given seed."""
        if isinstance(self.workers, Recipe):
            return self.workers.means(seed, run)
        if isinstance(self.workers, Estimated):
            return self.workers.means_of_run(seed, run)
        return np.array(self.workers.means, dtype=np.float64)

    @property
    def drawn_per_run(self) -> bool:
        """Whether each run draws its own pool."""
        return isinstance(self.workers, Estimated) or (isinstance(self.workers, Recipe) and self.workers.per_run)

    def seen_before(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the count, sum and sum of squares of each worker's outputs observed before the run.

        The spread of the pool's prior data is unknown. It is taken as the largest possible for output in [0, 1] with
        this mean: every output 0 or 1, so that the sum of squares equals the sum. `unknown_spread` returns this part.
        """
        if self.start is not None and self.start.counts:
            counts = np.array(self.start.counts, dtype=np.int64)
            return counts, np.array(self.start.sums, dtype=np.float64), np.array(self.start.squares, dtype=np.float64)
        counts, means = self.prior_data()
        sums = counts * means
        return counts, sums, sums.copy()

    def unknown_spread(self) -> tuple[IntArray, FloatArray]:
        """Return the count and sum of each worker's outputs observed before the run whose spread is unknown."""
        if self.start is None or not self.start.counts:
            counts, sums, _ = self.seen_before()
            return counts, sums
        nothing = (0,) * self.workers.count
        counts = np.array(self.start.prior_counts or nothing, dtype=np.int64)
        return counts, np.array(self.start.prior_sums or nothing, dtype=np.float64)

    def may_enter(self) -> BoolArray:
        """Return whether each worker may be hired."""
        allowed = () if self.start is None else self.start.may_enter
        return np.array(allowed or [True] * self.workers.count, dtype=np.bool_)

    def may_leave(self) -> BoolArray:
        """Return whether each worker may be let go."""
        allowed = () if self.start is None else self.start.may_leave
        return np.array(allowed or [True] * self.workers.count, dtype=np.bool_)

    def tenure(self) -> IntArray:
        """Return for how many periods each has held a station before the first."""
        tenure = () if self.start is None else self.start.tenure
        return np.array(tenure or [0] * self.workers.count, dtype=np.int64)

    def prior_data(self) -> tuple[IntArray, FloatArray]:
        """Return the prior data: each worker's number of earlier observations, and their mean."""
        if isinstance(self.workers, Pool) and self.workers.prior_n:
            return np.array(self.workers.prior_n, dtype=np.int64), np.array(self.workers.prior_mean, dtype=np.float64)
        return np.zeros(self.workers.count, dtype=np.int64), np.zeros(self.workers.count)
