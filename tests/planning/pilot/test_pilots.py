"""A pilot at a site from plan to end: what is sealed, what advice is withheld, and what the analysis finds."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from crewlearn.advisor.advice import commands, pilots, team
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import PilotStarted
from crewlearn.advisor.ledger.pilots.assignment import assigned, digest_of
from crewlearn.advisor.ledger.pilots.sealed import PilotGroup
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.planning.pilot import running
from crewlearn.planning.pilot.outcomes import counted_days, group_days, read_site_days
from crewlearn.planning.pilot.planning import PilotRequest, plan_pilot
from crewlearn.planning.pilot.wording import arms_lines, design_lines, progress_line, promise_lines, result_lines
from crewlearn.problem.errors import InvalidInput
from support.pilots import RECORD, TEAM, advised_stations, pilot_plan, pilot_site, site_of, work_days

REQUEST = PilotRequest(("hall",), days=12, run_in=0, baseline=30)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/s.db", clock=lambda: datetime(2027, 1, 1, tzinfo=UTC)) as opened:
        yield opened


def test_a_pilot_finds_the_gain_that_was_put_in(store: Store) -> None:
    pilot_site(store)
    running.start(store, REQUEST, "ann")
    work_days(store, 12, dict.fromkeys(advised_stations(store), 10.0))
    status = running.status(store, "hall")
    assert status is not None
    assert (status.state, status.recorded) == ("complete", 12)
    result = running.end(store, "hall", "ann")
    assert result is not None
    assert result["low"] < 10.0 < result["high"]
    assert result["gain"] == pytest.approx(10.0, abs=3.0)
    assert result["detected"]
    assert result["second"]["gain"] == pytest.approx(result["gain"]), "nobody changed, so no fees"
    assert any("Advice paid" in line for line in result_lines(result))
    assert site_of(store).pilot is None
    assert verify(store, "hall").sound
    after = running.status(store, "hall")
    assert after is not None
    assert after.to_json()["result"] == result


def test_advice_is_withheld_from_usual_practice_until_the_end(store: Store) -> None:
    pilot_site(store, policy="value-of-replacement", most_a_week=None)
    work_days(store, 5, dict.fromkeys(range(TEAM), -45.0))
    before = {proposal.out for proposal in site_of(store).open_proposals(PROPOSED)}
    running.start(store, REQUEST, "ann")
    site = site_of(store)
    usual = {site.roster.stations[station] for station in set(range(TEAM)) - advised_stations(store)}
    assert before & usual, "else there is nothing to withhold"
    assert not {proposal.out for proposal in site.open_proposals(PROPOSED)} & usual
    assert not any(site.may_leave(worker) for worker in usual)
    running.end(store, "hall", "ann", give_up="enough seen")
    assert {proposal.out for proposal in site_of(store).open_proposals(PROPOSED)} & usual
    assert verify(store, "hall").sound


def test_an_empty_station_in_usual_practice_is_not_filled_by_advice(store: Store) -> None:
    pilot_site(store)
    running.start(store, REQUEST, "ann")
    station = min(set(range(TEAM)) - advised_stations(store))
    team.remove_from_team(store, "hall", f"W{station}", "ann")
    site = site_of(store)
    assert not [proposal for proposal in site.open_proposals(PROPOSED) if proposal.out == -1]
    other = min(advised_stations(store))
    team.remove_from_team(store, "hall", f"W{other}", "ann")
    (fill,) = [proposal for proposal in site_of(store).open_proposals(PROPOSED) if proposal.out == -1]
    commands.approve(store, "hall", fill.id, "ann")
    commands.record_offer(store, "hall", fill.id, "started", "ann")
    assert site_of(store).station_of(fill.into) == other, "a newcomer by advice sits where advice is given"
    assert verify(store, "hall").sound


def test_the_effect_is_not_told_before_the_end(store: Store) -> None:
    pilot_site(store)
    running.start(store, REQUEST, "ann")
    work_days(store, 6, {})
    status = running.status(store, "hall")
    assert status is not None
    assert status.to_json()["result"] is None
    assert "effect is told at the end" in progress_line(status)
    with pytest.raises(Conflict, match="none was planned"):
        running.look(store, "hall", "ann")
    with pytest.raises(Conflict, match="recorded through"):
        running.end(store, "hall", "ann")
    with pytest.raises(Conflict, match="has one already"):
        running.start(store, REQUEST, "ann")


def test_a_planned_look_may_stop_the_pilot(store: Store) -> None:
    pilot_site(store)
    request = replace(REQUEST, looks=1)
    plan = plan_pilot(store, request, durations=False).plan
    assert plan.final_level == pytest.approx(0.049)
    with pytest.raises(InvalidInput, match="cannot reach"):
        plan_pilot(store, replace(request, groups=9), durations=False)
    running.start(store, request, "ann")
    with pytest.raises(Conflict, match="record it first"):
        running.look(store, "hall", "ann")
    work_days(store, 6, dict.fromkeys(advised_stations(store), 40.0))
    stop, effect = running.look(store, "hall", "ann")
    assert stop
    assert effect is not None
    assert effect.p <= 0.001
    with pytest.raises(Conflict, match="all 1 planned looks"):
        running.look(store, "hall", "ann")
    result = running.end(store, "hall", "ann")
    assert result is not None
    assert (result["through"], result["level"]) == (str(plan.looks[0]), 0.001)
    assert verify(store, "hall").sound


def test_a_look_without_a_clear_effect_tells_nothing_more(store: Store) -> None:
    pilot_site(store)
    running.start(store, replace(REQUEST, looks=1), "ann")
    work_days(store, 6, {})
    assert running.look(store, "hall", "ann") == (False, None)
    with pytest.raises(Conflict, match="recorded through"):
        running.end(store, "hall", "ann")


def test_what_is_too_small_is_refused_with_the_remedy(store: Store) -> None:
    pilot_site(store, days=20)
    with pytest.raises(InvalidInput, match="record more first"):
        plan_pilot(store, REQUEST)
    work_days(store, 20, {})
    with pytest.raises(InvalidInput, match="at least 9 groups"):
        plan_pilot(store, replace(REQUEST, groups=8))
    with pytest.raises(InvalidInput, match="no day that counts"):
        plan_pilot(store, replace(REQUEST, run_in=60))


def test_sites_can_be_groups_and_turn_step_by_step(store: Store) -> None:
    names = [f"hall {n}" for n in range(5)]
    for name in names:
        pilot_site(store, name)
    request = replace(REQUEST, sites=tuple(names), waves=5, days=12)
    started = running.start(store, request, "ann")
    assert sorted(started.waves) == [0, 1, 2, 3, 4]
    last = names[started.waves.index(4)]
    first = names[started.waves.index(0)]
    assert site_of(store, last).withheld_stations() == set(range(TEAM))
    assert not site_of(store, first).withheld_stations()
    for name in names:
        work_days(store, 12, {}, name)
    result = running.end(store, names[2], "ann")
    assert result is not None
    for name in names:
        assert site_of(store, name).pilot is None
        assert verify(store, name).sound


def test_a_pilot_that_one_of_its_sites_refuses_begins_at_none(store: Store) -> None:
    for name in ("hall", "yard"):
        pilot_site(store, name)
    day = site_of(store).day
    pilots.start_pilot(store, pilot_plan("yard", 4, day, 20), "ann")
    both = tuple(PilotGroup(name, name, tuple(range(TEAM))) for name in ("hall", "yard"))
    with pytest.raises(Conflict, match="has one already"):
        pilots.start_pilot(store, replace(pilot_plan("hall", 4, day, 20), groups=both), "ann")
    assert site_of(store, "hall").pilot is None


def test_the_assignment_follows_from_the_seed_and_is_checked(store: Store) -> None:
    plan = pilot_plan("hall", 10, date(2026, 3, 2), 20)
    waves = assigned(plan, "seed")
    assert sorted(waves) == [0] * 5 + [1] * 5
    assert assigned(plan, "seed") == waves != assigned(plan, "other")
    sealed = PilotStarted("hall", plan, digest_of(plan), "seed", waves)
    assert sealed.fault("hall", 1, ()) is None
    assert "not the one" in str(replace(sealed, plan=replace(plan, carried=0.9)).fault("hall", 1, ()))
    assert "seed" in str(replace(sealed, seed="other").fault("hall", 1, ()))
    assert "site" in str(sealed.fault("other", 1, ()))


def test_a_plan_says_what_it_can_show(store: Store) -> None:
    pilot_site(store)
    proposal = plan_pilot(store, replace(REQUEST, gain=20.0))
    assert proposal.power is not None
    assert proposal.power > 0.9
    text = " ".join([*design_lines(proposal.plan), *promise_lines(proposal)])
    assert "14 groups" in text
    assert f"{proposal.plan.promised_gain:,.2f}" in text
    shown = [each.detectable for each in proposal.durations if each.detectable is not None]
    assert shown[0] == max(shown), "12 working days show the least"
    assert len(arms_lines(proposal.plan, (0, 1) * 7)) == 2


def test_a_fee_is_charged_to_the_station_and_the_next_day_that_counts(store: Store) -> None:
    pilot_site(store)
    team.add_to_team(store, "hall", f"W{TEAM}", "ann", station=3)
    work_days(store, 3, {})
    days = read_site_days(store, "hall")
    assert days.outside[2, RECORD] == 1.0
    assert days.outside.sum() == 1.0
    plan = pilot_plan("hall", TEAM, days.days[RECORD], 5, run_in=2)
    grouped = group_days({"hall": days}, plan.groups, 30.0)
    net = grouped.measured("net", counted_days(plan, grouped.days))
    charged = grouped.output - net
    assert charged.sum() == pytest.approx(30.0)
    assert charged[2, RECORD + 2] == pytest.approx(30.0), "the first two days are run-in"
    assert plan.last == days.days[RECORD] + timedelta(days=4)
