"""Headers, delimiters, encodings and limits of CSV files."""

import codecs
import pickle
from dataclasses import replace
from datetime import datetime

import pytest

from crewlearn.advisor.files.columns import OUTPUT, WORKERS
from crewlearn.advisor.files.reading import read_output, read_workers
from crewlearn.advisor.files.sources import text
from crewlearn.advisor.files.tables import CsvErrors, read_table
from crewlearn.problem.errors import InvalidInput
from support.csv_errors import errors_of


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
    # A letter whose bytes are split between two decoded chunks.
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
    monkeypatch.setattr(text, "MOST_LINES", 10)
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
    assert first == "may.csv: 4 errors; the file was not used"
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
    said = str(caught.value)
    assert "- 250 rows have no readable number there: correct the cells" in said
    assert said.endswith("and 247 more")
    assert said.count("line ") == 3
    assert "\x1b" not in said
    assert len(said) < 3_000


def test_rows_can_be_read_again_and_do_not_share_cells() -> None:
    table = read_table(b"id,name\n7\n8,Bob,x\n", "x.csv", WORKERS)
    assert list(table.rows()) == list(table.rows()) == [(2, ["7", ""]), (3, ["8", "Bob", "x"])]
    assert replace(table, most_rows=2) != table


def test_the_default_day_is_the_date_as_written() -> None:
    (row,) = read_output(b"date,id,units\n2026-01-05 02:30,a,1\n")
    assert row.day == datetime(2026, 1, 5, 2, 30).date()
