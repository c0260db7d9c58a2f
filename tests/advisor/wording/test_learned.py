"""What is said of people who ramp up and tire, and of days that differ, at a site fed with such output."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.readings import (
    PeopleTrend,
    RampUp,
    SiteLearned,
    in_units,
    learned_at,
    people_trend,
    read_learned_at,
)
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.wording.explain import sentence, waits
from crewlearn.advisor.wording.learned import (
    judged_words,
    newer_policy,
    ramp_line,
    ramp_words,
    recent_days,
    trend_words,
    unusual_lines,
)
from crewlearn.advisor.wording.waiting import cycle_line
from crewlearn.cli.main import app
from crewlearn.policies.explanations import (
    DayReading,
    Estimate,
    Level,
    PersonReading,
    Readings,
    Trend,
)
from support.floor_site import BAD_DAY, DECLINER, FIRST, floor_site, site_of
from support.lives import GOOD, Life
from support.stores import CALENDAR, config

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('hall')}/crewlearn.db")
    floor_site(store)
    yield store
    store.engine.dispose()


def learned_of(store: Store) -> tuple[Site, People, SiteLearned]:
    with store.reading() as connection:
        key, site, _ = store.site(connection, "hall")
        learned = read_learned_at(connection, key, site)
        people = read_people(connection, key)
    assert learned is not None
    return site, people, learned


def said(store: Store, *arguments: str) -> Any:
    url = store.engine.url.render_as_string(hide_password=False)
    done = RUNNER.invoke(app, [*arguments, "--db", url], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done


def newest(site: Site) -> int:
    """Return who joined the team last."""
    return max(site.roster.active, key=lambda worker: site.workers[worker].since)


def test_status_tells_levels_ramp_up_trends_and_unusual_days(hall: Store) -> None:
    site, people, learned = learned_of(hall)
    text = said(hall, "status", "hall").stdout
    assert "level after ramp-up" in text
    lines = {line.split()[1]: line for line in text.splitlines() if line.strip()[:1].isdigit() and " to " in line}
    newcomer, person = people.label(newest(site)), learned.people[newest(site)]
    assert person.ramp_up is not None
    assert f"day 4 of about {person.ramp_up.days} of ramp-up" in lines[newcomer]
    assert f"{person.level.mean:,.2f}" in lines[newcomer]
    assert "(over 99% likely real)" in lines[f"W{DECLINER}"]
    assert "down" in lines[f"W{DECLINER}"]
    assert sum("likely real" in line for line in lines.values()) == 1
    bad = site.config.calendar.date_of(BAD_DAY)
    assert f"{bad} was unusual for everybody:" in text
    assert "Newcomers start about" in text
    assert f"{newcomer} is on day 4; judged after about day" in text


def test_the_chance_to_do_better_is_the_one_that_the_policy_decides_by(hall: Store) -> None:
    site, _, _ = learned_of(hall)
    why = site.open_proposals(PROPOSED)[0].why
    assert why.policy is not None
    assert why.into.days == 0  # never seen, so that the pool is not one normal
    assert why.chance_better == why.policy["chance_better"]


def test_what_is_told_is_near_the_truth(hall: Store) -> None:
    """The decliner lost 33% in 55 days, and the bad day 35%; the interval of the newcomer holds a usual level."""
    site, _, learned = learned_of(hall)
    trend = learned.people[DECLINER].trend
    assert trend is not None
    assert trend.change == pytest.approx(-0.33, abs=0.08)
    assert FIRST < trend.date < site.config.calendar.date_of(50)
    assert [day.period for day in learned.unusual_days] == [BAD_DAY]
    assert learned.unusual_days[0].effect == pytest.approx(-0.35, abs=0.08)
    newcomer = learned.people[newest(site)]
    assert newcomer.level.low < 70.0 < newcomer.level.high
    assert newcomer.output < newcomer.level.mean
    assert learned.people[6].ramp_up is None, "who is there from the start is experienced"


def test_an_explanation_speaks_of_levels_and_of_the_trend_at_the_time(hall: Store) -> None:
    site, _, _ = learned_of(hall)
    proposal = next(proposal for proposal in site.open_proposals() if proposal.out == DECLINER)
    text = said(hall, "explain", "hall", str(proposal.id)).stdout
    assert f"W{DECLINER}, in the team now: " in text
    assert "after ramp-up (95% between" in text
    assert "likely real)." in text
    why = json.loads(said(hall, "explain", "hall", str(proposal.id), "--json").stdout)["why"]
    assert why["out"]["after_ramp_up"]
    assert why["out"]["trend"]["chance"] > 0.99
    assert why["into"]["ramp_up"]["day"] == 0
    checked = verify(hall, "hall")
    assert checked.sound, checked.faults


def test_status_as_json_has_what_was_learned_beside_what_it_had(hall: Store) -> None:
    _, _, learned = learned_of(hall)
    status = json.loads(said(hall, "status", "hall", "--json").stdout)
    workers = {worker["worker_id"]: worker for worker in status["workers"]}
    decliner = workers[f"W{DECLINER}"]
    assert {"estimate", "low", "high", "days", "note"} <= decliner.keys()
    assert decliner["learned"]["level"] == vars(learned.people[DECLINER].level)
    assert decliner["learned"]["trend"]["date"] == str(learned.people[DECLINER].trend.date)  # type: ignore[union-attr]  # tested above
    assert decliner["learned"]["notes"][0].startswith("down")
    assert [day["period"] for day in status["learned"]["unusual_days"]] == [BAD_DAY]
    assert status["cycle"]["least_observed"]


def test_waiting_says_who_is_judged_when(hall: Store) -> None:
    site, people, _ = learned_of(hall)
    quiet = site.copy()
    quiet.proposals = {}
    name, needed = people.label(newest(site)), site.advice.waiting["still_needed"]
    words = f"{name} is on day 4; judged after about day {4 + needed}"
    assert judged_words(quiet, people) == words
    assert waits(quiet, people).endswith(f"; {words}.")
    assert sentence(quiet, people).startswith("Wait (")
    assert cycle_line(quiet, people).endswith(f" {words}.")
    assert judged_words(quiet, people, lambda worker: "Ann").startswith("Ann is on")


def test_other_policies_say_what_they_said(life: Life) -> None:
    life.create(active=1)
    life.days(5, w0=GOOD)
    with life.store.reading() as connection:
        key, site, _ = life.store.site(connection, "s")
        assert read_learned_at(connection, key, site) is None
    assert learned_at(site, None) is None
    assert judged_words(site, life.people) == ""


def test_sites_on_the_former_default_are_told_of_the_new_one(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/crewlearn.db")
    floor_site(store, policy="value-of-replacement:noise_sd=0.05")
    before = said(store, "status", "hall")
    assert "value-of-replacement-evolving" in before.stderr
    assert "evolving" not in before.stdout
    assert "level" not in before.stdout
    assert newer_policy(site_of(store, "hall")) == "value-of-replacement-evolving"
    said(store, "site", "set", "hall", "policy=value-of-replacement-evolving")
    after = said(store, "status", "hall")
    assert "evolving" not in after.stderr
    assert "likely real" in after.stdout, "the new policy learns from all recorded days at once"
    store.engine.dispose()


def test_ramp_up_is_told_from_the_first_day_on() -> None:
    assert ramp_words(None) == ramp_words(RampUp(0, 9)) == ""
    assert ramp_words(RampUp(4, 10)) == "day 4 of about 10 of ramp-up"


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (Units(0.0, 100.0), "down 20% since 5 Jan (90% likely real)"),
        (Units(50.0, 150.0), "down 10% since 5 Jan (90% likely real)"),
        (Units(100.0, 0.0), "up 20% since 5 Jan (90% likely real)"),
        (Units(-100.0, 100.0), "down by 20.00 since 5 Jan (90% likely real)"),
    ],
)
def test_a_trend_is_a_share_of_output_as_the_site_counts_it(units: Units, words: str) -> None:
    """The policy's level fell from 0.5 to 0.4; what that means depends on which output counts as 0 and as 1."""
    trend = people_trend(units, CALENDAR, 0.4, Trend(change=-0.2, since=1, chance=0.9))
    assert trend_words(trend, lambda day: "5 Jan") == words


def test_days_are_recent_for_two_weeks_and_may_have_no_share(life: Life) -> None:
    life.create(units=Units(-1.0, 1.0))
    site = life.site
    site.period = 40
    person = PersonReading(Level(0.5, 0.4, 0.6, 0.05), 3, 0.8, 9)
    days = tuple(DayReading(period, Estimate(-0.2, 0.01), True) for period in (1, 29, 30, 39))
    nothing = Estimate(0.0, 0.0)
    readings = Readings(
        (person,), days, Estimate(0.3, 0.1), nothing, nothing, nothing, Estimate(0.5, 0.1), nothing, 9.0
    )
    learned = in_units(site, readings)
    assert [day.period for day in recent_days(site, learned)] == [30, 39]
    assert unusual_lines(site, learned)[1].endswith(" was unusual for everybody.")
    assert ramp_line(learned) == "Newcomers reach their level in about 9 days."


def test_a_trend_that_began_before_the_record_has_the_first_day() -> None:
    trend = people_trend(config().units, CALENDAR, 0.4, Trend(change=0.1, since=0, chance=1.0))
    assert isinstance(trend, PeopleTrend)
    assert trend.date == CALENDAR.date_of(1) >= date(2000, 1, 1)
