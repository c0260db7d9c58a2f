"""What-if plans: a site simulated with each policy, and with keeping the team, from what is known now.

The workers' true means are unknown, so every simulated world draws them from the workers' current estimates. All
policies are played in the same worlds, from today's team and record. The result is what they earn on average, and in
which share of the worlds each beats keeping the team.

The simulation simplifies the floor:

- everybody works every period, and day effects count as each worker's own noise;
- nobody declines, leaves or joins;
- fees of single workers do not apply, and a week has five periods;
- replacements under way count as started, for all policies alike;
- a policy starts without memory, but with everything observed; one that learns by day is given it as earlier data;
- an open-ended site is simulated over its rolling horizon, as if it ended then.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import POOL, UNDER_WAY, Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.engine.local import Simulation, prepare
from crewlearn.engine.results import PolicyResult, Summary, student_95
from crewlearn.planning.limits import KEEP, check, periods_left
from crewlearn.policies.brakes import PERIODS_A_WEEK, Braked
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.problem.laws import DelayLaw, GeometricDelay, NoDelay, TruncatedNormalOutput
from crewlearn.problem.model import MOST, Problem, Start
from crewlearn.problem.recipes import Estimated

COLUMNS = ("policy", "output", "fees", "net", "more than keeping", "95% interval", "better in", "replacements")
"""The headings of `Plan.rows`."""


@dataclass(frozen=True)
class Expected:
    """An expected amount of money.

    `low` to `high` is the 95% interval of the mean, which shrinks with more runs; `worst` to `best` is the range of the
    middle 95% of the simulated worlds, which does not.
    """

    mean: float
    low: float
    high: float
    worst: float
    best: float

    @classmethod
    def of(cls, values: FloatArray) -> "Expected":
        """Summarise the amounts of all worlds."""
        summary = Summary.of(values)
        reach = student_95(len(values) - 1) * summary.stderr
        worst, best = (float(end) for end in np.percentile(values, (2.5, 97.5)))
        return cls(summary.mean, summary.mean - reach, summary.mean + reach, worst, best)


@dataclass(frozen=True)
class Prospect:
    """The expected result of a policy over the simulated periods, in money.

    `gain` is its net less that of keeping the team, world by world. `chance_better` and `chance_worse` are the shares
    of worlds in which it earned more and less than keeping the team; in the rest both earned the same. Output is valued
    as the money so far is.
    """

    policy: str
    output: Expected
    fees: float
    net: Expected
    gain: Expected
    chance_better: float
    chance_worse: float
    replacements: float


@dataclass(frozen=True)
class Plan:
    """The results of policies played in the same worlds, drawn from what is known of a site; `own` is its policy.

    `prospects` are sorted by expected net, keeping the team first among equals. `lead` is the difference between the
    first and the second, world by world; None if there is no second. `notes` say what the simulation leaves out of this
    site.
    """

    own: str
    first_period: int
    periods: int
    team: int
    fee: float
    mean_delay: float
    changes: Mapping[str, Any]
    runs: int
    seed: int
    prospects: tuple[Prospect, ...]
    lead: Expected | None
    notes: tuple[str, ...]

    @property
    def best(self) -> Prospect:
        """The policy expected to earn most."""
        return self.prospects[0]

    def prospect(self, policy: str) -> Prospect:
        """Return the expected result of a policy."""
        one_of("policy", policy, [prospect.policy for prospect in self.prospects])
        return next(prospect for prospect in self.prospects if prospect.policy == policy)

    @property
    def headline(self) -> str:
        """The result in a line; a difference whose 95% interval includes 0 is called uncertain."""
        if self.best.policy == KEEP:
            same = [
                prospect for prospect in self.prospects[1:] if not prospect.chance_better and not prospect.chance_worse
            ]
            equal = [prospect.policy for prospect in same]
            also = f"; {' and '.join(equal)} would keep it too" if equal else ""
            return f"Keeping the team is expected to earn most{also}."
        verdict = f"{self.best.policy}: {_money(self.best.gain.mean, sign=True)} against keeping the team"
        if self.best.gain.low <= 0.0:
            return f"{verdict}, but it may be no better."
        if self.lead is not None and self.lead.low <= 0.0:
            return f"{verdict}; {self.prospects[1].policy} may earn as much."
        return f"{verdict}."

    @property
    def details(self) -> str:
        """The reliability of the result, in words."""
        span = f"Expected over the next {counted(self.periods, 'period')} in {counted(self.runs, 'simulated world')}"
        if self.best.policy == KEEP:
            return f"{span}."
        best, gain = self.best, self.best.gain
        low, high = _money(gain.low, sign=True), _money(gain.high, sign=True)
        return (
            f"{span}: 95% interval {low} to {high}; better in {best.chance_better:.0%} of the worlds, worse in "
            f"{best.chance_worse:.0%}."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return a text table with one row per policy and the columns `COLUMNS`."""
        return [
            (
                f"{prospect.policy} (this site's)" if prospect.policy == self.own else prospect.policy,
                _money(prospect.output.mean),
                _money(prospect.fees),
                _money(prospect.net.mean),
                "–" if prospect.policy == KEEP else _money(prospect.gain.mean, sign=True),
                "–"
                if prospect.policy == KEEP
                else f"{_money(prospect.gain.low, sign=True)} to {_money(prospect.gain.high, sign=True)}",
                "–" if prospect.policy == KEEP else f"{prospect.chance_better:.0%}",
                f"{prospect.replacements:.1f}",
            )
            for prospect in self.prospects
        ]

    def to_json(self) -> dict[str, Any]:
        """Describe the plan as plain data."""
        plain = asdict(self)
        policies = {prospect.pop("policy"): prospect for prospect in plain.pop("prospects")}
        return {"best": self.best.policy, "headline": self.headline, **plain, "policies": policies}


def plan(
    site: Site,
    policies: Sequence[str] | None = None,
    runs: int = 500,
    seed: int = 1,
    *,
    progress: Callable[[int], None] | None = None,
    **changes: Any,
) -> Plan:
    """Play policies in worlds drawn from what is known of the site.

    By default they are the site's own and `limits.COMPARED`; keep-team is always added. `changes` are settings to try:
    team, fee (in money), horizon, mean_delay, policy. A larger team has empty stations; a smaller one keeps the workers
    with the highest expected output. `progress` is called several times a second with the number of runs just finished,
    which may be 0; an exception that it raises ends the work.
    """
    config, chosen = check(site, policies, runs, changes)
    problem = problem_of(site, config)
    simulation = prepare(problem, chosen, runs, seed, conventions=config.conventions)
    learners = [name for name, policy in simulation.policies.items() if policy.learns_by_day]
    played = _played(_held_back(simulation, config), learners, progress)
    owed = _owed(site)
    net = {name: earned - owed for name, earned in _earned(config, problem, played).items()}
    prospects = sorted(
        (_prospect(config, problem, played[name], name, net[name], net[KEEP], owed) for name in chosen),
        key=lambda prospect: (-prospect.net.mean, prospect.policy != KEEP),
    )
    first, *others = [prospect.policy for prospect in prospects]
    return Plan(
        own=config.policy,
        first_period=site.period,
        periods=problem.horizon,
        team=config.team,
        fee=config.fee,
        mean_delay=problem.setting.mean_delay,
        changes=dict(changes),
        runs=runs,
        seed=seed,
        prospects=tuple(prospects),
        lead=Expected.of(net[first] - net[others[0]]) if others else None,
        notes=(*_notes(site, config, problem), *(_note_on_learning(name) for name in learners)),
    )


def _played(
    simulation: Simulation, learners: Sequence[str], progress: Callable[[int], None] | None
) -> dict[str, PolicyResult]:
    """Play all policies in the same worlds; those that learn by day start from the record as earlier data."""
    played = dict[str, PolicyResult]()
    for by_day in (False, True):
        policies = {name: policy for name, policy in simulation.policies.items() if (name in learners) == by_day}
        problem = _summed_up(simulation.problem) if by_day else simulation.problem
        if policies:
            played |= replace(simulation, problem=problem, policies=policies).run(progress).policies
    return played


def _summed_up(problem: Problem) -> Problem:
    """Return the problem with everything observed as earlier data, of which only count and mean are known."""
    start = problem.start
    assert start is not None
    return replace(problem, start=replace(start, prior_counts=start.counts, prior_sums=start.sums))


def _note_on_learning(policy: str) -> str:
    return (
        f"{policy} learns day by day: here it starts from the days and mean of each worker as earlier data, "
        "not from what it has learned at the site."
    )


def _held_back(simulation: Simulation, config: SiteConfig) -> Simulation:
    """Return the simulation with the site's brakes on every policy."""
    most = _most_a_week(config)
    if config.least_tenure == 0 and most is None:
        return simulation
    policies = {
        label: policy if label == KEEP else Braked(policy, config.least_tenure, most)
        for label, policy in simulation.policies.items()
    }
    return replace(simulation, policies=policies)


def _most_a_week(config: SiteConfig) -> int | None:
    """Return the most replacements a week, by number or by the budget at the site's fee; None for no limit."""
    limits = [] if config.most_a_week is None else [config.most_a_week]
    if config.budget_a_week is not None and config.fee > 0.0:
        limits.append(min(MOST, math.floor(config.budget_a_week / config.fee * (1.0 + 1e-9))))
    return min(limits, default=None)


def problem_of(site: Site, config: SiteConfig | None = None) -> Problem:
    """Return a site as a problem to simulate: today's team and record, with means drawn from the estimates."""
    config = site.config if config is None else config
    if not site.workers:
        raise InvalidInput("workers", 0, "there is nobody to plan with; import workers first")
    everybody, noise = estimates_of(site)
    means = [min(max(estimate["mean"], 0.0), 1.0) for estimate in everybody]
    counts, sums = site.estimates.counts.tolist(), site.estimates.sums.tolist()
    unmixed = [worker.prior_n == count for worker, count in zip(site.workers, counts, strict=True)]
    prior_counts = [count if alone else 0 for count, alone in zip(counts, unmixed, strict=True)]
    prior_sums = [total if alone else 0.0 for total, alone in zip(sums, unmixed, strict=True)]
    return Problem(
        team=config.team,
        horizon=periods_left(site, config),
        cost=config.units.policy_cost(config.fee),
        workers=Estimated(tuple(means), tuple(estimate["sd"] for estimate in everybody)),
        delay=_delay(site.mean_delay if config.learn_delay else config.mean_delay),
        output=TruncatedNormalOutput(noise),
        fee_due=config.fee_due,
        start=Start(
            stations=_stations(site, config.team, means),
            counts=tuple(counts),
            sums=tuple(sums),
            squares=_squares(site, noise),
            prior_counts=tuple(prior_counts),
            prior_sums=tuple(prior_sums),
            may_enter=tuple(worker.status == POOL for worker in site.workers),
            may_leave=tuple(not worker.pinned for worker in site.workers),
            tenure=_tenure(site) if config.least_tenure > 0 else (),
        ),
    )


def _delay(mean: float) -> DelayLaw:
    """Return a delay law with the site's mean; if the mean is at least 1, hires start in a later period."""
    return GeometricDelay(mean, first=int(mean >= 1.0)) if mean > 0.0 else NoDelay()


def _stations(site: Site, team: int, means: Sequence[float]) -> tuple[int, ...]:
    """Return the holder of each station, with hires under way in their places."""
    stations = list(site.roster.stations)
    going = {pending.out for pending in site.roster.pending}
    for pending in site.roster.pending:
        leaver = pending.out
        if leaver == NOBODY and NOBODY not in stations:  # open until arrival: most likely the weakest leaves
            staying = [worker for worker in stations if worker not in going and not site.workers[worker].pinned]
            leaver = min(staying or stations, key=lambda worker: means[worker])
        stations[stations.index(leaver)] = pending.into
        going.add(pending.into)
    seated = [worker for worker in stations if worker != NOBODY]
    if team < len(stations):
        kept = sorted(seated, key=lambda worker: (not site.workers[worker].pinned, -means[worker]))[:team]
        stations = [worker for worker in seated if worker in kept]
    return (*stations, *[NOBODY] * (team - len(stations)))


def _tenure(site: Site) -> tuple[int, ...]:
    """Return for how many periods each worker has held a station."""
    active = set(site.roster.active)
    return tuple(max(0, site.tenure(number)) if number in active else 0 for number in range(len(site.workers)))


def _squares(site: Site, noise: float) -> tuple[float, ...]:
    """Return everybody's sum of squares; earlier data beside own output are given the pool's spread.

    Earlier data alone are passed to policies as such, with an unknown spread.
    """
    squares = site.estimates.squares.tolist()
    for number, worker in enumerate(site.workers):
        if 0 < worker.prior_n < site.estimates.counts[number]:
            total = worker.prior_n * worker.prior_mean
            squares[number] += total * worker.prior_mean + worker.prior_n * noise * noise - total
    return tuple(squares)


def _owed(site: Site) -> float:
    """Return the fees, in money, of replacements under way that will fall due when they start."""
    return math.fsum(proposal.fee for proposal in site.open_proposals(*UNDER_WAY) if not proposal.paid)


def _earned(config: SiteConfig, problem: Problem, results: Mapping[str, PolicyResult]) -> dict[str, FloatArray]:
    """Return each policy's money by world, net of fees.

    Simulated output is measured from the low end of the range; the part below it is added for the stations held at the
    start, so that the money is comparable with that of recorded output.
    """
    assert problem.start is not None
    held = problem.team - problem.start.stations.count(NOBODY)
    below = held * problem.horizon * config.units.money_of_output(0.0)
    return {name: played.net[:, -1] * config.units.money_of_one + below for name, played in results.items()}


def _prospect(
    config: SiteConfig,
    problem: Problem,
    played: PolicyResult,
    name: str,
    net: FloatArray,
    kept: FloatArray,
    owed: float,
) -> Prospect:
    """Summarise a policy's money by world, against that of keeping the team."""
    paid = played.completed if problem.fee_due == "completion" else played.replacements
    interview = played.policy.interview(problem.setting)
    fees = owed + config.fee * paid + (0.0 if interview is None else config.units.money(interview.fee))
    gain = net - kept
    return Prospect(
        policy=name,
        output=Expected.of(net + fees),
        fees=float(fees.mean()),
        net=Expected.of(net),
        gain=Expected.of(gain),
        chance_better=float((gain > 0.0).mean()),
        chance_worse=float((gain < 0.0).mean()),
        replacements=float(played.replacements.mean()),
    )


def _notes(site: Site, config: SiteConfig, problem: Problem) -> Iterator[str]:
    """Yield notes: what the simulation leaves out of this site, and how to read the numbers."""
    yield "Simulated from what is known now: workers' true output is drawn from their estimates, and nobody is absent."
    assert problem.start is not None
    empty = problem.start.stations.count(NOBODY)
    if empty:
        low = config.units.low
        more = f" An empty one counts as {low:g}, so filling it gains more than is said." if low > 0.0 else ""
        are, them = ("is", "it") if empty == 1 else ("are", "them")
        yield f"{empty} of {counted(problem.team, 'station')} {are} empty; keeping the team leaves {them} so.{more}"
    unseen = sum(
        worker.status == POOL and count == 0
        for worker, count in zip(site.workers, site.estimates.counts.tolist(), strict=True)
    )
    if unseen:
        were = "was" if unseen == 1 else "were"
        yield f"{unseen} of {counted(len(site.workers), 'worker')} {were} never seen, and taken to be like the others."
    if site.roster.pending:
        single, under_way = len(site.roster.pending) == 1, len(site.roster.pending)
        yield f"{counted(under_way, 'replacement')} under way count{'s' if single else ''} as started."
    if config.rolling:
        ahead = counted(problem.horizon, "period")
        yield f"Looked at over {ahead} as if the site ended then; later gains are not counted."
    week = len(config.calendar.weekdays) * config.calendar.shifts_per_day
    most = _most_a_week(config)
    if most is not None and week != PERIODS_A_WEEK:
        limit = counted(most, "replacement")
        yield f"The limit of {limit} a week is simulated with weeks of {PERIODS_A_WEEK} periods instead of {week}."
    if config.limits_months:
        yield "Limits a month are not simulated."
    if any(remark.until for remark in (*site.remarks.protected.values(), *site.remarks.blocked.values())):
        yield "Pins and blocks that end on a day are not simulated."
    if any(worker.fee is not None and worker.fee != config.fee for worker in site.workers):
        yield "Fees of single workers are not simulated: everybody costs the site's fee."


def _money(amount: float, *, sign: bool = False) -> str:
    """Format money, with cents only for small amounts.

    >>> _money(12345.6), _money(12.5, sign=True), _money(-0.001)
    ('12,346', '+12.50', '0')
    """
    if abs(amount) < 0.005:
        return "0"
    return f"{amount:{'+' if sign else ''},.{0 if abs(amount) >= 100.0 else 2}f}"
