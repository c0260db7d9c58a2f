"""Exports: text unchanged, settings in words, decisions with who answered them and when."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.evidence import exports as decided
from crewlearn.advisor.files import exports as export
from crewlearn.advisor.files.cells import neutralised, original
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.reading import read_groups, read_output, read_workers
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.files.worker_imports import import_workers
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.changes import changed, parsed
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.past.history import settings_since
from crewlearn.advisor.wording.past.undoing import undo
from crewlearn.advisor.wording.settings import differences, in_words
from crewlearn.problem.errors import InvalidInput
from support.stores import STATIONARY

ANY_TEXT = st.text(st.sampled_from("=+-@'\"a1.,é \t\rE"), max_size=8) | st.text(max_size=8)


@given(ANY_TEXT)
def test_neutralised_text_is_never_a_formula_and_is_given_back_exactly(text: str) -> None:
    shown = neutralised(text)
    assert original(shown) == text or shown == text
    assert not shown.startswith(("=", "@", "\t", "\r"))
    if shown.startswith(("+", "-")):
        float(shown.replace(",", "."))  # a plain number


@given(ANY_TEXT, ANY_TEXT)
def test_ids_and_names_survive_an_export(first: str, second: str) -> None:
    """Text read from a file is read back from an export unchanged."""

    def file(*cells: str) -> bytes:
        out = io.StringIO()
        csv.writer(out).writerows([["worker_id", "name"], cells])
        return out.getvalue().encode()

    try:
        (row,) = read_workers(file(first, second))
    except (InvalidInput, UnicodeEncodeError, ValueError):
        assume(False)
        raise
    (again,) = read_workers(file(neutralised(row.worker_id), neutralised(row.name or "")))
    assert (again.worker_id, again.name or "") == (row.worker_id, row.name or "")


def test_text_stays_in_its_cell_wherever_a_program_splits(store: Store) -> None:
    create(store)
    names = ["Ann\r=1+1", "Bo;=2+2", "Cy\t=3+3", "Di |=4", 'Ed "E", =5', "Flo =6"]
    import_workers(store, "s", [WorkerRow(f"w{at}", name) for at, name in enumerate(names)], b"", "ann")
    text = "".join(export.workers_as_csv(store, "s"))
    assert [row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))] == names
    for name in names:
        quoted = name.replace('"', '""')
        assert f'"{quoted}"' in text
    assert [row.name for row in read_workers(text.encode())] == [" ".join(name.split()) for name in names]


@pytest.mark.parametrize(
    "worker", [" a", "a ", "a\nb", "a\rb", "\u202eab", "a\u200bb", "a\xa0b", "Zoe\u0308", "", "x" * 101]
)
def test_an_id_that_no_file_could_hold_joins_by_no_other_way(store: Store, worker: str) -> None:
    create(store)
    with pytest.raises(InvalidInput, match="worker_id"):
        import_workers(store, "s", [WorkerRow(worker, "Ann")], b"", "ann")
    import_workers(store, "s", [WorkerRow("a"), WorkerRow("Zo\xeb ="), WorkerRow("'=1")], b"", "ann")
    again = read_workers("".join(export.workers_as_csv(store, "s")).encode())
    assert [row.worker_id for row in again] == ["a", "Zo\xeb =", "'=1"]


def test_an_id_of_before_this_rule_still_counts(store: Store) -> None:
    create(store)
    import_workers(store, "s", [WorkerRow("a")], b"", "ann")
    with store.changing() as connection:
        connection.execute(schema.identities.update().values(external_id=" a\u200b"))
    import_workers(store, "s", [WorkerRow(" a\u200b", "Ann")], b"", "ann")
    with store.reading() as connection:
        assert read_people(connection, store.key(connection, "s")).names == {0: "Ann"}


class TickingClock:
    """A clock that advances a minute with each reading."""

    def __init__(self) -> None:
        self.now = datetime(2026, 2, 2, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/s.db", clock=TickingClock()) as opened:
        yield opened


def create(store: Store, name: str = "s", **changes: Any) -> None:
    settings: dict[str, Any] = {
        "team": 2,
        "fee": 100.0,
        "units": Units(0.0, 100.0),
        "calendar": WorkCalendar(date(2026, 1, 5)),
        "horizon": 200,
        "mean_delay": 2.0,
        **STATIONARY,
        "policy": "value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5",
    }
    commands.create_site(store, name, SiteConfig(**{**settings, **changes}), "ann")


def site_of(store: Store, name: str = "s") -> Site:
    with store.reading() as connection:
        return store.site(connection, name)[1]


def with_proposals(store: Store) -> Site:
    create(store)
    rows = [WorkerRow(f"w{n}", f"Name {n}", active=n < 2) for n in range(6)]
    import_workers(store, "s", rows, b"", "ann")
    days = [OutputRow(2, None, n, f"w{w}", 90.0 if w else 10.0, None, "worked") for n in range(1, 6) for w in (0, 1)]
    import_output(store, "s", days, b"", "ann")
    return site_of(store)


def decisions(store: Store) -> dict[str, dict[str, str]]:
    return {row["proposal"]: row for row in csv.DictReader(io.StringIO("".join(decided.decisions_as_csv(store, "s"))))}


def test_decisions_say_who_answered_when_who_left_and_what_was_settled(store: Store) -> None:
    (proposal,) = with_proposals(store).open_proposals(PROPOSED)
    number = str(proposal.id)
    commands.reject(store, "s", proposal.id, "a slip of bo")
    commands.undo(store, "s", "bo")
    commands.approve(store, "s", proposal.id, "cy")
    commands.record_offer(store, "s", proposal.id, "offered", "di")
    commands.record_offer(store, "s", proposal.id, "accepted", "di")
    under_way = decisions(store)[number]
    assert (under_way["answered_by"], under_way["settled_as"], under_way["left"]) == ("cy", "", "")
    assert under_way["answered_at"] < under_way["offered_at"] < under_way["accepted_at"]
    commands.record_offer(store, "s", proposal.id, "started", "ed", out="w1")
    done = decisions(store)[number]
    assert (done["settled_as"], done["settled_by"], done["settled_on"]) == ("started", "ed", "2026-01-12")
    assert (done["out"], done["left"], done["fee"], done["fee_paid"]) == ("w0", "w1", "100.0", "yes")
    assert done["settled_at"] > done["accepted_at"]


def test_a_start_on_a_day_off_counts_from_the_next_working_day(store: Store) -> None:
    (proposal,) = with_proposals(store).open_proposals(PROPOSED)
    commands.approve(store, "s", proposal.id, "cy")
    with pytest.raises(InvalidInput, match=r"is before the approval, which is for 2026-01-12"):
        commands.record_offer(store, "s", proposal.id, "started", "ed", on=date(2026, 1, 9))
    with pytest.raises(InvalidInput, match=r"is after 2026-01-12, the coming working day: first record the output"):
        commands.record_offer(store, "s", proposal.id, "started", "ed", on=date(2026, 1, 17))
    warnings = commands.record_offer(store, "s", proposal.id, "started", "ed", on=date(2026, 1, 11))
    assert warnings == ["2026-01-11 is not a working day: it counts as 2026-01-12."]
    assert decisions(store)[str(proposal.id)]["settled_on"] == "2026-01-12"


def test_output_is_exported_day_by_day_whenever_it_was_recorded(store: Store) -> None:
    create(store)
    import_workers(store, "s", [WorkerRow("w0", "Name", active=True), WorkerRow("w1", "Other")], b"", "ann")
    days = [date(2026, 1, day) for day in (7, 5, 10, 6, 8, 9, 12)] + [date(2025, 12, day) for day in (30, 13, 29)]
    for some in (days[:1], days[1:]):
        rows = [OutputRow(2, day, None, "w0", 50.0, None, "worked") for day in some]
        import_output(store, "s", rows, b"", "ann", accept_unusual=True)
    table = csv.DictReader(io.StringIO("".join(export.output_as_csv(store, "s"))))
    assert [row["date"] for row in table] == [str(day) for day in sorted(days)]


def test_who_leaves_on_the_way_cancels_and_a_mistake_about_it_can_be_taken_back(store: Store) -> None:
    (proposal,) = with_proposals(store).open_proposals(PROPOSED)
    commands.approve(store, "s", proposal.id, "cy")
    commands.change_worker(store, "s", f"w{proposal.into}", "di", status="left")
    row = decisions(store)[str(proposal.id)]
    assert (row["status"], row["settled_as"], row["settled_by"]) == ("cancelled", "cancelled", "di")
    commands.undo(store, "s", "di")
    row = decisions(store)[str(proposal.id)]
    assert (row["status"], row["settled_as"], row["settled_by"]) == ("approved", "", "")


def test_rejecting_for_good_is_one_step_and_can_be_taken_back(store: Store) -> None:
    (proposal,) = with_proposals(store).open_proposals(PROPOSED)
    commands.reject(store, "s", proposal.id, "bo", "no", keep_out=True)
    assert site_of(store).workers[proposal.into].status == "blocked"
    assert proposal.into not in [other.into for other in site_of(store).open_proposals()]
    assert "for good" in undo(store, "s", "bo")
    assert site_of(store).workers[proposal.into].status == "pool"
    assert [other.id for other in site_of(store).open_proposals(PROPOSED)] == [proposal.id]


def test_a_pinned_worker_is_let_go_only_with_a_warning(store: Store) -> None:
    (proposal,) = with_proposals(store).open_proposals(PROPOSED)
    commands.change_worker(store, "s", "w1", "ann", pinned=True)
    (warning,) = commands.approve(store, "s", proposal.id, "bo", out="w1")
    assert "w1 is pinned" in warning
    (warning,) = commands.record_offer(store, "s", proposal.id, "started", "bo")
    assert "w1 is pinned" in warning


def test_workers_and_output_go_into_another_site_as_they_came_out(store: Store) -> None:
    calendar = WorkCalendar(date(2026, 1, 5), shifts_per_day=2)
    units = Units(5.0, 17.3)
    for name in ("s", "again"):
        create(store, name, calendar=calendar, units=units)
    rows = [
        WorkerRow("=1+1", "'=x", active=True, fee=2.5, prior_n=3, prior_mean=7.7, interview=0.25, pinned=True),
        WorkerRow("'t", "-a", active=True, status="pool"),
        WorkerRow("007", status="blocked"),
    ]
    import_workers(store, "s", rows, b"", "ann")
    made = [OutputRow(2, None, period, "=1+1", 9.1 + period, None, "worked") for period in (1, 2, 3, 4)]
    import_output(store, "s", made, b"", "ann")
    workers = "".join(export.workers_as_csv(store, "s")).encode()
    assert import_workers(store, "s", read_workers(workers), workers, "ann").known == 3, "the same file changes nothing"
    import_workers(store, "again", read_workers(workers), workers, "ann")
    output = "".join(export.output_as_csv(store, "s")).encode()
    assert output.splitlines()[0] == b"date,shift,period,worker_id,units,hours,attendance"
    import_output(store, "again", read_output(output), output, "ann")
    assert "".join(export.workers_as_csv(store, "again")).encode() == workers
    assert "".join(export.output_as_csv(store, "again")).encode() == output
    assert site_of(store, "again").estimates.counts.tolist() == site_of(store).estimates.counts.tolist()


def test_settings_have_plain_keys_and_the_record_says_since_when(store: Store) -> None:
    with_proposals(store)
    given = parsed(
        ["cost=300", "value_per_unit=0.5", "closed=2026-12-24", "closed=2026-12-25", "weekdays=mon,tue,wed,thu,fri,sat"]
    )
    with pytest.raises(InvalidInput, match="only future days"):
        commands.change_site(store, "s", {**given, "start": "2025-01-06"}, "bo")
    del given["weekdays"]
    done = differences(*commands.change_site(store, "s", given, "bo"))
    assert [change.setting for change in done] == ["fee", "value_per_unit", "closed"]
    assert (done[0].before, done[0].after) == ("100 a replacement", "300 a replacement")
    assert differences(*commands.change_site(store, "s", given, "bo")) == []
    since = settings_since(store, "s")
    assert (since["fee"].day, since["fee"].actor) == ("2026-01-12", "bo")
    assert since["team"].actor == "ann"
    commands.change_site(store, "s", {"open": "2026-12-24"}, "cy")
    assert site_of(store).config.calendar.closures == (date(2026, 12, 25),)
    with pytest.raises(InvalidInput, match="is not a closure"):
        commands.change_site(store, "s", {"open": "2026-12-24"}, "cy")
    commands.change_site(store, "s", {"output_range": "0:50"}, "dee")
    assert settings_since(store, "s")["output_range"].actor == "dee"
    with pytest.raises(InvalidInput, match="did you mean 'horizon'"):
        commands.change_site(store, "s", {"horizn": 3}, "cy")


def test_every_setting_that_is_shown_can_be_set() -> None:
    config = SiteConfig(2, 5.0, Units(0.0, 9.0), WorkCalendar(date(2026, 1, 5)), 200, 2.0)
    others: dict[str, Any] = {
        "team": 3,
        "fee": 6,
        "fee_due": "completion",
        "output_range": "1:5",
        "value_per_unit": 3,
        "hours": 8,
        "horizon": 99,
        "rolling": True,
        "mean_delay": 4,
        "learn_delay": True,
        "policy": "dr-ucb",
        "conventions": "as-released",
        "least_tenure": 4,
        "most_a_week": 1,
        "ask_again_after": 3,
        "start": "2026-01-06",
        "weekdays": "mon,tue",
        "closed": "2026-12-24",
        "shifts": 2,
        "cutoff_hour": 6,
    }
    assert others.keys() == in_words(config).keys()
    for key, value in others.items():
        differing = [change.setting for change in differences(config, changed(config, {key: value}))]
        assert key in differing, key


def test_groups_are_read_as_every_other_file() -> None:
    rows = read_groups("\ufeffPersonalnummer;Gruppe\n1;a\n2;b\n3;\n".encode())
    assert [(row.worker_id, row.group) for row in rows] == [("1", "a"), ("2", "b")]
    with pytest.raises(CsvErrors, match="each worker once"):
        read_groups(b"worker_id,group\n1,a\n1,b\n")
    with pytest.raises(CsvErrors, match="group"):
        read_groups(b"worker_id,colour\n1,a\n")


def test_output_of_somebody_erased_never_becomes_that_of_another(store: Store) -> None:
    for name in ("s", "again"):
        create(store, name)
    import_workers(store, "s", [WorkerRow("gone", active=True), WorkerRow("worker 0", active=True)], b"", "ann")
    made = [OutputRow(2, None, 1, who, units, None, "worked") for who, units in (("gone", 11.0), ("worker 0", 22.0))]
    import_output(store, "s", made, b"", "ann")
    commands.erase_worker(store, "s", "gone", "ann")
    data = "".join(export.output_as_csv(store, "s")).encode()
    import_workers(store, "again", [WorkerRow("worker 0", active=True)], b"", "ann")
    with pytest.raises(CsvErrors, match="people who were erased have none in an export, and `skip_unknown` leaves"):
        read_output(data)
    done = import_output(store, "again", read_output(data, blank_ids=True), data, "ann", skip_unknown=True)
    assert (done.recorded, done.skipped) == (1, 1)
    assert done.warnings == ("1 row without a worker's id, as of people who were erased, left out",)
    assert site_of(store, "again").earned == 22.0
    with pytest.raises(CsvErrors, match="a worker known here"):
        import_output(store, "again", read_output(data, blank_ids=True), data, "ann")


def test_yes_and_no_are_taken_as_they_are_shown() -> None:
    words = {"yes": True, "Yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
    for word, value in words.items():
        assert parsed([f"rolling={word}"]) == {"rolling": value}


def test_settings_speak_of_one_and_of_an_hour() -> None:
    config = SiteConfig(1, 5.0, Units(0.0, 9.0, 1.0, 1.0), WorkCalendar(date(2026, 1, 5)), 1, 1.0, most_a_week=1)
    words = in_words(config)
    assert words["output_range"] == "0 to 9 units an hour"
    assert words["mean_delay"] == "1 period from an offer to the first day"
    assert (words["hours"], words["most_a_week"]) == ("1 hour a period", "1 replacement")
