"""CSV files as spreadsheets write them: read as meant, or refused whole with all that is wrong."""

import codecs
import csv
import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.advisor import csv_table
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.csv_in import (
    OUTPUT,
    WORKERS,
    CsvErrors,
    DateOrder,
    Decimal,
    OutputRow,
    WorkerRow,
    read_output,
    read_workers,
)
from crewlearn.advisor.csv_table import read_table
from crewlearn.advisor.events import ATTENDANCE
from crewlearn.problem.errors import InvalidInput

# Files in every dialect


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    encoding: str
    decimal: Decimal
    thousands: str
    date_format: str
    line_end: str
    quote_all: bool

    @property
    def dates(self) -> DateOrder:
        return "month-first" if self.date_format.startswith("%m") else "day-first"

    def number(self, value: float | None, digits: int = 3) -> str:
        if value is None:
            return ""
        text = f"{value:,.{digits}f}".replace(",", "T").replace(".", self.decimal)
        return text.replace("T", self.thousands)

    def file(self, rows: Sequence[Sequence[str]]) -> bytes:
        out = io.StringIO()
        writer = csv.writer(
            out,
            delimiter=self.delimiter,
            lineterminator=self.line_end,
            quoting=csv.QUOTE_ALL if self.quote_all else csv.QUOTE_MINIMAL,
        )
        writer.writerows(rows)
        return out.getvalue().encode(self.encoding)


@st.composite
def dialects(draw: st.DrawFn) -> Dialect:
    decimal: Decimal = draw(st.sampled_from([",", "."]))
    return Dialect(
        delimiter=draw(st.sampled_from([",", ";", "\t", "|"])),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])),
        decimal=decimal,
        thousands=draw(st.sampled_from(["", " ", "\xa0", "'", "." if decimal == "," else ","])),
        date_format=draw(
            st.sampled_from(
                ["%Y-%m-%d", "%Y%m%d", "%Y-%m-%d 00:00:00", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%y", "%m/%d/%Y"]
            )
        ),
        line_end=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        quote_all=draw(st.booleans()),
    )


# Bytes of the accented letters in Windows-1252 never make valid UTF-8, so that the fallback is taken.
IDS = st.text("aB07éüß ,;|'\"-+.", min_size=1, max_size=12).map(str.strip).filter(bool)
NUMBERS = st.integers(0, 10**10).map(lambda thousandths: thousandths / 1000)
DAYS = st.integers(0, 5000).map(lambda days: date(2015, 1, 1) + timedelta(days=days))


@st.composite
def output_rows(draw: st.DrawFn) -> list[OutputRow]:
    keys = draw(st.lists(st.tuples(DAYS, IDS), max_size=8, unique=True))
    rows = []
    for line, (day, worker_id) in enumerate(keys, start=2):
        attendance = draw(st.sampled_from(ATTENDANCE))
        at_work = attendance in ("worked", "partial")
        units = draw(NUMBERS) if at_work else None
        hours = draw(st.none() | st.integers(1, 24000).map(lambda thousandths: thousandths / 1000))
        rows.append(OutputRow(line, day, None, worker_id, units, hours, attendance))
    return rows


def output_file(dialect: Dialect, rows: Sequence[OutputRow]) -> bytes:
    lines = [["Shift date", "Badge-No", "QTY", "hrs", "Presence"]]
    for row in rows:
        assert row.day is not None
        day = row.day.strftime(dialect.date_format)
        lines.append([day, row.worker_id, dialect.number(row.units), dialect.number(row.hours), row.attendance])
    return dialect.file(lines)


@given(dialects(), output_rows())
def test_output_is_read_in_every_dialect_that_is_named(dialect: Dialect, rows: list[OutputRow]) -> None:
    assert read_output(output_file(dialect, rows), decimal=dialect.decimal, dates=dialect.dates) == rows


@given(dialects(), output_rows())
def test_one_clear_row_tells_the_dialect_of_all(dialect: Dialect, rows: list[OutputRow]) -> None:
    line = len(rows) + 2
    clear = OutputRow(line, date(2031, 12, 31), None, "clear", 0.5, None, "worked")
    assert read_output(output_file(dialect, [*rows, clear])) == [*rows, clear]


@given(dialects(), st.lists(IDS, max_size=8, unique=True), st.data())
def test_workers_are_read_in_every_dialect(dialect: Dialect, ids: list[str], data: st.DataObject) -> None:
    rows = []
    for worker_id in ids:
        prior_n = data.draw(st.none() | st.integers(0, 10**6))
        prior_mean = None if not prior_n else data.draw(NUMBERS)
        name = data.draw(st.none() | IDS.map(lambda text: " ".join(text.split())))
        fee = data.draw(st.none() | NUMBERS)
        rows.append(WorkerRow(worker_id, name, data.draw(st.booleans()), fee, prior_n, prior_mean, None))
    lines = [["employee", "Name", "in team", "cost", "prior_n", "Prior Mean", "remarks"]]
    for row in rows:
        prior = [dialect.number(row.prior_n, 0), dialect.number(row.prior_mean)]
        answer = data.draw(st.sampled_from(["yes", "TRUE", "1", "x", "Ja"] if row.active else ["No", "false", "0", ""]))
        lines.append(
            [
                row.worker_id,
                row.name or "",
                answer,
                dialect.number(row.fee),
                *prior,
                f"any, text; {dialect.line_end} here",
            ]
        )
    assert read_workers(dialect.file(lines), decimal=dialect.decimal) == rows


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_at_all_are_read_or_refused(noise: bytes) -> None:
    for head in (b"", b"date,worker,units\n", codecs.BOM_UTF16_LE, codecs.BOM_UTF8 + b"worker;date;units\r\n"):
        try:
            rows = read_output(head + noise)
        except InvalidInput:
            continue
        assert all(row.worker_id and row.attendance in ATTENDANCE for row in rows)


# Single cells


def units_of(*cells: str, delimiter: str = ";", decimal: Decimal | None = None) -> list[float | None]:
    lines = [delimiter.join(["period", "worker", "units"])]
    lines += [delimiter.join([str(at), "w", f'"{cell}"']) for at, cell in enumerate(cells, start=1)]
    rows = read_output("\n".join(lines).encode(), decimal=decimal, allow_negative=True)
    return [row.units for row in rows]


def errors_of(data: bytes | str, **options: Any) -> list[tuple[int, str, str]]:
    content = data.encode() if isinstance(data, str) else data
    with pytest.raises(CsvErrors) as caught:
        read_output(content, **options)
    return [(error.line, error.column, error.value) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0", 0.0),
        ("1234", 1234.0),
        (" 12 ", 12.0),
        ("\xa012\u202f", 12.0),
        ("+12", 12.0),
        ("-12", -12.0),
        ("−12", -12.0),
        ("12.5", 12.5),
        ("12,5", 12.5),
        (".5", 0.5),
        (",5", 0.5),
        ("5.", 5.0),
        ("0.125", 0.125),
        ("0,125", 0.125),
        ("1234.567", 1234.567),
        ("1234,567", 1234.567),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,234,567", 1234567.0),
        ("1.234.567", 1234567.0),
        ("1,234,567.891", 1234567.891),
        ("1 234,5", 1234.5),
        ("1\xa0234.5", 1234.5),
        ("1\u202f234\u202f567,5", 1234567.5),
        ("1'234.5", 1234.5),
        ("1’234,5", 1234.5),
        ("1 234,567", 1234.567),
        ("12 345", 12345.0),
        ("1.5E+03", 1500.0),
        ("1,5e3", 1500.0),
        ("007", 7.0),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_number_that_can_be_read_one_way_is_read(cell: str, value: float, delimiter: str) -> None:
    assert units_of(cell, delimiter=delimiter) == [value]


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "abc",
            "12a",
            "€12",
            "12 €",
            "$5",
            "5%",
            "nan",
            "NaN",
            "inf",
            "-inf",
            "1e999",
            "1e13",
            "-",
            "+",
            ".",
            ",",
            "1-",
        ),
        *("1,2,3", "1.2.3", "12,34,567", "1,23.4", "1.234,567.8", "1 23", "1 2345", "01.234.567", "1'234 567"),
        *(
            "1,234'567",
            "0x10",
            "1_000",
            "१२",
            "½",
            "--5",
            "+-5",
            "- 5",
            "=1+1",
            "9" * 41,
            "1" * 10_000,
            "1e",
            "e5",
            "1 e5",
        ),
        *("TRUE", "#DIV/0!", "#N/A", "12:30", "1/2", "(5)"),
    ],
)
def test_what_is_no_number_is_refused(cell: str) -> None:
    decimals: tuple[Decimal | None, ...] = (None, ",", ".")
    for decimal in decimals:
        with pytest.raises(CsvErrors) as caught:
            units_of("1", cell, "2", decimal=decimal)
        assert [(error.line, error.column) for error in caught.value.errors] == [(3, "units")]
        assert "number" in caught.value.errors[0].expected


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1.234", "12.5"), [1.234, 12.5]),
        (("1.234", "12,5"), [1234.0, 12.5]),
        (("1,234", "12.5"), [1234.0, 12.5]),
        (("1,234", "12,5"), [1.234, 12.5]),
        (("-1.234", "1.234.567"), [-1234.0, 1234567.0]),
        (("1,234", "0,5"), [1.234, 0.5]),
        (("999.999", "1 000,5"), [999999.0, 1000.5]),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_clear_cells_of_a_file_decide_for_the_others(
    cells: tuple[str, ...], values: list[float], delimiter: str
) -> None:
    assert units_of(*cells, delimiter=delimiter) == values
    assert units_of(*reversed(cells), delimiter=delimiter) == list(reversed(values))


def test_without_a_clear_cell_the_delimiter_decides_or_the_caller_must() -> None:
    assert units_of("1.234", delimiter=";") == [1234.0]
    assert units_of("1,234", delimiter=";") == [1.234]
    assert units_of("1.234", delimiter=",") == [1.234]
    assert units_of("1,234", delimiter=",") == [1234.0]
    for delimiter in ("\t", "|"):
        with pytest.raises(CsvErrors) as caught:
            units_of("7", "1.234", delimiter=delimiter)
        assert [(error.line, error.value) for error in caught.value.errors] == [(3, "1.234")]
        assert "decimal" in caught.value.errors[0].expected
        assert units_of("1.234", delimiter=delimiter, decimal=".") == [1.234]
        assert units_of("1.234", delimiter=delimiter, decimal=",") == [1234.0]
    with pytest.raises(InvalidInput, match="decimal"):
        units_of("1", decimal=";")  # type: ignore[arg-type]  # the wrong type is the point


def test_other_columns_of_numbers_decide_too() -> None:
    rows = read_output(b"period\tworker\tunits\thours\n1\ta\t1.234\t7,5\n")
    assert (rows[0].units, rows[0].hours) == (1234.0, 7.5)


def test_a_file_that_mixes_decimal_marks_is_refused_where_the_rarer_one_stands() -> None:
    with pytest.raises(CsvErrors) as caught:
        units_of("12,5", "12.5", "13,5", "1.234")
    (error,) = caught.value.errors
    assert (error.line, error.value) == (3, "12.5")
    assert "decimal comma, as '12,5' in line 2" in error.expected
    with pytest.raises(CsvErrors):
        units_of("12,5", decimal=".")


def days_of(*cells: str, dates: DateOrder | None = None) -> list[date | None]:
    lines = ["date;worker;units", *(f'"{cell}";w{at};1' for at, cell in enumerate(cells))]
    return [row.day for row in read_output("\n".join(lines).encode(), dates=dates)]


NOVEMBER = date(2026, 11, 15)


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "2026-11-15",
            "20261115",
            "2026/11/15",
            "2026.11.15",
            " 2026-11-15 ",
            "15.11.2026",
            "15/11/2026",
            "15-11-2026",
        ),
        *("15-11-26", "15.11.26", "15/11/26", "11/15/2026", "11/15/26", "2026-11-15T08:30", "2026-11-15 08:30:59"),
        *("2026-11-15T08:30:59.123Z", "2026-11-15 08:30:00+01:00", "15.11.2026 08:30", "15/11/2026, 8:30 PM"),
        *("11/15/2026 12:00:00 AM", "20261115 00:00", "15.11.2026\xa000:00", "2026-11-15T23:59:59"),
    ],
)
def test_a_date_is_read_however_it_is_written(cell: str) -> None:
    assert days_of(cell) == [NOVEMBER]


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "2026-13-01",
            "2026-02-29",
            "31.02.2026",
            "31/04/2026",
            "00.11.2026",
            "15.11.",
            "15.11",
            "15-11/2026",
            "46341",
        ),
        *(
            "2026111",
            "202611155",
            "15112026",
            "2026-1115",
            "yesterday",
            "15. November 2026",
            "15.11.1026",
            "15.11.20266",
        ),
        *("0026-11-15", "2026-11-15 25:00", "2026-11-15 08:61", "2026-11-15 13:00 PM", "2026-11-15 0:00 AM"),
        *("2026-11-15x", "2026-W46-7", "१५.११.२०२६", "15.11.2026 8", "9" * 5000),
    ],
)
def test_a_date_that_is_none_is_refused(cell: str) -> None:
    with pytest.raises(CsvErrors) as caught:
        days_of("2026-11-14", cell)
    assert [(error.line, error.column) for error in caught.value.errors] == [(3, "date")]
    assert "a date that exists" in caught.value.errors[0].expected


def test_the_order_of_day_and_month() -> None:
    first, second = date(2026, 2, 1), date(2026, 1, 2)
    assert days_of("01/02/2026") == [first]
    assert days_of("01/02/2026", "25/02/2026") == [first, date(2026, 2, 25)]
    assert days_of("01/02/2026", "02/25/2026") == [second, date(2026, 2, 25)]
    assert days_of("01/02/2026", "2026-02-25") == [first, date(2026, 2, 25)]
    assert days_of("01/02/2026", dates="month-first") == [second]
    assert days_of("2026-02-01", dates="month-first") == [first]
    with pytest.raises(CsvErrors) as caught:
        days_of("25/02/2026", "02/25/2026")
    (error,) = caught.value.errors
    assert (error.line, error.value) == (3, "02/25/2026")
    assert "day first, as '25/02/2026' in line 2" in error.expected
    with pytest.raises(CsvErrors):
        days_of("25/02/2026", dates="month-first")
    with pytest.raises(CsvErrors):  # 31 February tells no order
        days_of("01/02/2026", "31/02/2026")
    with pytest.raises(InvalidInput, match="dates"):
        days_of("2026-01-01", dates="american")  # type: ignore[arg-type]  # the wrong type is the point


def test_a_time_of_day_goes_through_the_cut_off_but_a_spreadsheet_s_midnight_does_not() -> None:
    night = WorkCalendar(date(2026, 1, 5), cutoff_hour=6).day_of

    def days(*cells: str) -> list[date | None]:
        lines = ["date;worker;units", *(f"{cell};w{at};1" for at, cell in enumerate(cells))]
        return [row.day for row in read_output("\n".join(lines).encode(), day_of=night)]

    assert days("2026-01-06", "2026-01-06 00:00:00") == [date(2026, 1, 6)] * 2
    assert days("2026-01-07 12:30 AM", "2026-01-07 12:30 PM") == [date(2026, 1, 6), date(2026, 1, 7)]
    assert days("2026-01-06", "2026-01-06 00:00:00", "2026-01-07 02:30", "2026-01-07 6:00 AM") == [
        date(2026, 1, 6),
        date(2026, 1, 5),
        date(2026, 1, 6),
        date(2026, 1, 7),
    ]


@pytest.mark.parametrize(
    ("cell", "active"),
    [
        *((yes, True) for yes in ("yes", "YES", " True ", "1", "x", "X", "ja", "Oui", "si", "Sí", "WAHR", "si\u0301")),
        *((no, False) for no in ("no", "FALSE", "0", "", "  ", "\xa0", "nein", "non")),
    ],
)
def test_yes_and_no(cell: str, active: bool) -> None:
    assert [row.active for row in read_workers(f"id,active\n7,{cell}\n".encode())] == [active]


@pytest.mark.parametrize("cell", ["maybe", "2", "✓", "-", "yes no"])
def test_neither_yes_nor_no_is_refused(cell: str) -> None:
    with pytest.raises(CsvErrors, match="yes or no"):
        read_workers(f"id,active\n7,{cell}\n".encode())


@pytest.mark.parametrize(
    ("cell", "attendance"),
    [
        *(("worked", "worked"), ("Present", "worked"), ("x", "worked"), ("", "worked")),
        *(("partial", "partial"), ("Half day", "partial")),
        *(
            ("absent", "absent"),
            ("SICK", "absent"),
            ("sick-leave", "absent"),
            ("Holiday", "absent"),
            ("leave", "absent"),
        ),
        *(("no-show", "no-show"), ("No Show", "no-show"), ("noshow", "no-show")),
        *(("sent-home", "sent-home"), ("Sent home", "sent-home"), ("sent_home", "sent-home")),
    ],
)
def test_attendance_in_people_s_words(cell: str, attendance: str) -> None:
    units = "5" if attendance in ("worked", "partial") else "0"
    (row,) = read_output(f"period,worker,units,attendance\n1,w,{units},{cell}\n".encode())
    assert row == OutputRow(2, None, 1, "w", 5.0 if units == "5" else None, None, attendance)


# Rows


def test_not_worked_is_not_zero() -> None:
    data = b"period,worker,units,status\n1,a,0,\n1,b,0,absent\n1,c,,no-show\n1,d,0,worked\n"
    assert [row.units for row in read_output(data)] == [0.0, None, None, 0.0]


def test_units_and_attendance_must_agree() -> None:
    data = (
        "period,worker,units,status\n1,a,,\n1,b,,worked\n1,c,,partial\n1,d,5,absent\n1,e,5,sent home\n1,f,5,on strike\n"
    )
    assert errors_of(data) == [
        (2, "units", ""),
        (3, "units", ""),
        (4, "units", ""),
        (5, "units", "5"),
        (7, "attendance", "on strike"),
    ]


def test_hours_are_those_of_a_day() -> None:
    rows = "1,a,5,24,\n1,b,5,24.1,\n1,c,5,-1,\n1,d,5,0,\n1,e,,0,absent\n1,f,,2,sent home\n"
    data = f"period,worker,units,hours,status\n{rows}"
    assert errors_of(data) == [(3, "hours", "24.1"), (4, "hours", "-1"), (5, "hours", "0")]


def test_negative_units_only_where_the_caller_knows_them() -> None:
    data = b"period,worker,units\n1,a,-5\n"
    assert errors_of(data) == [(2, "units", "-5")]
    assert read_output(data, allow_negative=True)[0].units == -5.0


def test_a_row_needs_a_day_or_a_period() -> None:
    data = "date,period,worker,units\n,,a,1\n2026-01-05,,a,1\n,2,a,1\n2026-01-05,3,a,1\n"
    assert errors_of(data) == [(2, "date or period", "")]
    kept = read_output(data.replace(",,a,1\n", "", 1).encode())
    assert [(row.day, row.period) for row in kept] == [(date(2026, 1, 5), None), (None, 2), (date(2026, 1, 5), 3)]


@pytest.mark.parametrize("cell", ["0", "-1", "1.5", "1e10", "one"])
def test_periods_count_from_one(cell: str) -> None:
    assert errors_of(f"period,worker,units\n{cell},a,1\n") == [(2, "period", cell)]


def test_the_same_worker_twice_is_refused_with_both_lines() -> None:
    data = "date,worker,units\n2026-01-05,a,1\n2026-01-05,b,1\n\n05.01.2026, a ,1\n2026-01-06,a,1\n"
    with pytest.raises(CsvErrors, match=r"lines 2 and 5 have a at 2026-01-05"):
        read_output(data.encode())
    assert errors_of(data) == [(5, "worker_id", "a")]
    with pytest.raises(CsvErrors, match="lines 2 and 4 have the same"):
        read_workers(b"id,name\n7,Ann\n8,Bob\n7,Cem\n")
    assert [row.worker_id for row in read_workers(b"id\n7\n07\n7.0\n")] == ["7", "07", "7.0"]


def test_ids_are_text() -> None:
    data = (
        'id,name\n007,"Ann\nLee"\n1e5,\n ="0042" ,\n2026-01-05,\nJose\u0301,\nA\xa07,\n"a\'; DROP TABLE x",../../etc\n'
    )
    rows = read_workers(data.encode())
    assert [row.worker_id for row in rows] == ["007", "1e5", "0042", "2026-01-05", "José", "A 7", "a'; DROP TABLE x"]
    assert [row.name for row in rows] == ["Ann Lee", None, None, None, None, None, "../../etc"]


@pytest.mark.parametrize(
    "cell", ["", " ", "\xa0", '=""', "a" * 101, '"a\nb"', "a\x07b", "a\u200bb", "a\u200db", "a\u202eb", "a\x7f"]
)
def test_ids_that_cannot_be_are_refused(cell: str) -> None:
    with pytest.raises(CsvErrors) as caught:
        read_workers(f"id,name\n{cell},Ann\n".encode())
    assert [(error.line, error.column) for error in caught.value.errors] == [(2, "worker_id")]
    assert len(read_workers(f"id,name\n{'a' * 100},Ann\n".encode())) == 1


def test_names_are_text_too() -> None:
    assert read_workers("id,name\n7,می\u200cنا\n".encode())[0].name == "می\u200cنا"
    for cell in ("a\x07b", "a" * 201):
        with pytest.raises(CsvErrors, match="at most 200 characters"):
            read_workers(f"id,name\n7,{cell}\n".encode())


def test_workers_with_all_columns_and_with_the_least() -> None:
    data = b"worker_id,name,active,fee,prior_n,prior_mean,status\n7,Ann,yes,12.5,20,41.5,pinned\n8,,,,,,\n9,,,,0,,\n"
    assert read_workers(data) == [
        WorkerRow("7", "Ann", True, 12.5, 20, 41.5, "pinned"),
        WorkerRow("8", None, False, None, None, None, None),
        WorkerRow("9", None, False, None, 0, None, None),
    ]
    assert read_workers(b"worker_id\n7\n") == [WorkerRow("7", None, None, None, None, None, None)]
    assert read_workers(b"worker_id\n") == []


def test_prior_data_come_in_pairs_and_fees_are_not_negative() -> None:
    data = b"id,fee,prior_n,prior_mean\na,-1,,\nb,,5,\nc,,,5\nd,,-1,5\ne,,1.5,5\n"
    with pytest.raises(CsvErrors) as caught:
        read_workers(data)
    places = [(error.line, error.column) for error in caught.value.errors]
    assert places == [(2, "fee"), (3, "prior_mean"), (4, "prior_n"), (5, "prior_n"), (6, "prior_n")]


# Headers


def positions(header: str, mapping: dict[str, str] | None = None) -> dict[str, int]:
    return dict(read_table(header.encode(), "x.csv", OUTPUT, mapping).positions)


def test_headers_go_by_many_names() -> None:
    assert positions("DATUM;Personnel Number;Quantity;HRS;Status") == {
        "date": 0,
        "worker_id": 1,
        "units": 2,
        "hours": 3,
        "attendance": 4,
    }
    assert positions("units|Worker-ID| Shift_Date ") == {"units": 0, "worker_id": 1, "date": 2}
    for header in ("worker", "id", "Employee", "BADGE", "badge no", "Badge No.", "personnel number", "worker_id"):
        assert positions(f"period,{header},pieces")["worker_id"] == 1
    table = read_table(b"name,id,shoe size,,fee,\n", "x.csv", WORKERS)
    assert (table.headers, table.ignored) == (("name", "id", "shoe size", "", "fee"), ("shoe size",))


def test_a_mapping_wins() -> None:
    header = "Day,When,Badge,Worker,Made,Time"
    chosen = {"date": "When", "worker_id": "badge", "units": "MADE", "hours": ""}
    assert positions(header, chosen) == {"date": 1, "worker_id": 2, "units": 4}
    assert positions("date,id,units,time", {"units": "time"}) == {"date": 0, "worker_id": 1, "units": 3}
    assert positions("date,id,a b,A_B", {"units": "A_B"}) == {"date": 0, "worker_id": 1, "units": 3}
    assert positions("1;2;3", {"date": "1", "worker_id": "2", "units": "3"}) == {"date": 0, "worker_id": 1, "units": 2}


@pytest.mark.parametrize(
    ("header", "mapping", "column", "expected"),
    [
        ("date,worker,badge,units", {}, "worker_id", "`map=worker_id=HEADER`"),
        ("date,worker,units,units", {}, "units", "choose with `map=units=HEADER` or rename one"),
        ("date,units", {}, "worker_id", "`map=worker_id=HEADER`"),
        ("date,worker", {}, "units", "this column"),
        ("worker,units", {}, "date or period", "`map=date=HEADER`"),
        ("date,worker,units", {"date": ""}, "date or period", "one of these columns"),
        ("date,worker,units", {"units": ""}, "units", "this column"),
        ("date,worker,units", {"units": "Qty"}, "units", "it has 'date, worker, units'"),
        ("date,worker,units,units", {"units": "units"}, "units", "but once"),
        ("date,worker,qty", {"units": "qty", "hours": "qty"}, "hours", "two columns are mapped to this one"),
    ],
)
def test_headers_that_leave_doubt_are_refused(header: str, mapping: dict[str, str], column: str, expected: str) -> None:
    with pytest.raises(CsvErrors) as caught:
        read_output(header.encode(), mapping)
    assert (caught.value.errors[0].line, caught.value.errors[0].column) == (1, column)
    assert expected in caught.value.errors[0].expected


def test_mapping_an_unknown_column_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'units'"):
        read_output(b"date,worker,units\n", {"unit": "units"})


# Files


def test_the_delimiter_is_found_in_the_header() -> None:
    def delimiter(text: str) -> str:
        return read_table(text.encode(), "x.csv", WORKERS).delimiter

    assert delimiter("id;name, first and last;fee") == ";"
    assert delimiter('"id","name; or nick; or title; or all"') == ","
    assert delimiter('id\t"name\nand; more; lines; here"\tfee\n') == "\t"
    assert delimiter("remark, or, what, you, like;id;name") == ";"
    assert delimiter("sep=;\nid;name\n") == ";"
    assert delimiter('"sep=|"\r\n\r\nid|name\r\n') == "|"
    assert delimiter("worker_id") == ","
    assert [row.worker_id for row in read_workers(b"sep=;\r\n\r\nid;name\r\n7;Ann\r\n")] == ["7"]


def test_blank_lines_and_empty_columns_are_passed_over_and_lines_are_the_file_s() -> None:
    data = 'period;worker;units;note;;\n\n1;a;1\n;;;;;\n   \n1;b;1;"two\nlines";;\n\n1;c;1;;;;;;;;;\n'
    assert [(row.line, row.worker_id) for row in read_output(data.encode())] == [(3, "a"), (6, "b"), (9, "c")]
    assert errors_of(data + "1;d;x\n") == [(10, "units", "x")]


def test_a_decimal_comma_that_was_taken_for_a_delimiter_is_noticed() -> None:
    data = "date,worker,units\n2026-01-05,a,12,5\n"
    assert errors_of(data) == [(2, "cell 4", "5")]
    with pytest.raises(CsvErrors, match="must stand in quotation marks"):
        read_output(data.encode())


@pytest.mark.parametrize(
    "data",
    [
        b'id,name\n7,"Ann\n8,Bob\n9,Cem\n',
        b'id,name\n7,"Ann"x\n',
        b'id,name\n7,"' + b"x\n" * 2_000_000,
        b"id,name\n7," + b"x" * 200_000,
        b"id,name\n7" + b",x" * 2_000_000,
        b"id,name\n7" + b',"x\n"' * 500_000,
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_quotes_left_open_and_endless_rows_end_the_reading(data: bytes) -> None:
    with pytest.raises(CsvErrors, match="quotation mark") as caught:
        read_workers(data)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", codecs.BOM_UTF8, b" , , \n;;\n", "\ufeff".encode("utf-16-le"), b"sep=;\n", b'id,"name\n7,Ann\n'],
)
def test_a_file_without_a_header_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_workers(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", "save the sheet as CSV"),
        ("id,name\n7,Ann".encode("utf-16-le"), "zero bytes"),
        (codecs.BOM_UTF16_LE + b"i\0d\0\n", "damaged"),
        (codecs.BOM_UTF8 + b"id,name\n7,\xe9", "damaged"),
        (b"id,name\n7,\xe9\x81", "encoding"),
    ],
)
def test_files_that_are_no_text_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_workers(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings(encoding: str) -> None:
    assert read_workers("id,name\n7,Zoë Müller\n".encode(encoding))[0].name == "Zoë Müller"
    big_endian = codecs.BOM_UTF16_BE + "id,name\n7,Zoë\n".encode("utf-16-be")
    assert read_workers(big_endian)[0].name == "Zoë"
    # A letter that lies across the border of two chunks of the trial.
    assert read_workers(("id,name\n" + "\n" * (2**20 - 11) + "7,é\n").encode(encoding))[0].name == "é"


def test_limits_on_bytes_and_rows() -> None:
    data = b"id\n1\n2\n3\n"
    assert len(read_workers(data, most_bytes=len(data), most_rows=3)) == 3
    with pytest.raises(InvalidInput, match="at most 8 bytes"):
        read_workers(data, most_bytes=8)
    with pytest.raises(CsvErrors, match="at most 2 rows"):
        read_workers(data, most_rows=2)


def test_endless_blank_lines_are_not_waded_through(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(read_workers(b"\n" * 999 + b"id\n7\n")) == 1
    with pytest.raises(CsvErrors, match="at most 1000 lines up to here"):
        read_workers(b"\n" * 1000 + b"id\n7\n")
    monkeypatch.setattr(csv_table, "_MOST_LINES", 10)
    assert len(read_workers(b"id\n" + b"\n" * 8 + b"7")) == 1
    with pytest.raises(CsvErrors, match="at most 10 lines up to here"):
        read_workers(b"id\n" + b"\n" * 9 + b"7")


def test_all_errors_come_at_once_and_as_a_table() -> None:
    data = "date,worker,units\n2026-01-05,,abc\n2026-01-05,b,1\n32.01.2026,c,5%\n"
    with pytest.raises(CsvErrors) as caught:
        read_output(data.encode(), what="may.csv")
    error = caught.value
    assert [(each.line, each.column) for each in error.errors] == [
        (2, "worker_id"),
        (2, "units"),
        (4, "date"),
        (4, "units"),
    ]
    first, head, *rows = str(error).splitlines()
    assert first == "may.csv: 4 errors, so nothing of it was used"
    assert head.split() == ["line", "column", "value", "expected"]
    assert rows[3].startswith("4     units      '5%'")
    assert len(rows) == 4
    assert isinstance(error, InvalidInput)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errors, again.total) == (str(error), error.errors, error.total)


def test_beyond_a_hundred_errors_the_rest_is_counted() -> None:
    lines = [f"{at},a,\x1b[31m{'x' * 500}" for at in range(1, 251)]
    with pytest.raises(CsvErrors) as caught:
        read_output("\n".join(["period,worker,units", *lines]).encode())
    assert (len(caught.value.errors), caught.value.total) == (100, 250)
    text = str(caught.value)
    assert text.endswith("and 150 more")
    assert "\x1b" not in text
    assert len(text) < 30_000


def test_rows_can_be_read_again_and_do_not_share_cells() -> None:
    table = read_table(b"id,name\n7\n8,Bob,x\n", "x.csv", WORKERS)
    assert list(table.rows()) == list(table.rows()) == [(2, ["7", ""]), (3, ["8", "Bob", "x"])]
    assert replace(table, most_rows=2) != table


def test_the_default_day_is_the_date_as_written() -> None:
    (row,) = read_output(b"date,id,units\n2026-01-05 02:30,a,1\n")
    assert row.day == datetime(2026, 1, 5, 2, 30).date()
