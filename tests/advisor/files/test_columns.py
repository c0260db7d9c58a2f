"""CSV files from spreadsheets: read correctly, or refused as a whole with every error."""

import codecs
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.advisor.files.cells import DateOrder, Decimal, neutralised
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.reading import read_output, read_workers
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.ledger.events import ATTENDANCE
from crewlearn.problem.errors import InvalidInput
from support.csv_errors import errors_of


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


# Accented letters in Windows-1252 are never valid UTF-8, so the fallback is used.
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
        lines.append(
            [day, neutralised(row.worker_id), dialect.number(row.units), dialect.number(row.hours), row.attendance]
        )
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
                neutralised(row.worker_id),
                neutralised(row.name or ""),
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
