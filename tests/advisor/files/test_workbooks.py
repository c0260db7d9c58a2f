"""Workbooks: what cells hold, and hostile files that must neither be opened nor eat the machine."""

import io
import resource
import struct
import time
import zipfile
from datetime import date, datetime, timedelta
from datetime import time as clock
from typing import Any

import pytest

from crewlearn.advisor.files.reading import read_output, read_workers
from crewlearn.advisor.files.sources import workbook_checks
from crewlearn.advisor.files.sources.opening import sources_of
from crewlearn.advisor.files.sources.source import MOST_COLUMNS
from crewlearn.problem.errors import InvalidInput
from support.workbooks import Formula, packed, sheet_xml, workbook


def records(data: bytes) -> list[tuple[int, list[str]]]:
    (source,) = sources_of("x.xlsx", data)
    return list(source.records())


def test_a_tidy_sheet_is_read_as_a_tidy_file() -> None:
    rows: list[list[Any]] = [["date", "worker", "units"], [date(2026, 11, 16), 7, 41.5], [date(2026, 11, 17), "008", 3]]
    read = read_output(workbook(rows))
    assert [(row.line, row.day, row.worker_id, row.units) for row in read] == [
        (2, date(2026, 11, 16), "7", 41.5),
        (3, date(2026, 11, 17), "008", 3.0),
    ]


def test_cells_become_text_that_every_reader_knows() -> None:
    rows: list[list[Any]] = [
        [],
        [None, "text", 1234.5, 7.0, True, 1e-3],
        [None, datetime(2026, 11, 16, 22, 5), date(2026, 11, 16), clock(7, 30), timedelta(hours=26, minutes=5)],
    ]
    assert records(workbook(rows)) == [
        (2, ["", "text", "1234.5", "7", "yes", "0.001"]),
        (3, ["", "2026-11-16 22:05:00", "2026-11-16", "7:30:00", "26:05:00", ""]),
    ]


def test_numbers_are_written_with_the_mark_of_the_text_cells() -> None:
    (source,) = sources_of("x.xlsx", workbook([["id", "fee"], ["a", "1,5"], ["b", 2.25]]))
    assert source.decimal == ","
    assert [row.fee for row in read_workers(workbook([["id", "fee"], ["a", "1,5"], ["b", 2.25]]))] == [1.5, 2.25]


def test_sheets_without_cells_are_passed_over_and_hidden_text_is_plain() -> None:
    data = packed({"Empty": sheet_xml([]), "=cmd|' /C calc'!A0": sheet_xml([["id"], ["=1+1"]])})
    (source,) = sources_of("x.xlsx", data)
    assert source.sheet == "=cmd|' /C calc'!A0"
    assert [cells for _, cells in source.records()] == [["id"], ["=1+1"]]
    with pytest.raises(InvalidInput, match="no sheet with cells"):
        sources_of("x.xlsx", packed({"Empty": sheet_xml([])}))


def refused(data: bytes, words: str) -> None:
    """Check that a file is refused quickly, within little memory."""
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(InvalidInput, match=words):
        sources_of("x.xlsx", data)
    assert time.monotonic() - begin < 20.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "kilobytes"


def test_formulas_without_values_and_macros_are_refused() -> None:
    refused(workbook([["id", "fee"], ["a", Formula("1+1")]]), "1 formulas without a value")
    refused(packed({"S": sheet_xml([["id"]])}, {"xl/vbaProject.bin": b"x"}), "macros")
    refused(b"\xd0\xcf\x11\xe0" + b"\0" * 600, "old or protected workbook")


def test_other_archives_and_damaged_ones_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "no workbook")
    refused(out.getvalue(), "must be CSV text or an .xlsx workbook")
    whole = workbook([["id"], ["a"]])
    refused(whole[:-30], "damaged workbook")
    for at in range(40, len(whole), 211):  # a flipped byte anywhere is refused or harmless
        data = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        try:
            for source in sources_of("x.xlsx", data):
                list(source.records())
        except InvalidInput:
            continue


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed({"S": sheet_xml([["id"]])}, {"xl/sharedStrings.xml": b" " * 60_000_000})
    assert len(bomb) < 200_000
    monkeypatch.setattr(workbook_checks, "MOST_UNPACKED", 50_000_000)
    refused(bomb, "too large once it is unpacked")
    refused(_lying(bomb, 60_000_000, 1000), "too large once it is unpacked")


@pytest.mark.parametrize("entity", ["SYSTEM 'file:///etc/passwd'", f"'{'x' * 1000}'"], ids=["a file", "a bomb"])
def test_entities_of_a_document_are_not_expanded(entity: str) -> None:
    declared = f"<!DOCTYPE x [<!ENTITY a {entity}><!ENTITY b '{'&a;' * 1000}'><!ENTITY c '{'&b;' * 1000}'>]>"
    for name in ("a", "c"):
        sheet = sheet_xml([["id"], ["name"]]).replace(">name<", f">&{name};<")
        refused(packed({"S": declared + sheet}), "a damaged workbook")


def _lying(data: bytes, size: int, told: int) -> bytes:
    """Return an archive that declares a smaller size for the part that has `size` bytes."""
    return data.replace(struct.pack("<L", size), struct.pack("<L", told))


@pytest.mark.parametrize(
    "cells",
    [
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c><c r="ZZZZZZ1"><v>1</v></c></row>',
        '<row r="1"><c r="A99999999999"><v>1</v></c><c r="Z1"><v>2</v></c></row>',
        "<row>" + "<c><v>1</v></c>" * 1500 + "</row>" + "<row><c><v>1</v></c></row>" * 20_000,
        "<row>" + "<c><v>1</v></c>" * 1_000_000 + "</row>",
    ],
    ids=["corners", "far column", "far row", "no addresses", "a million columns"],
)
def test_a_sheet_that_claims_a_huge_grid_is_refused(cells: str) -> None:
    xml = sheet_xml([]).replace("<sheetData>", f"<sheetData>{cells}")
    refused(packed({"S": xml}), "at most 2000 columns and 24,000,000 cells")


def test_a_million_columns_of_text_are_refused() -> None:
    with pytest.raises(InvalidInput, match=f"at most {MOST_COLUMNS} cells"):
        read_output(b"date,worker,units" + b"," * 900_000 + b"\n")
