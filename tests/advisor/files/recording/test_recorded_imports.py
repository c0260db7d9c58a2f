"""Taking an import back: the site is as if it had not been, what depends on it is named, and the record stays sound."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.recording.recorded_imports import RecordedImport, recorded_imports, undo_import
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import Unknown
from support.stores import (
    CALENDAR,
    ME,
    config,
    contents,
    day,
    proposed,
    refused,
    site_with_proposals,
    sound,
    state_of,
    types_of,
)

EVOLVING = "value-of-replacement-evolving"
POLICIES = ("value-of-replacement", "dr-ucb:gamma=1", "a-omm", "support.learners:Recent", EVOLVING)


def taken_in(store: Store, *days: Sequence[OutputRow], name: str = "site", correct: bool = False) -> int:
    """Import days as one file; return the number of the import."""
    rows = [row for rows in days for row in rows]
    output_imports.import_output(store, name, rows, b"", ME, correct=correct)
    return listed(store, name)[-1].number


def listed(store: Store, name: str = "site") -> list[RecordedImport]:
    with store.reading() as connection:
        return recorded_imports(connection, store.key(connection, name))


def standing(store: Store, name: str = "site") -> dict[tuple[int, int], float | None]:
    table = schema.output_rows
    with store.reading() as connection:
        rows = connection.execute(
            table.select().where(table.c.site == store.key(connection, name), table.c.replaced_in.is_(None))
        )
        return {(row.worker, row.period): row.units for row in rows}


def facts(store: Store, name: str) -> dict[str, Any]:
    """Return what must be as if an import had never been: all but proposals' numbers and what the policy remembers."""
    site = state_of(store, name)
    learned = None
    if site.policy.learns_by_day:
        with store.reading() as connection:
            learned = site.policy.state_to_json(policy_state(connection, store.key(connection, name), site))
    names = ("workers", "estimates", "period", "values", "first_team", "began", "enrolled", "seats", "fees", "roster")
    plain = {key: value for key, value in site.to_json().items() if key in names}
    pairs = sorted((proposal.out, proposal.into) for proposal in site.open_proposals())
    return {**plain, "pairs": pairs if learned is not None else None, "learned": learned, "rows": standing(store, name)}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_site_is_as_if_the_import_had_not_been(store: Store, policy: str) -> None:
    """Each of three imports is taken back at one site and never made at another."""
    days = [[*day(1), *day(2)], day(3, "ac", 80.0), [*day(4), *day(5, "a")]]
    for without in range(3):
        for name in (f"undone {without}", f"never {without}"):
            site_with_proposals(store, name, policy=policy)
        numbers = [taken_in(store, rows, name=f"undone {without}") for rows in days]
        undo_import(store, f"undone {without}", numbers[without], ME)
        for place, rows in enumerate(days):
            if place != without:
                taken_in(store, rows, name=f"never {without}")
        assert facts(store, f"undone {without}") == facts(store, f"never {without}")
        sound(store, f"undone {without}")


@pytest.mark.parametrize("policy", POLICIES)
def test_life_goes_on_after_an_undo(store: Store, policy: str) -> None:
    site_with_proposals(store, policy=policy)
    taken_in(store, day(1))
    wrong = taken_in(store, day(2, "ac", 5.0), day(3, "ac", 5.0))
    undo_import(store, "site", wrong, ME)
    assert state_of(store).period == 2
    right = taken_in(store, day(2), day(3))
    assert right > wrong
    assert standing(store) == {(0, p): 52.0 for p in (1, 2, 3)} | {(2, p): 53.0 for p in (1, 2, 3)}
    assert state_of(store).earned == 3 * (52.0 + 53.0)
    sound(store)


def test_a_correction_is_taken_back_before_what_it_corrected(store: Store) -> None:
    site_with_proposals(store)
    first = taken_in(store, day(1))
    second = taken_in(store, day(1, "a", 70.0), day(2), correct=True)
    third = taken_in(store, day(1, "a", 75.0), correct=True)
    refused(store, lambda: undo_import(store, "site", first, ME), "1 row of it was corrected since", Conflict)
    refused(store, lambda: undo_import(store, "site", second, ME), "take the correction back first", Conflict)
    assert standing(store)[0, 1] == 77.0
    undo_import(store, "site", third, ME)
    assert standing(store)[0, 1] == 72.0
    undo_import(store, "site", second, ME)
    assert standing(store) == {(0, 1): 52.0, (2, 1): 53.0}
    sound(store)
    undo_import(store, "site", first, ME)
    assert standing(store) == {}
    assert state_of(store).period == 1
    sound(store)


def test_an_answer_given_since_is_a_dependence_unless_it_was_taken_back(store: Store) -> None:
    site_with_proposals(store)
    commands.approve(store, "site", proposed(store)[0], ME)
    number = taken_in(store, day(1))
    answer = proposed(store)[0]
    commands.reject(store, "site", answer, ME, "no")
    refused(store, lambda: undo_import(store, "site", number, ME), "a proposal was answered since", Conflict)
    commands.undo(store, "site", ME)
    assert listed(store)[0].obstacle == ""
    undo_import(store, "site", number, ME)
    assert types_of(store)[-2:] == ["import-undone", "advised"]
    sound(store)


def test_other_facts_recorded_since_stay(store: Store) -> None:
    site_with_proposals(store)
    number = taken_in(store, day(1), day(2))
    worker_imports.import_workers(store, "site", [WorkerRow("g")], b"", ME)
    commands.change_worker(store, "site", "a", ME, status="left")
    commands.change_site(store, "site", {"fee": 9.0, "value_per_unit": 2.0}, ME)
    undo_import(store, "site", number, ME)
    site = state_of(store)
    assert (len(site.workers), site.workers[0].status, site.config.fee, site.period) == (7, "left", 9.0, 1)
    sound(store)
    taken_in(store, day(1, "c"))
    sound(store)


def test_undoing_twice_changes_nothing_and_others_are_told(store: Store) -> None:
    site_with_proposals(store)
    number = taken_in(store, day(1))
    undo_import(store, "site", number, ME)
    before = contents(store)
    assert undo_import(store, "site", number, ME).undone is not None
    assert contents(store) == before
    refused(store, lambda: undo_import(store, "site", number, "bo"), f"taken back already, by {ME}", Conflict)
    refused(store, lambda: undo_import(store, "site", 1, ME), "is not an import", Unknown)
    refused(store, lambda: undo_import(store, "site", number + 50, ME), "is not an import", Unknown)


def test_eight_at_once_take_it_back_once(store: Store) -> None:
    site_with_proposals(store)
    number = taken_in(store, day(1))

    def send(place: int) -> None:
        if place % 2:
            undo_import(store, "site", number, ME)
        else:
            output_imports.import_output(store, "site", day(2 + place), b"", ME)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(8)))
    assert types_of(store).count("import-undone") == 1
    assert {period for _, period in standing(store)} == {2, 4, 6, 8}
    sound(store)


def test_a_first_team_taken_from_output_follows_it(store: Store) -> None:
    commands.create_site(store, "site", config(), ME)
    worker_imports.import_workers(store, "site", [WorkerRow(worker) for worker in "abcdef"], b"", ME)
    later = taken_in(store, day(3, "bd"))
    assert (state_of(store).began, state_of(store).first_team) == (3, [1, 3])
    earlier = taken_in(store, day(2, "ac"))
    assert (state_of(store).began, state_of(store).first_team) == (2, [0, 2])
    undo_import(store, "site", earlier, ME)
    assert (state_of(store).began, state_of(store).first_team) == (3, [1, 3])
    undo_import(store, "site", later, ME)
    assert (state_of(store).began, state_of(store).first_team) == (0, [])
    sound(store)


def on(first: date, days: int, who: str = "ac", units: float = 50.0) -> list[OutputRow]:
    """Output on consecutive dates, whatever weekday they are."""
    return [
        OutputRow(2 + place, first + timedelta(days=place), None, worker, units + place, None, "worked")
        for place in range(days)
        for worker in who
    ]


HISTORY = date(2023, 11, 3)
"""A Friday before the calendar's start, so that a weekend follows."""


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("named", [True, False], ids=["team named", "team from output"])
def test_history_and_overtime_taken_back_count_no_longer(store: Store, policy: str, *, named: bool) -> None:
    """All facts are as if it had not been; what is learned knows of the days that stay open, on which nobody worked."""
    for name in ("undone", "never"):
        commands.create_site(store, name, config(policy=policy), ME)
        people = [WorkerRow(worker, active=named and worker in "ac") for worker in "abcdef"]
        worker_imports.import_workers(store, name, people, b"", ME)
        taken_in(store, day(1), day(2), day(5, "ab"), name=name)
    saturday = CALENDAR.date_of(5) + timedelta(days=1)
    history = taken_in(store, on(HISTORY, 5, "bd"), on(saturday, 1, "bc"), name="undone")
    site = state_of(store, "undone")
    assert CALENDAR.start > site.config.calendar.date_of(site.began) == HISTORY
    assert site.first_team == [1, 3]
    plain = listed(store, "undone")[-1].to_json(site)
    assert (plain["from"], plain["to"]) == (str(HISTORY), str(saturday))
    undo_import(store, "undone", history, ME)
    after, never = facts(store, "undone"), facts(store, "never")
    for key in after.keys() - {"learned", "pairs"}:
        assert after[key] == never[key], key
    assert len(state_of(store, "undone").config.calendar.opened) == 6, "opened days stay open"
    assert standing(store, "undone") == standing(store, "never")
    sound(store, "undone")
    again = taken_in(store, on(HISTORY, 5, "bd"), name="undone")
    assert state_of(store, "undone").first_team == [1, 3]
    taken_in(store, on(HISTORY - timedelta(days=1), 1, "e"), name="undone")
    undo_import(store, "undone", again, ME)
    site = state_of(store, "undone")
    assert site.first_team == [4], "the first day that is left tells it"
    sound(store, "undone")


def test_the_coming_period_is_found_by_dates(store: Store) -> None:
    """The last day left is a Saturday, whose number is below all others."""
    site_with_proposals(store)
    saturday = CALENDAR.date_of(5) + timedelta(days=1)
    taken_in(store, day(1), day(5))
    taken_in(store, on(saturday, 1))
    last = taken_in(store, day(6), day(7))
    assert state_of(store).period == 8
    undo_import(store, "site", last, ME)
    site = state_of(store)
    assert site.period == 6
    assert {site.config.calendar.date_of(site.workers[number].recorded_to) for number in (0, 2)} == {saturday}
    sound(store)


def test_a_team_taken_from_the_output_is_a_dependence(store: Store) -> None:
    site_with_proposals(store)
    before = taken_in(store, day(1), day(2))
    output_imports.import_output(
        store, "site", [row for period in range(3, 9) for row in day(period, "bd")], b"", ME, team_from_output=True
    )
    assert types_of(store)[-2] == "team-recorded"
    number = listed(store)[-1].number
    refused(store, lambda: undo_import(store, "site", before, ME), "the team was taken from the output", Conflict)
    refused(store, lambda: undo_import(store, "site", number, ME), "the team was taken from the output", Conflict)
    described = [imported.to_json(state_of(store))["can_undo"] for imported in listed(store)]
    assert described == [False, False]
    taken_in(store, day(8, "bd", 60.0), correct=True)
    undo_import(store, "site", listed(store)[-1].number, ME)
    sound(store)


def test_the_list_of_imports(store: Store) -> None:
    site_with_proposals(store)
    first = taken_in(store, day(1), day(2))
    second = taken_in(store, day(2, "a", 60.0), correct=True)
    third = taken_in(store, day(3))
    undo_import(store, "site", third, ME)
    site = state_of(store)
    described = [imported.to_json(site) for imported in listed(store)]
    assert [plain["number"] for plain in described] == [first, second, third]
    assert [plain["rows"] for plain in described] == [4, 1, 2]
    assert [plain["replaced"] for plain in described] == [1, 0, 0]
    assert [plain["corrected"] for plain in described] == [0, 1, 0]
    assert [plain["can_undo"] for plain in described] == [False, True, False]
    assert [plain["undone"] for plain in described] == [None, None, third + 2]
    assert (described[0]["from"], described[0]["to"]) == (str(CALENDAR.date_of(1)), str(CALENDAR.date_of(2)))


def test_a_damaged_undo_is_a_fault(store: Store) -> None:
    """A row that the undo should have taken back still stands."""
    site_with_proposals(store)
    undo_import(store, "site", taken_in(store, day(1)), ME)
    table = schema.output_rows
    with store.changing() as connection:
        connection.execute(table.update().where(table.c.worker == 0).values(replaced_in=None))
    assert "the rows that stand differ from the record" in verify(store, "site").faults
