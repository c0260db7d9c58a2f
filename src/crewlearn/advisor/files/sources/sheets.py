"""A sheet of an .xlsx workbook as records of text.

Numbers are written with the decimal mark that the sheet's text cells use, dates in ISO form, and durations as H:MM:SS,
so that readers need not know where the cells come from.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from crewlearn.advisor.files.cells import decimal_mark_in
from crewlearn.advisor.files.errors.file_errors import refused
from crewlearn.advisor.files.sources.source import MOST_LINES
from crewlearn.advisor.files.sources.workbook_checks import check_workbook
from crewlearn.problem.errors import InvalidInput

_LOOKED_AT = 2_000


def is_workbook(data: bytes) -> bool:
    """Return whether a file is a zip archive, as .xlsx workbooks are."""
    return data.startswith(b"PK\x03\x04")


def refuse_other_workbooks(what: str, data: bytes) -> None:
    """Refuse a workbook of the old binary form, or one that is encrypted."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        remedy = "must be CSV text or an .xlsx workbook without a password; save the sheet as one of these"
        raise InvalidInput(what, "an old or protected workbook", remedy)


@dataclass(frozen=True)
class SheetSource:
    """A sheet of a workbook; it is parsed once, and turned into text whenever it is read."""

    what: str
    sheet: str
    decimal: str
    cells: Any = field(repr=False, compare=False)
    encoding: str = "xlsx"
    delimiter: str = ""
    shape: str = ""

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the row number and cells of each row that is not blank."""
        start = self.cells.start
        if start is None:
            return
        before = [""] * start[1]  # the library skips blank columns on the left, and no blank rows
        text = _writer(self.decimal)
        line, most_lines = 1, most_lines or MOST_LINES
        for row in self.cells.iter_rows():
            if line > most_lines:
                raise refused(self.what, line, f"at most {most_lines} lines up to here; remove blank lines or split")
            cells = [cell if type(cell) is str else text(cell) for cell in row]
            if any(cells):
                yield line, [*before, *cells]
            line += 1


def sheets_of(what: str, data: bytes) -> list[SheetSource]:
    """Return the visible sheets of a workbook that have cells, in their order."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    check_workbook(what, data)
    damaged = InvalidInput(what, "a damaged workbook", "cannot be read; save it again as .xlsx or CSV")
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        found = []
        for meta in workbook.sheets_metadata:
            if meta.typ == SheetTypeEnum.WorkSheet and meta.visible == SheetVisibleEnum.Visible:
                cells = workbook.get_sheet_by_name(meta.name)
                if cells.height:
                    found.append(SheetSource(what, meta.name, _text_mark(cells.iter_rows()), cells))
        workbook.close()
    except (CalamineError, OSError, ValueError) as error:
        raise damaged from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # a fault of the library, which derives from BaseException
            raise damaged from error
        raise
    if not found:
        raise refused(what, 1, "a header line, such as worker_id,name; the workbook has no sheet with cells")
    return found


def _text_mark(rows: Iterator[Sequence[object]]) -> str:
    """Return the decimal mark of the numbers that a sheet has as text; the point if there are none."""
    counts = {",": 0, ".": 0}
    for _, row in zip(range(_LOOKED_AT), rows, strict=False):
        for cell in row:
            if type(cell) is str and ("," in cell or "." in cell) and (mark := decimal_mark_in(cell)) in counts:
                counts[mark] += 1
    return "," if counts[","] > counts["."] else "."


def _writer(mark: str) -> Callable[[Any], str]:
    """Return the function that writes a cell as text."""

    def text(cell: Any) -> str:
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, (int, float)):
            whole = int(cell) if abs(cell) < 1e15 else 0
            written = str(whole) if whole == cell else repr(round(cell, 10))
            return written if mark == "." else written.replace(".", mark)
        if isinstance(cell, datetime):
            moment: datetime = cell
            if cell.microsecond and cell.year < 9999:  # moments are stored as fractions of a day
                moment = (cell + timedelta(microseconds=500_000)).replace(microsecond=0)
            return moment.date().isoformat() if moment.time() == time.min else moment.isoformat(" ", "seconds")
        if isinstance(cell, date):
            return cell.isoformat()
        if isinstance(cell, time):
            return cell.isoformat("seconds")
        if isinstance(cell, timedelta):
            seconds = round(cell.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return "" if cell is None else str(cell)

    return text
