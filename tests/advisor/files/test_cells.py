"""Parsing single cells: numbers, dates, yes and no, attendance, and their errors."""

from datetime import date

import pytest

from crewlearn.advisor.files.cells import DateOrder, Decimal
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.reading import read_output, read_workers
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.problem.errors import InvalidInput


def units_of(*cells: str, delimiter: str = ";", decimal: Decimal | None = None) -> list[float | None]:
    lines = [delimiter.join(["period", "worker", "units"])]
    lines += [delimiter.join([str(at), "w", f'"{cell}"']) for at, cell in enumerate(cells, start=1)]
    rows = read_output("\n".join(lines).encode(), decimal=decimal, allow_negative=True)
    return [row.units for row in rows]


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
    with pytest.raises(CsvErrors):  # 31 February is valid in neither order
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
