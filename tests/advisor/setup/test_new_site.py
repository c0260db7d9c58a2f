"""A new site from an export: what is proposed is what the file was drawn up from, and the site is set up as shown."""

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.intake.output_files import record
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.setup.opening import NewSite, open_site, rehearsed
from crewlearn.advisor.setup.proposals import SiteProposal, propose_site
from crewlearn.advisor.wording.explain import sentence
from crewlearn.language import reading_in
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import i18n
from support.exports import SHAPES, Shape, drafted, path_of
from support.stores import contents, nothing

NOW = datetime(2026, 11, 16, 7, tzinfo=UTC)
ASKED = {"fee": 300.0, "value_per_unit": 0.5}


@pytest.fixture
def store(prepared: Any) -> Any:
    with open_store(prepared("sqlite", nothing).url, lambda: NOW) as made:
        yield made


def proposal_of(data: bytes, name: str = "export.csv") -> tuple[SiteProposal, ImportFile]:
    file = ImportFile("output", data, name=name)
    return propose_site(file, NOW.date()), file


def new(data: bytes, name: str = "hall", **chosen: Any) -> NewSite:
    proposal, file = proposal_of(data)
    return NewSite(name, proposal.config({**ASKED, **chosen}), proposal, file)


def advice_at(store: Store, name: str) -> str:
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        return sentence(site, read_people(connection, key))


CLOSED, FIRST, CHANGE = date(2026, 10, 5), date(2026, 8, 3), date(2026, 10, 12)


def half_a_season() -> bytes:
    """Eight stations from Monday to Friday, one closure, two people replaced, short days, and a busy Saturday."""
    chance, rows, day = random.Random(3), ["badge,day,pieces,hours"], FIRST
    level = {worker: chance.gauss(60.0, 8.0) for worker in range(10)}
    while day < date(2026, 11, 14):
        team = range(8) if day < CHANGE else range(2, 10)
        if (day.weekday() < 5 or day == date(2026, 9, 12)) and day != CLOSED:
            for worker in team:
                if chance.random() >= 0.04:
                    hours = chance.choice((7.5, 7.5, 7.5, 4.0))
                    made = round(chance.gauss(level[worker], 6.0) * hours / 7.5)
                    rows.append(f"{100 + worker},{day},{made},{hours}")
        day += timedelta(days=1)
    return "\n".join(rows).encode()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_exports_of_other_systems_make_a_site_each(store: Store, shape: Shape) -> None:
    draft, _ = drafted(shape, 0)
    proposal, file = proposal_of(path_of(shape, 0).read_bytes(), path_of(shape, 0).name)
    settings = {name: setting.value for name, setting in proposal.settings.items()}
    seen = {worker for worker, _ in draft.truth}
    assert settings["team"] == len(seen)
    assert settings["start"] == draft.days[0]
    assert all(setting.why.endswith(".") for setting in proposal.settings.values())
    done = open_site(store, NewSite("hall", proposal.config(ASKED), proposal, file), "ann")
    assert done.enrolled == settings["team"]
    with store.reading() as connection:
        key, site, _ = store.site(connection, "hall")
        people = read_people(connection, key)
        recorded = {
            (people.ids[row.worker], str(site.config.calendar.date_of(row.period)))
            for _, row in standing_rows(connection, key, range(len(site.workers)))
            if row.units is not None
        }
    assert site.roster.empty == 0
    assert len(site.profiles) == 1
    if settings["cutoff_hour"] == 0:
        assert {day for _, day in recorded} <= {day for _, day in draft.truth}
    plan = proposal.reading.read.plan
    assert plan is not None
    assert {worker for worker, _ in recorded} == seen or "worker_id" not in plan.columns
    assert verify(store, "hall").sound


def test_settings_are_those_that_the_file_was_drawn_up_with() -> None:
    proposal, _ = proposal_of(half_a_season())
    values = {name: setting.value for name, setting in proposal.settings.items()}
    assert (values["team"], values["hours_per_period"]) == (8, 7.5)
    assert (values["start"], values["weekdays"], values["closures"]) == (FIRST, (0, 1, 2, 3, 4), (CLOSED,))
    rates = sorted(row.units / row.hours for row in proposal.reading.rows if row.units and row.hours)
    assert values["low"] == 0.0
    assert rates[round(0.99 * len(rates))] < values["high"] < 1.5 * rates[-1]
    assert "1 other day counts as overtime" in proposal.settings["weekdays"].why
    assert "2 other people came and went" in proposal.settings["team"].why
    assert (
        propose_site(proposal_of(half_a_season())[1], NOW.date(), hours=8.0).settings["hours_per_period"].value == 8.0
    )


def test_less_of_errors_is_better_and_a_typing_error_does_not_set_the_range() -> None:
    days = [date(2026, 11, 2) + timedelta(days=at) for at in range(5)]
    rows = [f"{100 + worker},{day},{2 + (worker + day.day) % 5}" for day in days for worker in range(6)]
    values = proposal_of("\n".join(["Badge,Date,Errors", *rows]).encode())[0].settings
    assert (values["low"].value, values["high"].value) == (7.0, 0.0)  # 6 errors and a tenth, rounded up
    rows = [f"{100 + worker},{day},{50 + (worker + day.day) % 5}" for day in days for worker in range(6)]
    rows[7] = rows[7].rpartition(",")[0] + ",5200"
    values = proposal_of("\n".join(["Badge,Date,Units", *rows]).encode())[0].settings
    assert (values["low"].value, values["high"].value) == (0.0, 60.0)
    assert "1 lies above and counts as this" in values["high"].why


def test_more_of_errors_is_worse_in_every_language() -> None:
    rows = "".join(f"{who},2026-11-0{day},{who + day}\n" for who in (1, 2, 3) for day in range(2, 7))
    data = f"agent,date,errors\n{rows}".encode()
    said = {"en": "worse days", "de": "schlechtere Tage", "es": "días peores", "fr": "plus mauvais jours"}
    for code, words in said.items():
        with reading_in(i18n.language(code)):
            proposal, _ = proposal_of(data)
        assert words in proposal.settings["low"].why


def test_the_first_advice_is_what_the_site_then_says_and_nothing_is_written_before(store: Store) -> None:
    site, before = new(half_a_season()), contents(store)
    with rehearsed(store, site, "ann") as (scratch, imported):
        shown = advice_at(scratch, "hall")
        assert imported.enrolled == 10
    assert contents(store) == before
    done = open_site(store, site, "ann")
    assert done == imported
    assert advice_at(store, "hall") == shown
    with store.reading() as connection:
        _, state, _ = store.site(connection, "hall")
    assert state.open_proposals(PROPOSED)
    assert sorted(state.roster.active) == list(range(2, 10))
    assert verify(store, "hall").sound
    with pytest.raises(Conflict), rehearsed(store, site, "ann"):
        pass


def test_all_is_set_up_or_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(store)

    def interrupted(*given: Any, **named: Any) -> Any:
        record(*given, **named)
        raise ZeroDivisionError

    monkeypatch.setattr("crewlearn.advisor.setup.opening.record", interrupted)
    with pytest.raises(ZeroDivisionError):
        open_site(store, new(half_a_season()), "ann")
    assert contents(store) == before
    assert store.names() == []


def test_files_that_say_too_little_are_refused_with_what_is_missing() -> None:
    for data, words in (
        (b"a,b\n1,2\n", "a column of dates"),
        (b"period,worker_id,units\n1,a,5\n", "a column of dates"),
    ):
        with pytest.raises(CsvErrors) as refused:
            proposal_of(data)
        assert words in str(refused.value)
    with pytest.raises(InvalidInput):
        proposal_of(b"date,worker_id,units\n")
