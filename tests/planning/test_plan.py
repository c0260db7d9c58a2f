"""Plans of a site against limiting cases, hand arithmetic, and money in the site's units."""

import json
import re
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import APPROVED, BLOCKED, LEFT, Proposal, Site, Worker
from crewlearn.beliefs.estimates import Estimates
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.planning.plan import COLUMNS, Plan, plan, problem_of
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.roster import Roster
from support.stores import STATIONARY

VALUE, DR_UCB, KEEP = "value-of-replacement", "dr-ucb", "keep-team"
PIECES = Units(0.0, 100.0, 0.5)
CERTAIN = 10**7
"""Days of noiseless output after which a mean is known exactly."""


def site_of(
    means: list[float],
    days: list[int],
    stations: list[int],
    noise: float = 0.0,
    units: Units = PIECES,
    period: int = 1,
    **settings: Any,
) -> Site:
    """Return a site where each worker has `days` observations with exactly this mean and spread."""
    options = {
        "fee": 100.0,
        "horizon": 20,
        "mean_delay": 0.0,
        "calendar": WorkCalendar(date(2026, 1, 5)),
        **STATIONARY,
        **settings,
    }
    config = SiteConfig(team=len(stations), units=units, **options)
    counts, average = np.array(days, dtype=np.int64), np.array(means)
    estimates = Estimates(counts, counts * average, counts * (average**2 + noise**2))
    workers = [Worker(since=1) for _ in means]
    return Site(config, Roster.start(len(means), stations, len(stations)), estimates, workers, period=period)


def floor(**settings: Any) -> Site:
    """Return a site with something to learn: four stations, five workers observed and five never seen."""
    rng = np.random.default_rng(3)
    means = [0.35, 0.45, 0.5, 0.6, 0.52, *rng.uniform(0.3, 0.7, 5)]
    days = [50, 40, 60, 50, 30, 0, 0, 0, 0, 0]
    return site_of(means, days, [0, 1, 2, 3], 0.15, **{"horizon": 120, "mean_delay": 2.0, **settings})


def numbers(outcome: Plan) -> dict[str, Any]:
    return {prospect.policy: prospect for prospect in outcome.prospects}


def stations_of(site: Site, team: int) -> tuple[int, ...]:
    start = problem_of(site, replace(site.config, team=team)).start
    assert start is not None
    return start.stations


def test_known_workers_give_hand_arithmetic() -> None:
    site = site_of([0.3, 0.8], [CERTAIN, CERTAIN], [0])
    outcome = plan(site, runs=20)
    best, keep = outcome.prospect(VALUE), outcome.prospect(KEEP)
    assert outcome.best.policy in (VALUE, DR_UCB)  # both know every mean and decide the same
    assert best.output.mean == pytest.approx(0.8 * 20 * 50.0, rel=1e-4)
    assert best.fees == 100.0
    assert best.net.mean == pytest.approx(0.8 * 20 * 50.0 - 100.0, rel=1e-4)
    assert keep.net.mean == keep.output.mean == pytest.approx(0.3 * 20 * 50.0, rel=1e-4)
    assert best.gain.mean == pytest.approx(0.5 * 20 * 50.0 - 100.0, rel=1e-4)
    assert (best.replacements, best.chance_better, best.chance_worse) == (1.0, 1.0, 0.0)
    assert (keep.gain.mean, keep.chance_better, keep.fees, keep.replacements) == (0.0, 0.0, 0.0, 0.0)


def test_a_delay_costs_the_periods_waited() -> None:
    site = site_of([0.3, 0.8], [CERTAIN, CERTAIN], [0], mean_delay=3.0)
    gain = plan(site, [VALUE], runs=2000).prospect(VALUE).gain
    waited = 3.0 * (1.0 - (2.0 / 3.0) ** 20)
    assert gain.low - 5.0 < (0.5 * (20 - waited)) * 50.0 - 100.0 < gain.high + 5.0


def test_a_fee_beyond_any_gain_keeps_the_team() -> None:
    outcome = plan(floor(fee=120 * 50.0 + 1.0), runs=60)
    keep, value, optimist = (outcome.prospect(policy) for policy in (KEEP, VALUE, DR_UCB))
    assert outcome.best.policy == KEEP
    assert value.net == keep.net
    assert (value.gain.mean, value.gain.low, value.gain.high, value.replacements) == (0.0, 0.0, 0.0, 0.0)
    assert (value.chance_better, value.chance_worse) == (0.0, 0.0)
    assert outcome.headline == "Keeping the team is expected to earn most; value-of-replacement would keep it too."
    assert (optimist.chance_better, optimist.chance_worse) == (0.0, 1.0)  # it tries unseen workers at any fee


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert plan(floor(), runs=40).to_json() == plan(floor(), runs=40).to_json()
    assert plan(floor(), runs=40).best.net != plan(floor(), runs=40, seed=2).best.net


def test_all_policies_face_the_same_worlds() -> None:
    together, alone = plan(floor(), runs=40), plan(floor(), [VALUE], runs=40)
    assert [prospect.policy for prospect in alone.prospects].count(KEEP) == 1
    assert together.prospect(VALUE) == alone.prospect(VALUE)
    assert together.prospect(KEEP) == alone.prospect(KEEP)
    assert together.prospect(VALUE).gain.mean == pytest.approx(
        together.prospect(VALUE).net.mean - together.prospect(KEEP).net.mean
    )
    # the same policy under two names does the same in every world
    twins = plan(floor(), [VALUE, f"{VALUE}:recheck=16"], runs=40)
    assert twins.lead is not None
    assert (twins.lead.mean, twins.lead.worst, twins.lead.best) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("policy", [VALUE, DR_UCB, "dr-ucb-v", "interview-screen"])
@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
def test_a_plan_adds_up_what_happens_period_by_period(policy: str, fee_due: str) -> None:
    site, runs = floor(fee=40.0, fee_due=fee_due), 3
    problem, prospect = problem_of(site), plan(site, [policy], runs=runs, seed=9).prospect(policy)
    net = output = 0.0
    for run in range(runs):
        world = World(problem, 9, run)
        steps = list(play(world, make_policy(policy)))
        assert steps[0].period == 1
        assert len(steps) == 120
        output += sum(float(world.means[worker]) for step in steps for worker in step.output)
        net -= sum(step.fees for step in steps)
    net += output
    assert prospect.net.mean == pytest.approx(net / runs * 50.0)
    assert prospect.output.mean == pytest.approx(output / runs * 50.0)
    assert prospect.fees == pytest.approx((output - net) / runs * 50.0)


def test_intervals() -> None:
    few, many = plan(floor(), runs=50).prospect(VALUE), plan(floor(), runs=800).prospect(VALUE)
    for prospect in (few, many):
        for part in (prospect.net, prospect.output, prospect.gain):
            assert part.worst < part.low < part.mean < part.high < part.best
    assert many.gain.high - many.gain.low < 0.4 * (few.gain.high - few.gain.low)
    assert many.gain.best - many.gain.worst > 0.5 * (few.gain.best - few.gain.worst)
    wide = plan(floor(), runs=2).prospect(VALUE).gain
    assert wide.high - wide.low > many.gain.high - many.gain.low


def test_the_lead_and_what_is_said() -> None:
    outcome = plan(floor(fee=20.0), runs=200)
    assert outcome.best.policy == VALUE
    assert outcome.lead is not None
    assert outcome.lead.mean == pytest.approx(outcome.best.net.mean - outcome.prospects[1].net.mean)
    gain = outcome.best.gain
    said = re.fullmatch(
        r"value-of-replacement: (\S+) against keeping the team, in 9 of 10 worlds (\S+) to (\S+)\.", outcome.headline
    )
    assert said is not None
    for text, amount in zip(said.groups(), (gain.mean, gain.likely_low, gain.likely_high), strict=True):
        assert float(text.replace(",", "")) == pytest.approx(amount, abs=0.01 * (gain.likely_high - gain.likely_low))
    assert outcome.details.startswith(
        "Expected over the next 120 periods in 200 simulated worlds: value-of-replacement"
    )
    assert "100%" not in outcome.details
    same = plan(site_of([0.3, 0.8], [CERTAIN, CERTAIN], [0]), runs=20)
    assert "may earn as much" in same.headline
    only = plan(floor(), [], runs=5)
    assert (only.best.policy, only.lead) == (KEEP, None)
    assert only.headline == "Keeping the team is expected to earn most."
    assert plan(floor(), [], runs=5, horizon=1).details == "Expected over the next 1 period in 5 simulated worlds."
    # so few runs that nothing is certain
    doubtful = plan(floor(fee=60.0, horizon=60), [VALUE], runs=3)
    if doubtful.best.policy == VALUE and doubtful.best.gain.low <= 0.0:
        assert "it may be no better" in doubtful.headline


def test_money_is_the_sites_own() -> None:
    plain = plan(floor(units=Units(0.0, 1.0, 150.0)), runs=30)
    rate = plan(floor(units=Units(30.0, 130.0, 0.2, 7.5)), runs=30)
    errors = plan(floor(units=Units(30.0, 0.0, 5.0)), runs=30)
    below = 4 * 120 * 30.0 * 7.5 * 0.2  # four stations put out at least 30 an hour
    for name, prospect in numbers(rate).items():
        assert prospect.net.mean - below == pytest.approx(numbers(plain)[name].net.mean)
        assert prospect.gain.high == pytest.approx(numbers(plain)[name].gain.high)
    for name, prospect in numbers(errors).items():
        assert prospect.net.mean == pytest.approx(numbers(plain)[name].net.mean)
        assert prospect.fees == pytest.approx(numbers(plain)[name].fees)
    everybody, _ = estimates_of(floor())
    expected = sum(everybody[worker]["mean"] for worker in range(4)) * 120 * 150.0
    keep = plain.prospect(KEEP).net
    assert keep.low - 0.002 * expected < expected < keep.high + 0.002 * expected


def test_periods_left_or_the_rolling_horizon() -> None:
    assert plan(floor(period=101), [], runs=2).periods == 20
    assert plan(floor(period=101, rolling=True), [], runs=2).periods == 120
    assert plan(floor(period=121, horizon=120, rolling=True), [], runs=2).first_period == 121
    with pytest.raises(InvalidInput, match="horizon = 120: the planned periods are over, the coming one is 121"):
        plan(floor(period=121))
    assert plan(floor(period=121), [], runs=2, horizon=150).periods == 30
    assert any("as if the site ended then" in note for note in plan(floor(rolling=True), [], runs=2).notes)


def test_changes() -> None:
    site = floor()
    before = site.to_json()
    base = plan(site, runs=40)
    dear = plan(site, runs=40, fee=1000.0)
    assert dear.fee == 1000.0
    assert dear.prospect(VALUE).replacements < base.prospect(VALUE).replacements
    assert dear.prospect(KEEP) == base.prospect(KEEP)
    slow = plan(site, runs=40, mean_delay=15.0)
    assert slow.mean_delay == 15.0
    assert slow.prospect(VALUE).gain.mean < base.prospect(VALUE).gain.mean
    assert plan(site, runs=2, policy="a-omm").own == "a-omm"
    prospects = plan(site, runs=2, policy="a-omm").prospects
    assert {prospect.policy for prospect in prospects} == {"a-omm", VALUE, DR_UCB, KEEP}
    assert base.changes == {}
    assert dear.to_json()["changes"] == {"fee": 1000.0}
    assert site.to_json() == before


def test_another_team() -> None:
    site = floor()
    larger = plan(site, runs=40, team=6)
    assert stations_of(site, 6) == (0, 1, 2, 3, NOBODY, NOBODY)
    assert larger.prospect(VALUE).replacements >= 2.0  # nobody leaves a station empty that pays
    assert "2 of 6 stations are empty; keeping the team leaves them so." in larger.notes
    assert stations_of(site, 2) == (2, 3)
    site.set_worker(0, pinned=True)
    assert stations_of(site, 2) == (0, 3)
    assert plan(site, runs=2, team=12).team == 12  # more stations than people


def test_a_learned_delay_is_used_unless_another_is_given() -> None:
    site = floor(learn_delay=True)
    site.delays = (3, 20)
    assert plan(site, [], runs=2).mean_delay == pytest.approx(22.0 / 4)
    assert plan(site, [], runs=2, mean_delay=2.0).mean_delay == 2.0


def test_who_may_not_come_or_go() -> None:
    known = site_of([0.3, 0.8], [CERTAIN, CERTAIN], [0])
    for status in (LEFT, BLOCKED):
        known.set_worker(1, status=status)
        assert plan(known, runs=3).prospect(VALUE).replacements == 0.0
    known.set_worker(1, status="pool")
    known.set_worker(0, pinned=True)
    assert plan(known, runs=3).prospect(VALUE).replacements == 0.0
    assert plan(known, runs=3).prospect(DR_UCB).replacements == 0.0


def test_an_empty_station_is_filled() -> None:
    site = site_of([0.5, 0.4, 0.3], [CERTAIN] * 3, [0, NOBODY])
    outcome = plan(site, runs=5)
    assert outcome.prospect(VALUE).gain.mean == pytest.approx(0.4 * 20 * 50.0 - 100.0, rel=1e-4)
    assert any("1 of 2 stations is empty" in note for note in outcome.notes)


def test_replacements_under_way_count_as_started() -> None:
    site = site_of([0.3, 0.8, 0.5], [CERTAIN] * 3, [0], fee_due="completion")
    site.roster.initiate(0, 1, 1)
    site.proposals[1] = Proposal(1, 1, 0, 1, status=APPROVED, fee=70.0)
    outcome = plan(site, runs=4)
    keep = outcome.prospect(KEEP)
    assert keep.fees == 70.0  # it is due whatever is decided now
    assert keep.output.mean == pytest.approx(0.8 * 20 * 50.0, rel=1e-4)
    assert keep.net.mean == pytest.approx(0.8 * 20 * 50.0 - 70.0, rel=1e-4)
    assert outcome.prospect(VALUE).gain.mean == 0.0
    assert "1 replacement under way counts as started." in outcome.notes
    open_hire = site_of([0.6, 0.3, 0.8], [CERTAIN] * 3, [0, 1])
    open_hire.roster.initiate(NOBODY, 2, 1)
    assert stations_of(open_hire, 2) == (0, 2)
    assert plan(open_hire, runs=3).prospect(KEEP).fees == 0.0


def test_prior_data_keep_their_place() -> None:
    site = site_of([0.4, 0.6, 0.5], [40, 30, 20], [0], 0.1)
    squares = site.estimates.squares.copy()
    site.set_worker(1, prior_n=10, prior_mean=0.6)  # ten of thirty observations are prior data, whose spread is unknown
    site.estimates.squares[1] += 10 * (0.6 - 0.6**2 - 0.1**2)
    site.set_worker(2, prior_n=20, prior_mean=0.5)
    site.estimates.squares[2] = site.estimates.sums[2]
    _, noise = estimates_of(site)
    start = problem_of(site).start
    assert start is not None
    assert start.counts == (40, 30, 20)
    assert start.squares[0] == squares[0]
    assert start.squares[1] == pytest.approx(20 * (0.6**2 + 0.1**2) + 10 * (0.6**2 + noise**2))
    assert start.squares[2] == start.sums[2]  # all observations are prior data: the spread is marked as unknown


def test_what_is_left_out_is_said() -> None:
    six_days = WorkCalendar(date(2026, 1, 5), weekdays=(0, 1, 2, 3, 4, 5))
    site = floor(most_a_week=2, least_tenure=5, calendar=six_days)
    site.set_worker(7, fee=3.0)
    notes = " ".join(plan(site, [], runs=2).notes)
    for part in (
        "limit of 2 replacements a week is simulated with weeks of 5 periods instead of 6",
        "Fees of single workers",
        "5 of 10 workers were",
    ):
        assert part in notes
    assert "nobody is absent" in notes


def test_rows_and_json() -> None:
    outcome = plan(floor(), runs=20)
    rows = outcome.rows()
    assert all(len(row) == len(COLUMNS) for row in rows)
    policies = [prospect.policy for prospect in outcome.prospects]
    assert [row[0].removesuffix(" (this site's)") for row in rows] == policies
    assert [row[0] for row in rows].count("value-of-replacement (this site's)") == 1
    document = json.loads(json.dumps(outcome.to_json()))
    assert document["best"] == outcome.best.policy
    assert set(document["policies"]) == {VALUE, DR_UCB, KEEP}
    assert set(document["policies"][VALUE]["gain"]) == {
        "mean",
        "low",
        "high",
        "worst",
        "best",
        "likely_low",
        "likely_high",
    }
    assert (document["runs"], document["seed"], document["periods"]) == (20, 1, 120)


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(InvalidInput, match="needs true means"):
        plan(floor(), ["oracle"])
    with pytest.raises(InvalidInput, match="unknown"):
        plan(floor(), ["dr-ubc"])
    with pytest.raises(InvalidInput, match="must be a list of names"):
        plan(floor(), "dr-ucb")
    with pytest.raises(InvalidInput, match="change = 'teem': unknown; did you mean 'team'"):
        plan(floor(), teem=3)
    with pytest.raises(InvalidInput, match="policy = 3"):
        plan(floor(), policy=3)
    with pytest.raises(InvalidInput, match="fee = -1"):
        plan(floor(), fee=-1.0)
    with pytest.raises(InvalidInput, match="team = 0"):
        plan(floor(), team=0)
    with pytest.raises(InvalidInput, match="runs = 1"):
        plan(floor(), runs=1)
    with pytest.raises(InvalidInput, match="import workers first"):
        plan(Site.empty(floor().config))


def test_progress_is_told() -> None:
    reported: list[int] = []
    plan(floor(), runs=10, progress=reported.append)
    assert sum(reported) == 30


def test_the_sites_brakes_are_simulated() -> None:
    free = plan(floor(), [DR_UCB], 40).prospect(DR_UCB)
    slow = plan(floor(most_a_week=1), [DR_UCB], 40).prospect(DR_UCB)
    paid = plan(floor(most_a_week=None, budget_a_week=1.5 * floor().config.fee), [DR_UCB], 40).prospect(DR_UCB)
    assert paid == slow, "a budget for one fee a week is a limit of one a week"
    still = plan(floor(most_a_week=0), [DR_UCB], 40)
    assert free.replacements > slow.replacements > 0.0
    assert slow.replacements <= 120 / 5
    assert still.prospect(DR_UCB).replacements == 0.0
    assert still.prospect(DR_UCB).net.mean == pytest.approx(still.prospect(KEEP).net.mean)


def test_tenure_at_the_site_counts_in_its_plan() -> None:
    """Everybody came in period 1 and it is period 10: 9 periods before the plan's first."""
    assert problem_of(floor(least_tenure=10, period=10)).tenure().tolist()[:4] == [9] * 4
    wait = plan(floor(least_tenure=1000, period=10), [DR_UCB], 20).prospect(DR_UCB)
    assert wait.replacements == 0.0


def test_a_policy_that_learns_by_day_starts_from_the_record_as_earlier_data() -> None:
    site = floor(policy="support.learners:Recent")
    outcome = plan(site, ["support.learners:Recent", VALUE], runs=4)
    assert numbers(outcome)[VALUE] == numbers(plan(site, [VALUE], runs=4))[VALUE]
    assert outcome.prospect("support.learners:Recent").replacements > 0.0
    assert outcome.notes[-1].startswith("support.learners:Recent learns day by day: here it starts from the days and")
    assert not any("learns day by day" in note for note in plan(site, [VALUE], runs=4).notes)
