"""A site as a problem from sums alone: each worker's number of days, mean and spread, without the days themselves.

It serves sites with too few days on record to learn from them how people change. The simulation simplifies the floor:

- everybody works every period, and day effects count as each worker's own noise;
- nobody declines, leaves or joins;
- a policy starts without memory, but with everything observed; one that learns by day is given it as earlier data.
"""

from collections.abc import Sequence
from dataclasses import replace

from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import POOL, Site
from crewlearn.planning.limits import periods_left
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import DelayLaw, GeometricDelay, NoDelay, TruncatedNormalOutput
from crewlearn.problem.model import Problem, Start
from crewlearn.problem.recipes import Estimated


def summed_up(problem: Problem) -> Problem:
    """Return the problem with everything observed as earlier data, of which only count and mean are known."""
    start = problem.start
    assert start is not None
    return replace(problem, start=replace(start, prior_counts=start.counts, prior_sums=start.sums))


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
        delay=delay_law(site.mean_delay if config.learn_delay else config.mean_delay),
        output=TruncatedNormalOutput(noise),
        fee_due=config.fee_due,
        start=Start(
            stations=stations_of(site, config.team, means),
            counts=tuple(counts),
            sums=tuple(sums),
            squares=_squares(site, noise),
            prior_counts=tuple(prior_counts),
            prior_sums=tuple(prior_sums),
            may_enter=tuple(worker.status == POOL for worker in site.workers),
            may_leave=tuple(not worker.pinned for worker in site.workers),
            tenure=tenure_of(site) if config.least_tenure > 0 else (),
        ),
    )


def delay_law(mean: float) -> DelayLaw:
    """Return a delay law with the site's mean; if the mean is at least 1, hires start in a later period."""
    return GeometricDelay(mean, first=int(mean >= 1.0)) if mean > 0.0 else NoDelay()


def stations_of(site: Site, team: int, means: Sequence[float]) -> tuple[int, ...]:
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


def tenure_of(site: Site) -> tuple[int, ...]:
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
