"""What if: a site's setting simulated with each policy and with keeping the team, from what is known now.

Nobody knows the workers' true means. So every simulated world draws them anew from what is thought of each worker, and
all policies are played in the same worlds, from today's team and with today's record. What they earn, on average and in
how many of the worlds, is what can honestly be said in advance.

A world leaves out what a floor has: everybody works every period, a good or bad day for all counts as each worker's own
noise, nobody declines, leaves or joins, and the brakes and fees of single workers do not act. Replacements under way
count as started: all policies have them, so comparisons hardly change. A policy begins anew, knowing what was seen. An
open-ended site is looked at over its rolling horizon, as if it ended then.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import POOL, UNDER_WAY, Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.engine.local import simulate
from crewlearn.engine.results import PolicyResult, SimulationResult, Summary, student_95
from crewlearn.engine.world import best_output
from crewlearn.planning.limits import KEEP, check, periods_left
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.problem.laws import DelayLaw, GeometricDelay, NoDelay, TruncatedNormalOutput
from crewlearn.problem.model import Problem, Start
from crewlearn.problem.recipes import Estimated

COLUMNS = ("policy", "output", "fees", "net", "more than keeping", "95% interval", "better in", "replacements")
"""What the columns of `Plan.rows` are."""


@dataclass(frozen=True)
class Expected:
    """An expected amount of money.

    `low` to `high` is the 95% interval of the expectation, which shrinks with more runs; from `worst` to `best` it came
    out in the middle 95% of the simulated worlds, which no number of runs makes narrower.
    """

    mean: float
    low: float
    high: float
    worst: float
    best: float

    @classmethod
    def of(cls, values: FloatArray) -> "Expected":
        """Summarise what came out in each world."""
        summary = Summary.of(values)
        reach = student_95(len(values) - 1) * summary.stderr
        worst, best = (float(end) for end in np.percentile(values, (2.5, 97.5)))
        return cls(summary.mean, summary.mean - reach, summary.mean + reach, worst, best)


@dataclass(frozen=True)
class Prospect:
    """What a policy is expected to bring over the periods looked at, in money.

    `gain` is its net less that of keeping the team, world by world. `chance_better` and `chance_worse` are the shares
    of worlds in which it earned more and less than keeping the team; in the rest both earned the same. Output counts
    from the low end of the site's range, as the money so far does.
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
    """Policies played in the same worlds drawn from what is known of a site; `own` is the site's policy.

    `prospects` begin with what is expected to earn most; of equals, keeping the team comes first. `lead` is by how much
    the first is ahead of the second, world by world; None if there is no second. `notes` say what this site has that
    the simulation leaves out.
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
        """Return what a policy is expected to bring."""
        one_of("policy", policy, [prospect.policy for prospect in self.prospects])
        return next(prospect for prospect in self.prospects if prospect.policy == policy)

    @property
    def headline(self) -> str:
        """The result in a line. A difference whose 95% interval holds 0 may be none."""
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
        """How reliable the result is, in words."""
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
        """Return the table for people, one row a policy, its columns named by `COLUMNS`."""
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
    """Play policies (the site's own and `limits.COMPARED`, if left out) in worlds drawn from what is known of the site.

    Keeping the team is always played too. `changes` are settings to try: team, fee (in money), horizon, mean_delay,
    policy. A larger team has empty stations to fill; a smaller one keeps those who are expected to put out most.
    `progress` is called with the number of runs just finished, several times a second, also with 0; an exception that
    it raises ends the work.
    """
    config, chosen = check(site, policies, runs, changes)
    problem = problem_of(site, config)
    result = simulate(problem, chosen, runs, seed, conventions=config.conventions, progress=progress)
    owed = _owed(site)
    net = {name: earned - owed for name, earned in _earned(config, problem, result, progress).items()}
    prospects = sorted(
        (_prospect(config, problem, result.policies[name], name, net[name], net[KEEP], owed) for name in chosen),
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
        notes=tuple(_notes(site, config, problem)),
    )


def problem_of(site: Site, config: SiteConfig | None = None) -> Problem:
    """Return a site as a problem to simulate: today's team and record, everybody's mean as uncertain as it is now."""
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
        ),
    )


def _delay(mean: float) -> DelayLaw:
    """Return delays with the site's mean: from the next period on where the mean allows, as offers take a night."""
    return GeometricDelay(mean, first=int(mean >= 1.0)) if mean > 0.0 else NoDelay()


def _stations(site: Site, team: int, means: Sequence[float]) -> tuple[int, ...]:
    """Seat today's team, with those on the way in their places, at so many stations."""
    stations = list(site.roster.stations)
    going = {pending.out for pending in site.roster.pending}
    for pending in site.roster.pending:
        leaver = pending.out
        if leaver == NOBODY and NOBODY not in stations:  # open until arrival: then it is most likely the weakest
            staying = [worker for worker in stations if worker not in going and not site.workers[worker].pinned]
            leaver = min(staying or stations, key=lambda worker: means[worker])
        stations[stations.index(leaver)] = pending.into
        going.add(pending.into)
    seated = [worker for worker in stations if worker != NOBODY]
    if team < len(stations):
        kept = sorted(seated, key=lambda worker: (not site.workers[worker].pinned, -means[worker]))[:team]
        stations = [worker for worker in seated if worker in kept]
    return (*stations, *[NOBODY] * (team - len(stations)))


def _squares(site: Site, noise: float) -> tuple[float, ...]:
    """Return everybody's sum of squares; of prior data mixed with own output, the spread is taken as that of the pool.

    Prior data alone are told to policies as such, with a spread that nobody knows.
    """
    squares = site.estimates.squares.tolist()
    for number, worker in enumerate(site.workers):
        if 0 < worker.prior_n < site.estimates.counts[number]:
            total = worker.prior_n * worker.prior_mean
            squares[number] += total * worker.prior_mean + worker.prior_n * noise * noise - total
    return tuple(squares)


def _owed(site: Site) -> float:
    """Return the fees, in money, of replacements under way that fall due when they start, whatever is decided now."""
    return math.fsum(proposal.fee for proposal in site.open_proposals(*UNDER_WAY) if not proposal.paid)


def _earned(
    config: SiteConfig, problem: Problem, result: SimulationResult, progress: Callable[[int], None] | None
) -> dict[str, FloatArray]:
    """Return what each policy earned in each world, its fees paid: what the best team would have, less the regret.

    A simulated world begins at the low end of the range; what the stations held at the start put out below it is added,
    so that the money is on the same footing as that of recorded output.
    """
    assert problem.start is not None
    held = problem.team - problem.start.stations.count(NOBODY)
    below = held * problem.horizon * config.units.money_of_output(0.0)
    best = []
    for run in range(result.runs):
        if progress is not None and run % 500 == 0:  # many worlds of many workers take a while
            progress(0)
        best.append(best_output(problem.means(result.seed, run), problem.team))
    ideal = np.array(best) * problem.horizon
    return {
        name: (ideal - played.regret[:, -1]) * config.units.money_of_one + below
        for name, played in result.policies.items()
    }


def _prospect(
    config: SiteConfig,
    problem: Problem,
    played: PolicyResult,
    name: str,
    net: FloatArray,
    kept: FloatArray,
    owed: float,
) -> Prospect:
    """Summarise what a policy earned in each world, against what keeping the team did."""
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
    """Yield what the simulation leaves out of this site, and what is needed to read the numbers."""
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
    if config.most_a_week is not None:
        yield f"The limit of {counted(config.most_a_week, 'replacement')} a week is not simulated."
    if config.least_tenure:
        yield f"The least tenure of {counted(config.least_tenure, 'period')} is not simulated."
    if any(worker.fee is not None and worker.fee != config.fee for worker in site.workers):
        yield "Fees of single workers are not simulated: everybody costs the site's fee."


def _money(amount: float, *, sign: bool = False) -> str:
    """Write money, cents only where they count.

    >>> _money(12345.6), _money(12.5, sign=True), _money(-0.001)
    ('12,346', '+12.50', '0')
    """
    if abs(amount) < 0.005:
        return "0"
    return f"{amount:{'+' if sign else ''},.{0 if abs(amount) >= 100.0 else 2}f}"
