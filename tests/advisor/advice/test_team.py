"""The team as it is: stations taken and left outside advice, on any day, and what follows from it."""

from datetime import date

import pytest

from crewlearn.advisor.advice import commands, team
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.recording.team_inference import GAP
from crewlearn.advisor.files.team_files import read_team
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import PROPOSED, WITHDRAWN
from crewlearn.advisor.ledger.team.recording import TeamRow
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.floor import EXPERIENCED
from support.lives import BAD, GOOD, Life


def held(life: Life, day: date) -> dict[int, str]:
    """Return who held each station on a day, as far as is on record."""
    date_of = life.site.config.calendar.date_of
    return {
        stint.station + 1: f"w{stint.worker}"
        for stint in life.stints
        if date_of(stint.since) <= day and (stint.until is None or day < date_of(stint.until))
    }


def test_somebody_took_a_station_before_the_site_was_set_up(life: Life) -> None:
    life.create(active=0, calendar=WorkCalendar(date(2026, 3, 2)))
    sunday = date(2026, 2, 1)
    assert team.add_to_team(life.store, "s", "w4", "ann", on=sunday).recorded == 1
    assert team.add_to_team(life.store, "s", "w4", "ann", on=sunday).recorded == 0
    assert held(life, date(2026, 1, 31)) == {}
    assert held(life, sunday) == held(life, date(2026, 3, 2)) == {1: "w4"}
    assert life.site.workers[4].since == -1


def test_a_late_entry_ends_where_the_next_change_is_on_record(life: Life) -> None:
    life.create()
    life.days(8, w0=GOOD, w1=GOOD)
    team.add_to_team(life.store, "s", "w3", "ann", station=1, on=date(2026, 1, 13))
    team.add_to_team(life.store, "s", "w2", "ann", station=1, on=date(2026, 1, 8))
    assert [held(life, date(2026, 1, day))[1] for day in (7, 8, 12, 13)] == ["w0", "w2", "w2", "w3"]
    assert life.site.roster.stations == (3, 1)


def test_leaving_a_station_keeps_them_in_the_pool(life: Life) -> None:
    life.create()
    life.days(3, w0=GOOD, w1=GOOD)
    team.remove_from_team(life.store, "s", "w0", "ann", on=date(2026, 1, 7))
    site = life.site
    assert (site.roster.stations, site.workers[0].status, site.workers[0].since) == ((-1, 1), "pool", 0)
    with pytest.raises(Conflict, match=r"holds no station on 2026-01-08.*there: w1"):
        team.remove_from_team(life.store, "s", "w0", "ann")


def test_the_whole_team_keeps_its_places(life: Life) -> None:
    life.create(team=3, active=3)
    team.set_team(life.store, "s", ["w5", "w1", "w2"], "ann")
    assert life.site.roster.stations == (5, 1, 2)
    with pytest.raises(InvalidInput, match="3 stations"):
        team.set_team(life.store, "s", ["w0", "w1", "w2", "w3"], "ann")
    with pytest.raises(InvalidInput, match="twice"):
        team.set_team(life.store, "s", ["w0", "w0"], "ann")
    with pytest.raises(Conflict, match="no station is empty then"):
        team.add_to_team(life.store, "s", "w4", "ann")
    with pytest.raises(InvalidInput, match="in the future"):
        team.add_to_team(life.store, "s", "w4", "ann", station=1, on=date(2028, 1, 1))


def test_a_stint_of_the_past_is_corrected(life: Life) -> None:
    life.create()
    life.days(10, w0=GOOD, w1=GOOD)
    rows = read_team(b"Badge no;Station;From;Until\nw4;1;07.01.2026;09.01.2026\n")
    assert team.record_stints(life.store, "s", rows, "ann").recorded == 1
    assert team.record_stints(life.store, "s", rows, "ann").recorded == 0
    assert [held(life, date(2026, 1, day))[1] for day in (6, 7, 9, 12)] == ["w0", "w4", "w4", "w0"]
    assert life.site.workers[0].since == life.site.config.calendar.mark_of(date(2026, 1, 10))
    with pytest.raises(InvalidInput, match="must not be before"):
        team.record_stints(life.store, "s", [TeamRow("w4", date(2026, 1, 8), date(2026, 1, 7))], "ann")


def test_open_proposals_are_withdrawn_with_the_reason(life: Life) -> None:
    life.create(team=1, workers=4)
    life.days(3, w0=BAD)
    proposal = life.first()
    assert proposal.out == 0
    team.add_to_team(life.store, "s", "w3" if proposal.into != 3 else "w2", "ann", station=1)
    gone = next(other for other in life.proposals if other.id == proposal.id)
    assert (gone.status, gone.reason) == (WITHDRAWN, "the team changed outside advice")
    assert all(pair[0] != 0 for pair in life.open())


def test_an_offer_whose_leaver_is_gone_fills_the_empty_station(life: Life) -> None:
    life.create(team=1, workers=4)
    life.days(3, w0=BAD)
    proposal = life.first()
    commands.approve(life.store, "s", proposal.id, "ann")
    team.remove_from_team(life.store, "s", "w0", "ann")
    assert life.site.proposals[proposal.id].out == -1
    commands.record_offer(life.store, "s", proposal.id, "started", "ann")
    assert life.site.roster.stations == (proposal.into,)


@pytest.mark.parametrize("due", ["initiation", "completion"])
def test_who_was_approved_and_is_there_has_started(life: Life, due: str) -> None:
    life.create(team=1, workers=4, fee_due=due)
    life.days(3, w0=BAD)
    proposal = life.first()
    commands.approve(life.store, "s", proposal.id, "ann")
    team.set_team(life.store, "s", [f"w{proposal.into}"], "ann")
    ended = life.site.proposals[proposal.id]
    assert (ended.status, ended.leaver, ended.settled_in) == ("started", 0, 4)
    assert (life.site.fees, life.site.roster.pending) == (1.0, ())
    assert not [other for other in life.site.open_proposals(PROPOSED) if other.into == proposal.into]


def test_experience_follows_from_first_days(life: Life) -> None:
    """Known first days count; whoever was simply there at the start is experienced."""
    life.create(active=0, team=3, calendar=WorkCalendar(date(2026, 3, 2)))
    team.set_team(life.store, "s", ["w0"], "ann", on=date(2026, 3, 2))
    team.add_to_team(life.store, "s", "w1", "ann", on=date(2026, 2, 16))  # ten working days before the start
    team.add_to_team(life.store, "s", "w2", "ann", on=date(2026, 3, 2))
    life.days(4, w0=GOOD, w1=GOOD, w2=GOOD)
    experience = life.site.situation().experience
    assert experience is not None
    assert experience[:4].tolist() == [EXPERIENCED + 4, 14, 4, 0]


def output(day: int, *workers: str) -> list[OutputRow]:
    return [OutputRow(2, date(2026, 1, day), None, worker, 0.5, None, "worked") for worker in workers]


def test_the_team_is_taken_from_output(life: Life) -> None:
    """An absence of two days keeps the station, and whoever sat in has none; who is gone longer has left."""
    life.create(active=0, team=2)
    week = {5: "w0 w1", 6: "w0 w1", 7: "w2 w1", 8: "w2 w1", 9: "w0 w1", 12: "w0 w3", 13: "w0 w3", 14: "w0 w3"}
    for day, who in week.items():
        import_output(life.store, "s", output(day, *who.split()), b"x", "ann", team_from_output=True)
    assert GAP == 2
    assert [held(life, date(2026, 1, day)) for day in week] == [
        *[{1: "w0", 2: "w1"}] * 5,
        *[{1: "w0", 2: "w3"}] * 3,
    ]


def test_an_import_says_that_others_produced_and_can_be_asked_for_the_team_later(life: Life) -> None:
    life.create()
    done = import_output(life.store, "s", output(5, "w2", "w3"), b"x", "ann")
    assert "if the team changed, it can be taken from the output" in done.warnings[0]
    rows = [row for day in (5, 6, 7, 8) for row in output(day, "w2", "w3")]
    import_output(life.store, "s", rows, b"x", "ann")
    assert set(life.site.roster.stations) == {0, 1}
    again = import_output(life.store, "s", rows, b"x", "ann", team_from_output=True)
    assert again.recorded == 0
    assert set(life.site.roster.stations) == {2, 3}


def test_gain_counts_replacements_by_advice_alone(life: Life) -> None:
    """Somebody better who came in outside advice is no gain of the advice."""
    life.create(team=1, workers=4, policy="keep-team")
    life.days(5, w0=BAD)
    team.add_to_team(life.store, "s", "w1", "ann", station=1)
    life.days(5, w1=GOOD)
    assert life.track_record.gain.expected == 0.0
