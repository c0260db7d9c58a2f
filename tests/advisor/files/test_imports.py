"""Imports: changes to workers are recorded, and every error is reported at once."""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.imports import ImportFile, take_in
from crewlearn.advisor.files.measuring import as_stored
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.reading import read_output
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.files.worker_imports import import_workers
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import MOST_FEE, Measured, Units
from crewlearn.advisor.ledger.site import PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import InvalidInput
from support.stores import STATIONARY

START = date(2026, 1, 5)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/s.db", clock=lambda: datetime(2026, 3, 2, tzinfo=UTC)) as opened:
        yield opened
        for name in opened.names():
            checked = verify(opened, name)
            assert checked.sound, checked.faults


def create(store: Store, name: str = "s", **changes: Any) -> None:
    settings: dict[str, Any] = {
        "team": 2,
        "fee": 1.0,
        "units": Units(0.0, 100.0),
        "calendar": WorkCalendar(START),
        "horizon": 200,
        "mean_delay": 2.0,
        **STATIONARY,
    }
    commands.create_site(store, name, SiteConfig(**{**settings, **changes}), "ann")


def people(store: Store, *rows: WorkerRow, name: str = "s") -> ImportResult:
    return import_workers(store, name, rows, b"", "ann")


def site_of(store: Store, name: str = "s") -> Site:
    with store.reading() as connection:
        return store.site(connection, name)[1]


def version(store: Store) -> int:
    with store.reading() as connection:
        return store.site(connection, "s")[2]


def output(worker: str, period: int, units: float, line: int = 2) -> OutputRow:
    return OutputRow(line, None, period, worker, units, None, "worked")


def test_a_value_is_hashed_as_the_database_gives_it_back() -> None:
    stored = [as_stored("scrap", value, kind) for value, kind in ((3, float), (np.int64(3), int), (-0.0, float))]
    assert [repr(value) for value in stored] == ["3.0", "3", "0.0"]
    assert as_stored("scrap", None, int) is None
    with pytest.raises(InvalidInput, match=r"scrap = 2\.5: must be of type int"):
        as_stored("scrap", 2.5, int)


def test_a_changed_prior_counts_as_if_it_had_been_known_from_the_start(store: Store) -> None:
    before = [WorkerRow("a", active=True, prior_n=40, prior_mean=90.0), WorkerRow("b", active=True), WorkerRow("c")]
    after = [WorkerRow("a", active=True, prior_n=60, prior_mean=20.0), WorkerRow("b", active=True), WorkerRow("c")]
    days = [output(who, period, 50.0 + 7.3 * (period % 3)) for period in (1, 2, 3, 4) for who in "ab"]
    for name, first in (("changed", before), ("known", after)):
        create(store, name)
        people(store, *first, name=name)
        import_output(store, name, days, b"", "ann")
    assert people(store, *after, name="changed") == ImportResult(recorded=1, known=2)
    changed, known = site_of(store, "changed"), site_of(store, "known")
    assert changed.workers == known.workers
    for field in ("counts", "sums", "squares"):
        assert getattr(changed.estimates, field).tolist() == getattr(known.estimates, field).tolist()
    assert changed.earned == known.earned
    assert changed.after is not None
    assert known.after is not None
    for field in ("spared_workers", "spared_counts", "spared_sums"):
        assert changed.after[field] == known.after[field]
    assert people(store, *after, name="changed") == ImportResult(known=3)


def test_a_prior_can_be_taken_away_and_one_outside_the_range_is_clipped_with_a_warning(store: Store) -> None:
    create(store)
    done = people(store, WorkerRow("a", prior_n=5, prior_mean=130.0), WorkerRow("b"))
    assert done.warnings == ("1 prior mean is outside the range: kept as given, each counts as its end",)
    assert site_of(store).estimates.sums.tolist() == [5.0, 0.0]
    people(store, WorkerRow("a", prior_n=0))
    assert site_of(store).estimates.counts.tolist() == [0, 0]


def test_a_new_name_moves_the_version_and_not_the_advice(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", "Ann", active=True), WorkerRow("b", "Bo", active=True))
    before, state = version(store), site_of(store)
    assert people(store, WorkerRow("a", "Anna"), WorkerRow("b", "Bo")) == ImportResult(recorded=1, known=1)
    assert version(store) == before + 1
    assert site_of(store).advice == state.advice
    assert people(store, WorkerRow("a", "Anna")) == ImportResult(known=1)
    assert version(store) == before + 1


def test_pins_come_with_the_file(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", active=True, pinned=True), WorkerRow("b", active=True))
    assert [worker.pinned for worker in site_of(store).workers] == [True, False]
    people(store, WorkerRow("a"), WorkerRow("b", pinned=True))
    assert [worker.pinned for worker in site_of(store).workers] == [True, True]


def test_who_lacks_an_interview_score_is_named_by_the_firm_s_own_id(store: Store) -> None:
    create(store, policy="interview-screen")
    with pytest.raises(
        InvalidInput, match=r"needs an interview score for everybody; import the one that is missing .E-77"
    ):
        people(store, WorkerRow("E-12", interview=0.5), WorkerRow("E-77"))
    create(store, "other")
    people(store, WorkerRow("E-77", active=True), name="other")
    with pytest.raises(InvalidInput, match="E-77"):
        commands.change_site(store, "other", {"policy": "work-trial"}, "ann")


def test_all_that_the_record_finds_wrong_is_said_at_once(store: Store) -> None:
    create(store, units=Units(0.0, 20.0, hours_per_period=8.0))
    people(store, WorkerRow("a", active=True), WorkerRow("b", active=True))
    rows = [
        output("a", 1, 50.0, line=2),
        output("x", 1, 50.0, line=3),
        OutputRow(4, date(2026, 1, 10), None, "a", 5.0, None, "worked"),
        OutputRow(5, date(2026, 3, 3), None, "a", 5.0, None, "worked"),
        OutputRow(6, date(2026, 1, 6), None, "a", 5.0, 0.0, "worked"),
        output("y", 1, 50.0, line=7),
        output("a", 1, 51.0, line=8),
    ]
    before = version(store)
    with pytest.raises(CsvErrors) as caught:
        import_output(store, "s", rows, b"", "ann", what="monday.csv", overtime=False)
    errors = [(error.line, error.column, error.value) for error in caught.value.errors]
    assert errors == [
        (3, "worker_id", "x"),
        (4, "date", "2026-01-10"),
        (5, "date", "2026-03-03"),
        (6, "hours", "0"),
        (7, "worker_id", "y"),
        (8, "worker_id", "a"),
    ]
    text = str(caught.value)
    for words in ("monday.csv: 6 errors", "a Saturday", "today is 2026-03-02", "`skip_unknown`", "import the worker"):
        assert words in text
    assert version(store) == before


def test_of_many_errors_the_first_are_shown_and_all_are_counted(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", active=True))
    with pytest.raises(CsvErrors, match="500 rows are of people not known here: enrol them: `yes`") as caught:
        import_output(store, "s", [output(f"x{line}", 1, 1.0, line) for line in range(2, 502)], b"", "ann")
    assert (len(caught.value.errors), caught.value.total) == (100, 500)


def test_rows_of_people_who_were_erased_can_be_left_out(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", active=True), WorkerRow("b", active=True))
    commands.erase_worker(store, "s", "b", "ann")
    rows = [output("a", 1, 50.0), output("b", 1, 60.0), output("b", 2, 60.0)]
    with pytest.raises(CsvErrors, match="erased"):
        import_output(store, "s", rows, b"", "ann")
    done = import_output(store, "s", rows, b"", "ann", skip_unknown=True)
    assert (done.recorded, done.skipped) == (1, 2)
    assert done.warnings == ("2 rows of 1 worker not known here left out",)
    assert import_output(store, "s", rows[1:], b"", "ann", skip_unknown=True).skipped == 2


def test_output_of_people_outside_the_team_is_counted_by_who_was_in_it_that_day(store: Store) -> None:
    """a and b are in the team first, c replaces b from period 4 on; a file of all days is imported last."""
    create(store, policy="value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5")
    people(store, WorkerRow("a", active=True), WorkerRow("b", active=True), WorkerRow("c"))
    done = import_output(store, "s", [output(who, period, 9.0) for period in (1, 2, 3) for who in "abc"], b"", "ann")
    assert any(warning.startswith("3 of 9 outputs are of people") for warning in done.warnings)
    commands.change_worker(store, "s", "b", "ann", status="left")
    (proposal,) = site_of(store).open_proposals(PROPOSED)
    commands.approve(store, "s", proposal.id, "bo")
    commands.record_offer(store, "s", proposal.id, "started", "bo")
    rows = [output(who, period, 50.0) for period in (4, 5) for who in "bc"]
    done = import_output(store, "s", rows, b"", "ann")
    assert any(warning.startswith("2 of 4 outputs are of people") for warning in done.warnings)
    late = [output("b", 1, 10.0), output("c", 1, 10.0)]  # b was in the team then, c was not
    done = import_output(store, "s", late, b"", "ann", correct=True)
    assert any(warning.startswith("1 of 2 outputs is of somebody") for warning in done.warnings)


def test_shifts_are_periods_of_their_own(store: Store) -> None:
    create(store, calendar=WorkCalendar(START, shifts_per_day=2))
    people(store, WorkerRow("a", active=True), WorkerRow("b", active=True))
    data = b"date;Schicht;worker;units\n05.01.2026;1;a;10\n05.01.2026;2;a;20\n06.01.2026;1;a;30\n"
    assert import_output(store, "s", read_output(data), data, "ann").recorded == 3
    assert site_of(store).period == 4
    for bad, message in ((b"2026-01-07,,b,5", "which of the day's 2 shifts"), (b"2026-01-07,3,b,5", "from 1 to 2")):
        data = b"date,shift,worker,units\n" + bad + b"\n"
        with pytest.raises(CsvErrors, match=message):
            import_output(store, "s", read_output(data), data, "ann")
    with pytest.raises(CsvErrors, match="shift 1"):
        read_output(b"date,shift,worker,units\n2026-01-07,1,b,5\n2026-01-07,1,b,6\n")


def test_people_who_are_known_may_be_named_as_the_first_team_until_something_begins(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a"), WorkerRow("b"), WorkerRow("c"))
    assert people(store, WorkerRow("a"), WorkerRow("b", active=True), WorkerRow("c", active=True)) == ImportResult(2, 1)
    assert set(site_of(store).roster.active) == {1, 2}
    assert [worker.since for worker in site_of(store).workers] == [0, 1, 1]
    assert people(store, WorkerRow("b", active=True), WorkerRow("c", active=True)) == ImportResult(known=2)
    late = people(store, WorkerRow("a", active=True), WorkerRow("d", active=True))
    assert late.warnings == ("a and d: active counts at the start only; record later changes as the team",)
    assert set(site_of(store).roster.active) == {1, 2}


def test_known_and_new_people_together_may_not_be_more_than_the_stations(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a"), WorkerRow("b"))
    rows = [WorkerRow(who, active=True) for who in "abc"]
    with pytest.raises(InvalidInput, match="active = 3: the site has 2 stations"):
        people(store, *rows)


def test_who_was_sent_home_is_paid_for_what_they_made_and_not_judged_by_it(store: Store) -> None:
    create(store, units=Units(0.0, 100.0, value_per_unit=0.5))
    people(store, WorkerRow("a", active=True), WorkerRow("b", active=True))
    data = b"period,worker,units,attendance\n1,a,30,sent home\n1,b,0,sent home\n"
    assert import_output(store, "s", read_output(data), data, "ann").recorded == 2
    assert site_of(store).earned == 15.0
    assert site_of(store).estimates.counts.tolist() == [0, 0]
    with pytest.raises(CsvErrors, match="nothing or 0, as attendance is absent"):
        import_output(store, "s", [OutputRow(2, None, 2, "a", 5.0, None, "absent")], b"", "ann")


def test_a_date_and_a_period_that_disagree_are_refused(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", active=True))
    good = OutputRow(2, date(2026, 1, 6), 2, "a", 5.0, None, "worked")
    bad = OutputRow(3, date(2026, 1, 7), 2, "a", 5.0, None, "worked")
    with pytest.raises(CsvErrors, match="2026-01-07 is period 3") as caught:
        import_output(store, "s", [good, bad], b"", "ann")
    assert [(error.line, error.column, error.value) for error in caught.value.errors] == [(3, "period", "2")]
    assert import_output(store, "s", [good], b"", "ann").recorded == 1


def test_a_prior_mean_outside_the_range_is_kept_as_it_was_given(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", prior_n=5, prior_mean=130.0), WorkerRow("b", prior_n=2, prior_mean=33.3))
    site = site_of(store)
    assert [site.prior_mean_of(number) for number in (0, 1)] == [130.0, 33.3]
    assert site.estimates.sums[0] == 5.0
    assert people(store, WorkerRow("a", prior_n=5, prior_mean=130.0)).recorded == 0
    assert people(store, WorkerRow("a", prior_n=5, prior_mean=150.0)).recorded == 1
    people(store, WorkerRow("b", prior_n=0))
    site = site_of(store)
    assert [site.prior_mean_of(number) for number in (0, 1)] == [150.0, None]


def test_who_left_or_was_erased_needs_no_interview_score(store: Store) -> None:
    create(store)
    people(store, WorkerRow("a", interview=0.5, active=True), *(WorkerRow(who) for who in "bcd"))
    commands.erase_worker(store, "s", "b", "ann")
    commands.change_worker(store, "s", "c", "ann", status="left")
    with pytest.raises(InvalidInput, match=r"import the one that is missing \(d\)"):
        commands.change_site(store, "s", {"policy": "interview-screen"}, "ann")
    people(store, WorkerRow("d", interview=0.25))
    commands.change_site(store, "s", {"policy": "interview-screen"}, "ann")
    assert [proposal.into for proposal in site_of(store).open_proposals(PROPOSED)] == [3]


def test_one_limit_holds_for_every_fee(store: Store) -> None:
    create(store, fee=MOST_FEE)
    people(store, WorkerRow("a", fee=MOST_FEE))
    more = math.nextafter(MOST_FEE, math.inf)
    with pytest.raises(InvalidInput, match="fee"):
        create(store, "other", fee=more)
    with pytest.raises(InvalidInput, match="fee"):
        people(store, WorkerRow("b", fee=more))
    with pytest.raises(InvalidInput, match="fee"):
        people(store, WorkerRow("a", fee=more))
    with pytest.raises(InvalidInput, match="fee"):
        commands.change_worker(store, "s", "a", "ann", fee=more)


def test_each_row_is_measured_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    create(store)
    people(store, WorkerRow("a"), WorkerRow("b"))
    measured: list[float] = []
    plain = Units.policy_output

    def counting(units: Units, made: float, hours: float | None = None) -> Measured:
        measured.append(made)
        return plain(units, made, hours)

    data = b"period,worker_id,units\n1,a,11\n1,b,12\n2,a,21\n2,b,122\n"
    with monkeypatch.context() as patched:
        patched.setattr(Units, "policy_output", counting)
        done = take_in(store, "s", ImportFile("output", data), "ann")
    assert (done.recorded, sorted(measured)) == (4, [11.0, 12.0, 21.0, 122.0])
    assert any("outside the range" in warning for warning in done.warnings)


def test_a_kind_of_file_that_nobody_knows_is_refused(store: Store) -> None:
    create(store)
    with pytest.raises(InvalidInput, match="kind"):
        take_in(store, "s", ImportFile("groups", b"worker_id,group\na,x\n"), "ann")
