"""Workbooks of exports: read by another library as they were written, whatever the language of Excel."""

import io
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.evidence.exports import TABLES, check_table, decisions_as_csv
from crewlearn.advisor.files import workbooks
from crewlearn.advisor.files.dry_run import readable_table
from crewlearn.advisor.files.exports import output_as_csv, workers_as_csv
from crewlearn.advisor.files.imports import ImportFile, ImportOptions
from crewlearn.advisor.files.workbooks import write_workbook
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.cli.live.ledger import export_command
from crewlearn.problem.errors import InvalidInput
from support.stores import proposed, site_with_proposals


def sheet(rows: Iterable[Sequence[object]]) -> list[list[Any]]:
    """Write rows to a workbook and read them with another library."""
    file = io.BytesIO()
    write_workbook(file, "A & B", rows)
    book = CalamineWorkbook.from_filelike(io.BytesIO(file.getvalue()))
    assert book.sheet_names == ["A & B"]
    return book.get_sheet_by_name("A & B").to_python(skip_empty_area=False)


def test_cells_keep_their_type() -> None:
    header = ["id", "number", "day"]
    rows: list[list[Any]] = [["007", 1234.5, date(1999, 12, 31)], ["=1+1", -3, date(2024, 2, 29)], ["Zoë", None, None]]
    assert sheet([header, *rows]) == [header, *([("" if cell is None else cell) for cell in row] for row in rows)]


@given(
    st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5), st.floats(allow_nan=False, allow_infinity=False)
)
def test_any_text_and_number_makes_a_sheet_that_can_be_read(texts: list[str], number: float) -> None:
    header, row = sheet([[f"column {n}" for n in range(len(texts))] + ["n"], [f"x{text}" for text in texts] + [number]])
    assert len(header) == len(row) == len(texts) + 1
    for text, cell in zip(texts, row, strict=False):
        if text.isprintable():
            assert str(cell).strip() == f"x{text}".strip()
    assert math.isclose(float(str(row[-1])), number)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/s.db"


def test_workbooks_hold_what_the_text_holds_with_names_and_estimates(url: str) -> None:
    with open_store(url, lambda: datetime(2024, 1, 1, 9, tzinfo=UTC)) as store:
        site_with_proposals(store)
        commands.approve(store, "site", proposed(store)[0], "ann")
        with store.reading() as connection:
            key, site, _ = store.site(connection, "site")
            names = read_people(connection, key).names
        (header, *rows) = TABLES["decisions"](store, "site")
        first: dict[Any, Any] = dict(zip(header, rows[0], strict=True))
        proposal = site.proposals[first["proposal"]]
        assert (first["in_name"], first["out_name"]) == (names.get(proposal.into), names.get(proposal.out))
        assert first["in_low"] <= first["in_estimate"] <= first["in_high"]
        texts = {"decisions": decisions_as_csv, "output": output_as_csv, "workers": workers_as_csv}
        for what, lines in texts.items():
            listed = [list(row) for row in TABLES[what](store, "site")]
            written = sheet(listed)
            assert len(written) == len(list(lines(store, "site")))
            for row, wanted in zip(written, listed, strict=True):
                assert [cell if cell != "" else None for cell in row] == [
                    value if value != "" else None for value in wanted
                ]
    with pytest.raises(InvalidInput, match="choose decisions, output, workers"):
        check_table("events")


def test_an_exported_workbook_can_be_imported_again(url: str) -> None:
    with open_store(url, lambda: datetime(2024, 1, 1, 9, tzinfo=UTC)) as store:
        site_with_proposals(store)
        file = io.BytesIO()
        write_workbook(file, "output", TABLES["output"](store, "site"))
        again = ImportFile("output", file.getvalue(), ImportOptions(), "output.xlsx")
        table = readable_table(again)
        assert table is not None
        assert list(table.headers) == next(output_as_csv(store, "site")).strip().split(",")


def test_text_that_looks_like_an_escape_stays_as_it_is() -> None:
    texts = ["A_x0041_", "_x005F_x0041_", "_x000D_", "a\rb", "a\r\nb", "_x12_", "x_xabcd_&_"]
    assert sheet([["id"], *([text] for text in texts)]) == [["id"], *([text] for text in texts)]
    file = io.BytesIO()
    write_workbook(file, "workers", [["worker_id", "name"], ["A_x0041_", "_x005F_"]])
    table = readable_table(ImportFile("workers", file.getvalue(), ImportOptions(), "workers.xlsx"))
    assert table is not None
    assert [cells for _, cells in table.rows()] == [["A_x0041_", "_x005F_"]]


def test_more_rows_than_a_sheet_holds_are_refused_and_leave_no_file(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(url, lambda: datetime(2024, 1, 1, 9, tzinfo=UTC)) as store:
        site_with_proposals(store)
        header_and_workers = len(list(TABLES["workers"](store, "site")))
    out = tmp_path / "out" / "workers.xlsx"
    out.parent.mkdir()

    def export() -> None:
        export_command("site", "workers", out, url)

    monkeypatch.setattr(workbooks, "MOST_ROWS", header_and_workers)
    export()
    whole = out.read_bytes()
    monkeypatch.setattr(workbooks, "MOST_ROWS", header_and_workers - 1)
    with pytest.raises(typer.Exit):
        export()
    assert "rows in a sheet; export CSV" in capsys.readouterr().err
    assert [file.read_bytes() for file in out.parent.iterdir()] == [whole], "what was there before stays"
