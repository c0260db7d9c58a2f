"""Live equals simulated: a simulated run, fed day by day through the ledger, gives exactly the engine's decisions."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import Stint, read_stints
from crewlearn.advisor.ledger.verify import verify
from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair
from crewlearn.policies.registry import live_policies, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput, GeometricDelay
from crewlearn.problem.model import Pool, Problem

LIVE = [*live_policies(), "support.learners:Recent"]
DAILY = WorkCalendar(date(2020, 1, 1), weekdays=(0, 1, 2, 3, 4, 5, 6))
PROBLEMS = {
    "benchmark": benchmark(4, "as-released", horizon=60, cost=1.0),
    "prior data": Problem(
        2,
        50,
        0.3,
        Pool((0.2, 0.8, 0.5, 0.9), (40, 0, 3, 12), (0.25, 0.0, 0.6, 0.75)),
        GeometricDelay(2.0),
        BernoulliOutput(),
    ),
}


def created(store: Store, problem: Problem, spec: str, seed: int) -> World:
    """Create a site with the settings of a simulated run."""
    setting, world = problem.setting, World(problem, seed, 0)
    config = SiteConfig(
        team=setting.team,
        fee=setting.cost,
        units=Units(0.0, 1.0),
        calendar=DAILY,
        horizon=setting.horizon,
        mean_delay=setting.mean_delay,
        fee_due=problem.fee_due,
        policy=spec,
        least_tenure=0,
        most_a_week=None,
        stream_key=policy_key(seed_root(seed), 0),
    )
    commands.create_site(store, "site", config, "tester")
    team = world.starting_team().tolist()
    prior_n, prior_mean = problem.prior_data()
    bought = make_policy(spec).interview(setting)
    scores = [None] * setting.workers if bought is None else world.interview(bought.rho).tolist()
    order = team + [worker for worker in range(setting.workers) if worker not in team]
    rows = {
        worker: WorkerRow(
            f"w{worker}",
            active=worker in team,
            prior_n=int(prior_n[worker]),
            prior_mean=float(prior_mean[worker]),
            interview=scores[worker],
        )
        for worker in order
    }
    worker_imports.import_workers(store, "site", [rows[worker] for worker in range(setting.workers)], b"", "tester")
    return world


def live_steps(store: Store, world: World) -> list[tuple[list[Pair], list[Pair]]]:
    """Play the world through commands: approve at once, start workers whose delay is over, import the day's output."""
    steps = []
    due: dict[int, int] = {}
    for period in range(1, world.problem.horizon + 1):
        with store.reading() as connection:
            _, site, _ = store.site(connection, "site")
        assert site.period == period
        requested = []
        for proposal in site.open_proposals(PROPOSED):
            commands.approve(store, "site", proposal.id, "tester")
            requested.append((proposal.out, proposal.into))
            due[proposal.id] = period + world.delay(period, proposal.out, proposal.into)
        for number in [number for number, when in due.items() if when <= period]:
            try:
                commands.record_offer(store, "site", number, "started", "tester")
            except InvalidInput:  # nobody can make room: the hire lapses, as in a simulation
                commands.record_offer(store, "site", number, "cancelled", "tester")
            del due[number]
        with store.reading() as connection:
            _, site, _ = store.site(connection, "site")
        completed = list(site.completed)
        rows = [
            OutputRow(1, None, period, f"w{worker}", world.output(period, worker), None, "worked")
            for worker in site.roster.active
        ]
        output_imports.import_output(store, "site", rows, b"", "tester", accept_unusual=True)
        steps.append((requested, completed))
    return steps


def ended(stint: Stint, period: int) -> bool:
    return stint.until is not None and stint.until <= period


@pytest.mark.parametrize("problem", list(PROBLEMS))
@pytest.mark.parametrize("spec", LIVE)
def test_live_equals_simulated(spec: str, problem: str, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/site.db")
    world = created(store, PROBLEMS[problem], spec, seed=11)
    simulated: list[Step] = list(play(world, make_policy(spec)))
    live = live_steps(store, world)
    assert [requested for requested, _ in live] == [list(step.requested) for step in simulated]
    assert [completed for _, completed in live] == [list(step.completed) for step in simulated]
    with store.reading() as connection:
        key, site, _ = store.site(connection, "site")
        held = read_stints(connection, key)
    assert site.roster.stations == simulated[-1].stations
    assert site.fees == pytest.approx(sum(step.fees for step in simulated))
    for step in simulated:
        here = {
            stint.station: stint.worker
            for stint in held
            if stint.since <= step.period and not ended(stint, step.period)
        }
        assert tuple(here[station] for station in range(len(step.stations))) == step.stations
    checked = verify(store, "site")
    assert checked.sound, checked.faults
    assert checked.advice == PROBLEMS[problem].horizon + 1


def test_dates_are_periods() -> None:
    assert DAILY.date_of(3) == date(2020, 1, 1) + timedelta(days=2)
