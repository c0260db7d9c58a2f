"""Workbooks (.xlsx) of one sheet, written row by row.

Numbers and dates are typed, so that Excel shows them right in every language. Text stays text: ids keep their leading
zeros, and nothing runs as a formula.
"""

import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date
from numbers import Integral, Real
from typing import IO
from xml.sax.saxutils import escape

from crewlearn.problem.errors import InvalidInput

MOST_ROWS = 1_048_576
"""So many rows a sheet holds in Excel, the header among them."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEETS}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEETS}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_SHEETS}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>',
    # 0: as it is; 1: a date in the reader's form; 2: bold, for the header
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill '
    'patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/>'
    '</borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf xfId="0"/><xf numFmtId="14" '
    'applyNumberFormat="1" xfId="0"/><xf fontId="1" applyFont="1" xfId="0"/></cellXfs></styleSheet>',
}
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_FIRST_DAY = date(1899, 12, 30)
"""Day 0 of Excel's calendar, for all days from March 1900 on."""

_LIKE_AN_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
"""Text that readers of workbooks take for one character by its number, unless its first character is written so."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_workbook(file: IO[bytes], name: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows, the header first, to a workbook whose sheet has a name; the header stays in sight.

    More rows than a sheet holds are refused, when some are written already.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for path, text in _PARTS.items():
            package.writestr(path, _DECLARATION + text.replace("{name}", escape(name, {'"': "&quot;"})))
        with package.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
            views = f'<sheetViews><sheetView workbookViewId="0">{pane}</sheetView></sheetViews>'
            sheet.write(f'{_DECLARATION}<worksheet xmlns="{_MAIN}">{views}<sheetData>'.encode())
            for number, row in enumerate(rows):
                if number >= MOST_ROWS:
                    raise InvalidInput("format", "xlsx", f"holds at most {MOST_ROWS:,} rows in a sheet; export CSV")
                cells = "".join(_cell(value, header=number == 0) for value in row)
                sheet.write(f"<row>{cells}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")


def _cell(value: object, *, header: bool) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Real):
        return f"<c><v>{int(value) if isinstance(value, Integral) else float(value)!r}</v></c>"
    if isinstance(value, date):
        return f'<c s="1"><v>{(value - _FIRST_DAY).days}</v></c>'
    style = ' s="2"' if header else ""
    text = _LIKE_AN_ESCAPE.sub("_x005F_", escape(_NOT_IN_XML.sub("", str(value)))).replace("\r", "_x000D_")
    return f'<c{style} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
