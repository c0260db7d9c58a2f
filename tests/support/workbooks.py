"""A small writer of .xlsx workbooks: numbers, text, dates, times, formulas, merged cells, and hostile parts."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{sheets}'
    '<Override PartName="/xl/styles.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/>'
    "</numFmts><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>"
    "<cellStyleXfs><xf/></cellStyleXfs>"
    '<cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="164" '
    'applyNumberFormat="1"/><xf numFmtId="46" applyNumberFormat="1"/><xf numFmtId="10" applyNumberFormat="1"/>'
    "</cellXfs>"
    "</styleSheet>"
)
_ZERO = datetime(1899, 12, 30)


class Formula(str):
    """A formula without a value, as programs write that do not calculate."""


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _cell(at: str, value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, Formula):
        return f'<c r="{at}"><f>{escape(value)}</f></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        return f'<c r="{at}" s="2"><v>{(value - _ZERO) / timedelta(days=1)!r}</v></c>'
    if isinstance(value, date):
        return f'<c r="{at}" s="1"><v>{(value - _ZERO.date()).days}</v></c>'
    if isinstance(value, time):
        return f'<c r="{at}" s="3"><v>{(value.hour * 60 + value.minute) / 1440!r}</v></c>'
    if isinstance(value, timedelta):
        return f'<c r="{at}" s="3"><v>{value / timedelta(days=1)!r}</v></c>'
    return f'<c r="{at}"><v>{value!r}</v></c>'


def sheet_xml(rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> str:
    """Return the XML of a sheet."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(_cell(f"{_letters(at)}{number}", value) for at, value in enumerate(row, start=1))
        if cells:
            lines.append(f'<row r="{number}">{cells}</row>')
    merges = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged)
    tail = f"<mergeCells>{merges}</mergeCells>" if merges else ""
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData>{tail}</worksheet>'


def packed(sheets: Mapping[str, str], more: Mapping[str, bytes] | None = None) -> bytes:
    """Return a workbook with these sheets, given as XML by name, and more parts by path."""
    numbers = range(1, len(sheets) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for number in numbers
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>'
        for number, name in zip(numbers, sheets, strict=True)
    )
    targets = "".join(
        f'<Relationship Id="rId{number}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    relations = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def write(path: str, text: str | bytes) -> None:
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)

        write("[Content_Types].xml", _TYPES.format(sheets=types))
        write(
            "_rels/.rels",
            f'<Relationships {relations}><Relationship Id="rId1" Type="{_RELATION}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        write(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{listed}</sheets></workbook>'
        )
        write(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships {relations}>{targets}<Relationship Id="rId99" Type="{_RELATION}/styles" '
            'Target="styles.xml"/></Relationships>',
        )
        write("xl/styles.xml", _STYLES)
        for number, text in zip(numbers, sheets.values(), strict=True):
            write(f"xl/worksheets/sheet{number}.xml", text)
        for path, content in (more or {}).items():
            write(path, content)
    return out.getvalue()


def workbook(rows: Sequence[Sequence[Any]], merged: Sequence[str] = (), name: str = "Sheet1") -> bytes:
    """Return a workbook with one sheet of these rows."""
    return packed({name: sheet_xml(rows, merged)})
