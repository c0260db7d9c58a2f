"""All sites at a glance: what each needs, sums, and people at several sites."""

from datetime import date, timedelta
from threading import Event, current_thread, main_thread
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.overview import sites
from crewlearn.advisor.overview.people import also_at, people_at
from crewlearn.advisor.overview.sites import overview, total_gain, totals_of
from crewlearn.advisor.overview.summaries import days_of, summarise
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views.reading import Reading
from support.stores import proposed
from support.waiting import until
from support.web.pages import CREW, NOW, pages_store, set_up, with_crew

store = pages_store


def everybody(name: str) -> bool:
    return True


def test_what_needs_an_answer_comes_first_and_agrees_with_the_site_itself(store: Store) -> None:
    for name in ("b busy", "d asleep"):
        with_crew(store, name)
    set_up(store, "c empty")
    with_crew(store, "e answered")
    for number in proposed(store, "e answered"):
        commands.approve(store, "e answered", number, "test")
    lines, today = overview(store, everybody), NOW.date()
    ordered = sorted(lines, key=lambda line: line.urgency(NOW))
    assert [line.name for line in ordered] == ["b busy", "d asleep", "e answered", "c empty"]
    for line in lines:
        reading, summary = Reading(snapshot(store, line.name), today), line.summary
        assert summary is not None
        site = reading.site
        assert line.proposed == len(site.open_proposals("proposed"))
        assert (summary.gain, summary.earned, summary.fees) == (reading.snapshot.gain, site.earned, site.fees)
        assert (summary.workers, summary.filled) == (len(site.workers), site.config.team - site.roster.empty)
        assert summary.missing_days(NOW) == len(
            [day for at in range(14) if (day := today - timedelta(days=at + 1)).weekday() < 5]
        )
    total = totals_of(lines)
    (sums,) = total.money
    assert sums.fees == sum(line.summary.fees for line in lines if line.summary) > 0.0
    assert total.proposed == len(proposed(store, "b busy")) + len(proposed(store, "d asleep"))
    assert [line.name for line in overview(store, lambda name: name > "d")] == ["d asleep", "e answered"]


def test_only_sites_that_changed_are_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("east", "north", "south"):
        with_crew(store, name)
    overview(store, everybody)
    read = list[str]()

    def noted(*given: Any) -> Any:
        read.append(given[2])
        return summarise(*given)

    monkeypatch.setattr(sites, "summarise", noted)
    overview(store, everybody)
    assert read == []
    commands.approve(store, "north", proposed(store, "north")[0], "test")
    line = overview(store, everybody)[1]
    assert read == ["north"]
    assert line.summary is not None
    assert line.summary.under_way == 1


def test_a_first_look_stops_early_and_a_thread_reads_the_rest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("east", "north", "south"):
        with_crew(store, name)
    may_go_on = Event()

    def held(*given: Any) -> Any:
        if current_thread() is not main_thread():
            may_go_on.wait(20)
        return summarise(*given)

    monkeypatch.setattr(sites, "summarise", held)
    lines = overview(store, everybody, patience=0.0)
    assert sum(line.is_unread for line in lines) == 2
    assert all(line.proposed for line in lines), "what needs an answer is known all the same"
    assert totals_of(lines).read == 1
    may_go_on.set()
    known = sites._summaries_of(store).known
    until(lambda: len(known) == 3, 20)
    assert not any(line.is_unread for line in overview(store, everybody))


def test_days_without_output_are_counted_as_one_by_one() -> None:
    first = date(2026, 1, 5)
    plain = [WorkCalendar(first, weekdays=(0, 2, 5), shifts_per_day=shifts) for shifts in (1, 2, 3)]
    days = [date(2026, 1, day) for day in (6, 20)]
    opened = [
        calendar.with_opened(calendar.numbers_for(days), worked=worked)
        for calendar in plain
        for worked in (True, False)
    ]
    for calendar in [*plain, *opened]:
        for begin in range(1, 9):
            for end in range(begin + 1, begin + 25):
                one_by_one = {calendar.date_of(period) for period in range(begin, end)}
                assert days_of(calendar, range(begin, end)) == len(one_by_one)


def test_gains_of_sites_err_independently() -> None:
    one = Gain(100.0, 60.0, 130.0)
    whole = total_gain([one] * 4)
    assert (whole.expected, whole.low, whole.high) == (400.0, 400.0 - 80.0, 400.0 + 60.0)


def test_the_same_id_is_one_person(store: Store) -> None:
    for name in ("east", "north"):
        with_crew(store, name)
    set_up(store, "south")
    worker_imports.import_workers(store, "south", [CREW[2]], b"", "test")
    with store.reading() as connection:
        keys = {name: store.key(connection, name) for name in store.names()}
        assert also_at(connection, "c", keys["east"]) == [("north", 2), ("south", 0)]
        assert people_at(connection) == people_at(connection, keys.values()) == len(CREW)
        assert people_at(connection, [keys["south"]]) == 1
