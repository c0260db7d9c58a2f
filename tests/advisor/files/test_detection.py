"""Detection: what a file is taken to hold, tried on small files with one peculiarity each."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.detection import layout, reshaping, roles
from crewlearn.advisor.files.detection.layout import layout_with
from crewlearn.advisor.files.detection.plan import Measure, ReadingPlan
from crewlearn.advisor.files.detection.proposing import ProposedReading, Wishes, parse_filter, plan_layout, propose
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.summing import Summed, sum_rows
from crewlearn.advisor.files.detection.words.names import KnownPeople
from crewlearn.advisor.files.detection.words.values import is_number
from crewlearn.advisor.files.errors.file_errors import CsvErrors, ErrorCollector
from crewlearn.advisor.files.sources.opening import sources_of
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.problem.errors import InvalidInput
from support.workbooks import packed, sheet_xml, workbook

TODAY = date(2026, 11, 18)


def site(low: float = 0.0, high: float = 1000.0, **more: Any) -> SiteView:
    known = KnownPeople(more.pop("known", {}))
    hours = more.pop("hours_per_period", None)
    return SiteView(WorkCalendar(date(2020, 1, 6), **more), Units(low, high, hours_per_period=hours), known, TODAY)


def proposed(data: bytes | str, at: SiteView, **wishes: Any) -> ProposedReading:
    content = data.encode() if isinstance(data, str) else data
    return propose("x", sources_of("x", content), at, Wishes(wishes.pop("mapping", {}), **wishes))


def summed(data: bytes | str, at: SiteView | None = None, errors: int = 0, **wishes: Any) -> Summed:
    here = at or site()
    found = proposed(data, here, **wishes)
    collected = ErrorCollector("x")
    result = sum_rows(found.layout, found.layout.body(), found.plan, found.writing, here, collected)
    assert collected.total == errors, collected.errors
    return result


def days(read: Summed) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    return {(row.worker_id, str(row.day)): (row.units, row.hours) for row in read.rows}


def test_the_header_may_stand_in_any_of_the_first_lines() -> None:
    body = "Badge,Date,Pieces\n1,2026-11-02,400\n2,2026-11-02,500\n"
    for above in ("", "Report\n", "Report\n\nWarehouse 7,,\nDate: 2026-11-02,,\n", "x,y\n" * 18):
        found = proposed(above + body, site())
        assert found.layout.headers == ("Badge", "Date", "Pieces")
        assert found.layout.line == above.count("\n") + 1


@pytest.mark.parametrize(
    "line",
    [
        "Total,,900",
        "1 Total,,900",
        ",Subtotal,900",
        ",,900",
        "Gesamt,,900",
        "Totaal,,900",
        "Sous-total,,900",
        ",2026-11-02,900",
    ],
)
def test_totals_are_dropped_whatever_they_are_called(line: str) -> None:
    read = summed(f"Badge,Date,Pieces\n1,2026-11-02,400\n2,2026-11-02,500\n{line}\n1,2026-11-03,410\n")
    assert read.totals == 1
    assert days(read) == {
        ("1", "2026-11-02"): (400.0, None),
        ("2", "2026-11-02"): (500.0, None),
        ("1", "2026-11-03"): (410.0, None),
    }


def test_a_row_without_a_worker_that_is_no_total_is_an_error() -> None:
    text = "Badge,Date,Pieces\n1,2026-11-02,400\n2,2026-11-02,500\n,2026-11-02,77\n1,2026-11-03,1\n"
    assert len(summed(text, errors=1).rows) == 3


def test_rows_of_a_day_are_added_up_and_identical_ones_count_once() -> None:
    text = (
        "Badge,Date,Task,Pieces,Hours\n" + "1,2026-11-02,a,100,2\n" * 2 + "1,2026-11-02,b,50,1.5\n1,2026-11-02,c,,1\n"
    )
    read = summed(text)
    assert days(read) == {("1", "2026-11-02"): (150.0, 3.5)}
    assert read.repeated == 1
    assert "1 row identical to another, counted once" in read.notices()


def test_blank_output_is_an_absence_and_words_tell_which() -> None:
    rows = ["1,2026-11-02,,", "2,2026-11-02,-,no-show", "3,2026-11-02,5,worked", "4,2026-11-02,n/a,krank"]
    text = "\n".join(["Badge,Date,Pieces,Status", *rows, ""])
    read = summed(text)
    assert [(row.worker_id, row.units, row.attendance) for row in read.rows] == [
        ("1", None, "absent"),
        ("2", None, "no-show"),
        ("3", 5.0, "worked"),
        ("4", None, "absent"),
    ]


def test_the_filter_takes_the_rows_that_meet_every_condition() -> None:
    rows = [
        f"1,2026-11-02,{area},{units}" for area, units in (("Pick,A", 1), ("pack,A", 2), ("Load,A", 4), ("Pick,B", 8))
    ]
    text = "\n".join(["Badge,Date,Area,Shift,Pieces", *rows, ""])
    for conditions, units in (
        (["Area=PICK"], 9.0),
        (["Area=Pick", "Area=Pack"], 11.0),
        (["area=Pick", "Shift=B"], 8.0),
    ):
        assert days(summed(text, where=parse_filter(conditions))) == {("1", "2026-11-02"): (units, None)}
    with pytest.raises(CsvErrors, match="a header that the file has"):
        proposed(text, site(), where=parse_filter(["Zone=1"]))
    with pytest.raises(InvalidInput, match="HEADER=VALUE"):
        parse_filter(["Area"])


PERCENT = "Badge,Date,Task,Units,Standard Units,Performance %\n1,2026-11-02,a,90,100,90%\n1,2026-11-02,b,60,50,120%\n"


def test_the_range_decides_between_units_and_percent_of_standard() -> None:
    assert days(summed(PERCENT, site(50, 150))) == {("1", "2026-11-02"): (100.0, None)}
    assert days(summed(PERCENT, site(0, 1000), mapping={"units": "Units"})) == {("1", "2026-11-02"): (150.0, None)}


def test_shares_of_a_workbook_become_percent_where_the_range_is_in_percent() -> None:
    rows: list[list[Any]] = [
        ["Badge", "Date", "Hours", "Efficiency"],
        ["1", date(2026, 11, 2), 6, 0.9],
        ["1", date(2026, 11, 2), 2, 1.1],
    ]
    assert days(summed(workbook(rows), site(50, 150))) == {("1", "2026-11-02"): (95.0, 8.0)}
    assert days(summed(workbook(rows), site(0.5, 1.5))) == {("1", "2026-11-02"): (0.95, 8.0)}


def test_handle_time_is_weighted_by_calls_and_read_in_the_unit_that_fits() -> None:
    text = "Agent ID,Date,Calls,AHT\n1,2026-11-02,30,05:00\n1,2026-11-02,10,07:00\n"
    assert days(summed(text, site(600, 100))) == {("1", "2026-11-02"): (330.0, None)}
    assert days(summed(text, site(10, 2))) == {("1", "2026-11-02"): (5.5, None)}


def test_a_rate_is_recorded_as_units_where_the_site_has_rates() -> None:
    text = "Badge,Date,Hours,UPH\n1,2026-11-02,4,100\n1,2026-11-02,2,70\n"
    assert days(summed(text, site(0, 150, hours_per_period=8.0))) == {("1", "2026-11-02"): (540.0, 6.0)}
    assert days(summed(text, site(0, 150))) == {("1", "2026-11-02"): (90.0, 6.0)}


def test_names_are_turned_round_and_known_people_found_by_name_or_figures() -> None:
    known = site(known={"007": "Ann Ames", "008": "Ben Byrd"})
    text = 'Worker,Date,Pieces\n"AMES, ANN",2026-11-02,5\nBen Byrd,2026-11-02,6\n"Cruz, Carla",2026-11-02,7\n'
    read = summed(text, known)
    assert set(days(read)) == {("007", "2026-11-02"), ("008", "2026-11-02"), ("carla cruz", "2026-11-02")}
    assert read.names["carla cruz"] == "Carla Cruz"
    assert set(days(summed("Emp ID,Date,Pieces\n7,2026-11-02,5\n8,2026-11-02,5\n", known))) == {
        ("007", "2026-11-02"),
        ("008", "2026-11-02"),
    }


def test_two_people_of_one_name_are_not_mixed_up() -> None:
    known = site(known={"1": "Ann Ames", "2": "Ann Ames"})
    assert set(days(summed("Name,Date,Pieces\nAnn Ames,2026-11-02,5\nBen Byrd,2026-11-02,5\n", known))) == {
        ("ann ames", "2026-11-02"),
        ("ben byrd", "2026-11-02"),
    }


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("46328", date(2026, 11, 2)),
        ("20261102", date(2026, 11, 2)),
        ("Mon 02.11.2026", date(2026, 11, 2)),
        ("2 nov. 2026", date(2026, 11, 2)),
        ("Monday, November 2, 2026", date(2026, 11, 2)),
        ("02-Nov-26", date(2026, 11, 2)),
        ("2. März 2026", date(2026, 3, 2)),
        ("2 août 2026", date(2026, 8, 2)),
    ],
)
def test_dates_in_many_forms(cell: str, day: date) -> None:
    (row,) = summed(f"Badge;Date;Pieces\n1;{cell};5\n").rows
    assert row.day == day


def test_dates_that_fit_both_orders_are_read_so_that_they_lie_together() -> None:
    american = "Badge,Date,Pieces\n" + "".join(f"1,11/{day:02}/2026,5\n" for day in range(2, 7))
    assert {row.day for row in summed(american).rows} == {date(2026, 11, day) for day in range(2, 7)}
    assert proposed(american, site()).plan.dates is None, "the next file may tell more"
    british = "Badge,Date,Pieces\n" + "".join(f"1,{day:02}/11/2026,5\n" for day in range(2, 7))
    assert {row.day for row in summed(british).rows} == {date(2026, 11, day) for day in range(2, 7)}


def test_a_log_counts_rows_and_nights_belong_to_the_day_they_began() -> None:
    stamps = [
        f"2026-11-0{day} {hour:02}:15:{second:02}"
        for day, hour in ((2, 22), (2, 23), (3, 0), (3, 5))
        for second in range(9)
    ]
    text = "scanned_at,user\n" + "".join(f"{stamp},u1\n" for stamp in stamps)
    assert days(summed(text, site(0, 100))) == {("u1", "2026-11-02"): (36.0, None)}
    own = days(summed(text, site(0, 100, cutoff_hour=3)))
    assert own == {("u1", "2026-11-02"): (27.0, None), ("u1", "2026-11-03"): (9.0, None)}, "the site's own hour wins"
    minutes = "scanned_at,user\n" + "2026-11-02 10:15,u1\n" * 3
    assert days(summed(minutes, site(0, 100))) == {("u1", "2026-11-02"): (3.0, None)}, "a minute has room for several"


def test_shifts_by_name_where_a_day_has_several() -> None:
    text = "Badge,Date,Schicht,Menge\n1,2026-11-02,Früh,5\n1,2026-11-02,Nacht,6\n"
    rows = summed(text, site(shifts_per_day=3)).rows
    assert [(row.shift, row.units) for row in rows] == [(1, 5.0), (3, 6.0)]
    assert days(summed(text)) == {("1", "2026-11-02"): (11.0, None)}


def test_times_in_and_out_give_hours_over_midnight() -> None:
    rows = ["Ann Ames,2026-11-02,22:00,06:30,30,100", "Ben Byrd,2026-11-02,07:00,15:00,0:45,100"]
    text = "\n".join(["Name,Date,Start,End,Break,Pieces", *rows, ""])
    assert [row.hours for row in summed(text).rows] == [8.0, 7.25]


def test_days_across_and_areas_across_become_rows() -> None:
    across = "ID;Name;02.11.2026;03.11.2026;04.11.2026;Total\n1;Ann Ames;5;;7;12\n2;Ben Byrd;1;2;3;6\n"
    assert days(summed(across)) == {
        ("1", "2026-11-02"): (5.0, None),
        ("1", "2026-11-04"): (7.0, None),
        **{("2", f"2026-11-0{day + 1}"): (float(day), None) for day in (1, 2, 3)},
    }
    areas = ",,Pick,,Pack,\nID,Date,Units,Hours,Units,Hours\n1,2026-11-02,10,2,20,3\n"
    assert days(summed(areas)) == {("1", "2026-11-02"): (30.0, 5.0)}
    assert days(summed(areas, where=parse_filter(["Area=Pack"]))) == {("1", "2026-11-02"): (20.0, 3.0)}


def test_hours_of_more_than_a_day_and_negative_days_are_errors() -> None:
    assert summed("Badge,Date,Pieces,Hours\n1,2026-11-02,5,20\n1,2026-11-02,6,5\n", errors=1).rows == []
    assert summed("Badge,Date,Pieces\n1,2026-11-02,5\n1,2026-11-02,9-\n", errors=1).rows == []
    assert days(summed("Badge,Date,Pieces\n1,2026-11-02,15\n1,2026-11-02,(9)\n")) == {("1", "2026-11-02"): (6.0, None)}


def test_cells_beyond_the_header_are_errors() -> None:
    """As where a decimal comma is taken for a delimiter, or a name with a comma is not quoted."""
    summed("Badge,Date,Pieces\n1,2026-11-02,12,5\n2,2026-11-02,13,5\n", errors=2)


def test_hostile_cells_are_harmless_or_refused() -> None:
    rows = ["=cmd|'/C calc'!A0,<script>,2026-11-02,5", "\x1b[31m,x,2026-11-02,5", "2,b,2026-11-02,5"]
    text = "\n".join(["Badge,Name,Date,Pieces", *rows, ""])
    read = summed(text, errors=1)
    assert [row.worker_id for row in read.rows] == ["=cmd|'/C calc'!A0", "2"]
    assert summed(f"Badge,Date,Pieces\n{'x' * 500},2026-11-02,5\n1,2026-11-02,5\n2,2026-11-02,5\n", errors=1)


def test_a_file_without_days_workers_or_output_says_what_is_missing() -> None:
    for text, missing in (
        ("Badge,Pieces\n1,5\n2,6\n", ["date"]),
        ("Date,Pieces\n2026-11-02,5\n2026-11-02,6\n", ["worker_id"]),
        ("Colour,Taste\nred,sweet\nblue,sour\n", ["date", "worker_id"]),
    ):
        with pytest.raises(CsvErrors) as caught:
            proposed(text, site())
        assert [error.column for error in caught.value.errors][: len(missing)] == missing or missing[0] in str(
            caught.value
        )


def test_a_plan_survives_as_plain_data_and_reads_the_next_file() -> None:
    found = proposed(PERCENT, site(50, 150))
    again = ReadingPlan.from_json(found.plan.to_json())
    assert again == found.plan
    whole = ReadingPlan(
        {"date": "D", "worker_id": "W", "shift": "S"},
        Measure("ratio", "A", "B", 100.0, 60.0),
        sheet="Sheet",
        shape="days across",
        header_line=7,
        categories=("Area",),
        where=(("Area", ("Pick", "Pack")),),
        decimal=",",
        dates="month-first",
        cutoff=5,
        hours_unit=60.0,
        shifts={"night": 3},
        carried=True,
        id_form="name id",
        newcomers=False,
        overtime=False,
        team_from_output=True,
    )
    assert ReadingPlan.from_json(whole.to_json()) == whole
    later = "A new title\n\n" + PERCENT.replace("2026-11-02", "2026-11-03")
    layout = layout_with(sources_of("y", later.encode()), again.headers)
    assert layout is not None
    plan, writing = plan_layout(again, layout, site(50, 150))
    errors = ErrorCollector("y")
    read = sum_rows(layout, layout.body(), plan, writing, site(50, 150), errors)
    assert [(row.day, row.units) for row in read.rows] == [(date(2026, 11, 3), 100.0)]
    assert layout_with(sources_of("z", b"Badge,Date\n1,2026-11-02\n"), again.headers) is None


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"date": 5}},
        {"columns": {"colour": "x"}},
        {"measure": {"kind": "magic"}},
        {"measure": {"kind": "sum", "scale": 0}},
        {"carried": "yes"},
        {"unknown": 1},
        {"cutoff": 24},
        {"shifts": {str(number): 1 for number in range(80)}},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    good = ReadingPlan({"date": "D", "worker_id": "W"}, Measure("count")).to_json()
    ReadingPlan.from_json(good)
    with pytest.raises(InvalidInput):
        ReadingPlan.from_json({**good, **change})


def test_moments_before_the_cutoff_belong_to_the_day_before() -> None:
    rule = site().day_rule(6)
    assert rule(datetime(2026, 11, 3, 5, 59)) == date(2026, 11, 2)
    assert rule(datetime(2026, 11, 3, 6, 0)) == date(2026, 11, 3)
    assert isinstance(summed("Badge,Date,Pieces\n1,2026-11-02,5\n").rows[0], OutputRow)


REPORT = """\
Confirmations                                   Plant 1000
----------------------------------------------------------
| Pers. no  | Name        | Posting-   | Pieces |  Actual  |
|           |             | date       |   made |  hours   |
----------------------------------------------------------
| 00001     | Ames, Ann   | 02.11.2026 |    400 |     8,00 |
| 00001     | Ames, Ann   | 03.11.2026 |     12-|     0,00 |
| 00001     | Ames, Ann   | 03.11.2026 |    412 |     8,00 |
| *         | Sum Ames    |            |    812 |    16,00 |
----------------------------------------------------------

Confirmations                                   Page 2
----------------------------------------------------------
| Pers. no  | Name        | Posting-   | Pieces |  Actual  |
|           |             | date       |   made |  hours   |
----------------------------------------------------------
| 00002     | Byrd, Ben   | 02.11.2026 |  1.500 |     7,50 |
| Sum       | Byrd, Ben   |            |  1.501 |     7,50 |
| **        | All         |            |  2.313 |    23,50 |
"""


def test_a_report_has_its_header_in_two_lines_and_on_every_page_and_marks_totals_by_asterisks() -> None:
    """A subtotal need not add up to be known as one."""
    read = summed(REPORT)
    assert proposed(REPORT, site()).layout.headers[3:6] == ("Postingdate", "Pieces made", "Actual hours")
    assert days(read) == {
        ("00001", "2026-11-02"): (400.0, 8.0),
        ("00001", "2026-11-03"): (400.0, 8.0),
        ("00002", "2026-11-02"): (1500.0, 7.5),
    }
    assert read.totals == 3


def weekly(monday: int, *rows: list[object]) -> list[list[object]]:
    """Return a sheet with two days, each above hours and cartons, and their total."""
    days_above = [date(2026, 11, monday), None, date(2026, 11, monday + 1), None, "Total", None]
    return [["Packing hall"], [], ["Name", *days_above], [None, *["Hrs", "Cartons"] * 3], *rows]


WEEKS: dict[str, list[list[object]]] = {
    "Week 45": weekly(2, ["Ann Ames", 8, 400, "sick", None, 8, 400], ["TOTAL", 8, 400, 0, 0, 8, 400]),
    "Notes": [["The scanner was broken"]],
    "Week 46": weekly(9, ["Ann Ames", 8, 420, 4, 200, 12, 620], ["Ben Byrd", None, None, 8, 300, 8, 300]),
}


def sheets(rows: Mapping[str, list[list[object]]]) -> bytes:
    return packed({name: sheet_xml(listed) for name, listed in rows.items()})


def test_sheets_alike_are_read_together_with_days_above_repeated_columns() -> None:
    read = summed(sheets(WEEKS))
    assert days(read) == {
        ("ann ames", "2026-11-02"): (400.0, 8.0),
        ("ann ames", "2026-11-03"): (None, None),
        ("ann ames", "2026-11-09"): (420.0, 8.0),
        ("ann ames", "2026-11-10"): (200.0, 4.0),
        ("ben byrd", "2026-11-10"): (300.0, 8.0),
    }
    told = proposed(sheets(WEEKS), site()).sentences[0]
    assert told.startswith("The header is in line 4 of 2 sheets that are read together (“Week 45” and “Week 46”)")


def test_a_sheet_of_several_can_be_taken_alone_and_errors_name_it() -> None:
    alone = summed(sheets(WEEKS), where=(("Sheet", ("Week 45",)),))
    assert {day for _, day in days(alone)} == {"2026-11-02", "2026-11-03"}
    wrong = WEEKS | {"Week 46": weekly(9, ["Ann Ames", 8, 420, 4, "many", 12, 420])}
    found, errors = proposed(sheets(wrong), site()), ErrorCollector("x")
    sum_rows(found.layout, found.layout.body(), found.plan, found.writing, site(), errors)
    assert [(str(error.line), error.value) for error in errors.errors] == [("Week 46:5", "many")]


def test_a_profile_of_sheets_takes_in_those_of_the_next_week() -> None:
    plan = proposed(sheets(WEEKS), site()).plan
    later = {f"Week {45 + n}": weekly(2 + 7 * n, ["Ann Ames", 8, 400 + n, 8, 500, 16, 900]) for n in (1, 2)}
    layout = layout_with(sources_of("x", sheets(later)), plan.headers, plan.sheet, plan.shape)
    assert layout is not None
    plan, writing = plan_layout(plan, layout, site())
    read = sum_rows(layout, layout.body(), plan, writing, site(), ErrorCollector("x"))
    assert sorted(day for _, day in days(read)) == ["2026-11-09", "2026-11-10", "2026-11-16", "2026-11-17"]


def test_what_is_judged_of_a_wide_table_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many columns, all of them numbers, take hardly more judgements of cells."""

    def wide(columns: int) -> str:
        lines = [["Date", "Employee", "Units", *(f"Field {at} qty" for at in range(columns))]] + [
            [str(date(2026, 1, 1) + timedelta(day)), f"A10{day % 5}", "50", *(str(day + at) for at in range(columns))]
            for day in range(120)
        ]
        return "\n".join(map(",".join, lines))

    judged = []

    def counting(cell: str) -> bool:
        judged.append(cell)
        return is_number(cell)

    for module in (layout, roles, reshaping):
        monkeypatch.setattr(module, "is_number", counting)
    counts = []
    for columns in (450, 1_800):
        judged.clear()
        read = proposed(wide(columns), site())
        counts.append(len(judged))
        assert read.plan.measure == Measure("sum", "Units")
    assert counts[1] < 1.5 * counts[0]
    assert len(summed(wide(450)).rows) == 120


def test_long_headers_are_headers() -> None:
    """Forms export whole questions as headers; their first row of answers is no header."""
    questions = [
        f"On a scale of 1 to 10, how much of task {at} {'and of what it needs ' * 4}was done" for at in range(12)
    ]
    assert all(80 < len(question) < 200 for question in questions)
    lines = [["Date", "Employee", "Units", *questions]] + [
        [str(date(2026, 1, 1) + timedelta(day)), "A100", "50", *["5"] * 12] for day in range(8)
    ]
    assert len(summed("\n".join('"' + '","'.join(cells) + '"' for cells in lines)).rows) == 8
