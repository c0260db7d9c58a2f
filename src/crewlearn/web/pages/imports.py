"""Import: a file is chosen, dropped or pasted, checked and shown; only what was seen is then put on record.

Nothing is kept on the server in between: the page that shows what was found carries the file, packed.
"""

import base64
import binascii
import dataclasses
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from crewlearn.advisor.csv_table import MOST_ERRORS, Columns, CsvError, CsvErrors, Table, read_table
from crewlearn.advisor.rehearsal import Checked
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import intake, jobs, wording, work
from crewlearn.web.access import MANAGER, Caller, require
from crewlearn.web.intake import COLUMNS, KINDS, OUTPUT, WORKERS, File, Options
from crewlearn.web.pages.common import JobNumber, go, reading_of, show_site, store_of
from crewlearn.web.settings import Settings
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/import")
WORDS = {
    "worker_id": "Worker's id",
    "name": "Name",
    "active": "In the team at the start",
    "fee": "Own fee",
    "prior_n": "Earlier days seen",
    "prior_mean": "Their mean",
    "status": "Status",
    "interview": "Interview score",
    "date": "Date",
    "period": "Period",
    "shift": "Shift",
    "units": "Output",
    "hours": "Hours",
    "attendance": "Attendance",
    "pinned": "Pinned: stays whatever is advised",
}
SHOWN = 8
"""Rows shown of a file that is sound."""
WRONG = MOST_ERRORS
"""Wrong rows shown: all that are told."""
_EXAMPLES = {
    OUTPUT: "date,worker_id,units\n2026-11-16,007,41\n2026-11-16,008,38",
    WORKERS: "worker_id,name,active\n007,Ann Ames,yes\n008,Ben Byrd,no",
}


@dataclass(frozen=True)
class Shown:
    """A row of a file: its line, its cells with those that are wrong marked, and what is wrong."""

    line: int
    cells: tuple[tuple[str, bool], ...]
    faults: tuple[str, ...]


async def _given(request: Request) -> AsyncIterator[FormData]:
    settings: Settings = request.app.state.settings
    async with request.form(max_files=1, max_fields=100, max_part_size=settings.import_bytes) as form:
        yield form


@router.get("")
def ask(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Ask for a file."""
    return _ask(request, caller, reading_of(request, site))


def _ask(request: Request, caller: Caller, reading: Reading, fault: str = "", status: int = 200) -> Response:
    missing = reading.missing
    values = {
        "fault": fault,
        "no_workers": not reading.site.workers,
        "missing": f"{reading.day(missing[0])} to {reading.day(missing[1])}" if missing else "",
        "next_day": reading.day(reading.site.period),
        "examples": _EXAMPLES,
        "most": f"{request.app.state.settings.import_bytes // 1_000_000} MB",
    }
    return show_site(request, caller, reading, "Import", "import.html", values, status)


@router.post("")
async def take(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(MANAGER)],
    given: Annotated[FormData, Depends(_given)],
) -> Response:
    """Check a file and show what was found, or, once that was seen, put it on record."""
    upload = given.get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    name = upload.filename or "" if isinstance(upload, UploadFile) else ""
    return await run_in_threadpool(_take, request, caller, site, given, data, name)


def _take(request: Request, caller: Caller, site: str, form: FormData, data: bytes, name: str) -> Response:
    reading, store = reading_of(request, site), store_of(request)
    try:
        file = _read(form, data, name, reading, request.app.state.settings.import_bytes)
    except InvalidInput as error:
        return _ask(request, caller, reading, error.remedy, 422)
    confirmed = _text(form, "step") == "confirm"
    # corrections are counted here, and asked about before they are made
    tried = dataclasses.replace(file, options=dataclasses.replace(file.options, correct=True))
    found = intake.check(store, reading.name, caller.name, tried)
    if confirmed and found.sound and (file.options.correct or not found.done.corrected):
        return _import(request, reading, file, caller)
    refused = "Tick that the rows on record are to be replaced." if confirmed and found.sound else ""
    return _preview(request, caller, reading, file, found, refused)


def _read(form: FormData, data: bytes, name: str, reading: Reading, most: int) -> File:
    """Read the form; the file comes as a file, as text, or packed from the page before."""
    text, packed = _text(form, "text"), _text(form, "packed")
    if not data and packed:
        data, name = _unpacked(packed, most), _text(form, "file_name")
    elif not data:
        data, name = text.encode(), "what was pasted"
    if not data.strip():
        raise InvalidInput("file", name, "Choose a file, or paste what it holds.")
    prefix = "column-"
    mapping = {key[len(prefix) :]: str(value) for key, value in form.multi_items() if key.startswith(prefix)}
    decimal, dates = _text(form, "decimal"), _text(form, "dates")
    kind = _text(form, "kind")
    options = Options(
        mapping=mapping if kind in KINDS and kind == _text(form, "mapped_as") else {},
        decimal="," if decimal == "," else "." if decimal == "." else None,
        dates="day-first" if dates == "day-first" else "month-first" if dates == "month-first" else None,
        correct=_text(form, "correct") == "yes",
        skip_unknown=_text(form, "skip_unknown") == "yes",
    )
    return File(kind if kind in KINDS else _kind(data, reading), data, options, name[:100] or "the file")


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def packed(data: bytes) -> str:
    """Pack a file so that a page can carry it."""
    return base64.b64encode(zlib.compress(data)).decode()


def _unpacked(text: str, most: int) -> bytes:
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), most)
    except (binascii.Error, ValueError, zlib.error):
        raise InvalidInput("file", "", "The file got lost on the way. Choose it again.") from None
    if unpacker.unconsumed_tail:
        raise InvalidInput("file", "", "The file is too large. Split it.")
    return data


def _kind(data: bytes, reading: Reading) -> str:
    """Find out what a file is about by its header."""
    for kind in KINDS:
        try:
            read_table(data, kind, COLUMNS[kind])
            return kind
        except InvalidInput:
            continue
    return OUTPUT if reading.site.workers else WORKERS


def _import(request: Request, reading: Reading, file: File, caller: Caller) -> Response:
    store = store_of(request)
    if file.kind == OUTPUT and work.is_big(file.data):
        told = dataclasses.asdict(file.options)
        job = jobs.submit(store, reading.name, work.OUTPUT_IMPORT, caller.name, told, file.data, again=True)
        return go(request, reading.url("import", job.id), "The import is under way; you may leave this page.")
    try:
        done = intake.take_in(store, reading.name, caller.name, file)
    except InvalidInput as error:  # somebody else was quicker
        if error.field == "db":
            raise
        return go(request, reading.url("import"), f"Nothing was recorded: {wording.remedy(error.remedy)}", "bad")
    said = _said("recorded", done.recorded, done.known, done.corrected, file.kind)
    return go(request, reading.url(), said, "", done.warnings)


def _said(verb: str, recorded: int, known: int, corrected: int, kind: str = OUTPUT) -> str:
    rows = wording.count(recorded, "row") if kind == OUTPUT else wording.count(recorded, "worker")
    more = [f"{known:,} known already"] if known else []
    more += [f"{corrected:,} corrected"] if corrected else []
    return f"{rows} {verb}{', ' if more else ''}{' and '.join(more)}."


def _preview(request: Request, caller: Caller, reading: Reading, file: File, found: Checked, refused: str) -> Response:
    table = _table(file)
    headers = table.headers if table is not None else ()
    positions: Mapping[str, int] = table.positions if table is not None else {}
    above = [one for one in found.errors if one.line <= (0 if table is None else table.header_line)]
    blamed = {name for one in above for name in one.column.split(" or ")}
    rows = _rows(table, positions, [one for one in found.errors if one not in above])
    values = {
        "file": file,
        "found": found,
        "sound": found.sound,
        "said": _said("will be recorded", found.done.recorded, found.done.known, 0, file.kind),
        "corrected": found.done.corrected,
        "refused": refused,
        "headers": headers,
        "columns": [
            (
                column.name,
                WORDS.get(column.name, column.name),
                column.required,
                headers[positions[column.name]] if column.name in positions else "",
                column.name in blamed and column.name not in positions,
            )
            for column in COLUMNS[file.kind].columns
        ],
        "blamed": {positions[name] for name in blamed if name in positions},
        "rows": rows,
        "caption": _caption(table, found, rows),
        "general": [_above(one, file, headers) for one in above],
        "packed": packed(file.data),
        "leave_out": wording.LEAVE_OUT,
        "more": found.total - len(found.errors),
    }
    return show_site(request, caller, reading, "Import", "import_check.html", values)


def _table(file: File) -> Table | None:
    """Understand the file as far as it goes where a column is missing or could be several, so that it can be chosen."""
    columns = COLUMNS[file.kind]
    lenient = Columns(tuple(dataclasses.replace(column, required=False) for column in columns.columns))
    mapping = dict(file.options.mapping)
    for _ in range(2):
        try:
            return read_table(file.data, file.name, lenient, mapping)
        except CsvErrors as error:
            mapping |= {one.column: "" for one in error.errors if one.column in lenient.names}
        except InvalidInput:
            break
    return None


def _above(error: CsvError, file: File, headers: Sequence[str]) -> str:
    """Say what is wrong with a file as a whole, or with its header."""
    name = " or ".join(WORDS.get(part, part) for part in error.column.split(" or "))
    if error.line and headers and not file.options.mapping.get(error.column):
        return f"{name}: choose below which column it is. The file has {', '.join(one for one in headers if one)}."
    return f"{name} {error.value}: {wording.remedy(error.expected)}"


def _caption(table: Table | None, found: Checked, rows: Sequence[Shown]) -> str:
    """Say how many rows the file has, and how many of them are shown."""
    try:
        many = found.rows or (0 if table is None else sum(1 for _ in table.rows()))
    except CsvErrors:  # which is what is wrong with it, and told
        many = 0
    shown = sum(bool(row.cells) for row in rows)
    said = f"{shown:,} of {wording.count(many, 'row')}" if shown < many else wording.count(many, "row")
    return f"{said}; not used: {', '.join(found.ignored)}" if found.ignored else said


def _rows(table: Table | None, positions: Mapping[str, int], errors: Sequence[CsvError]) -> list[Shown]:
    """Give the rows to show: those that are wrong, in place if the file is there, or the first ones if none is."""
    wrong: dict[int, list[CsvError]] = {}
    for one in errors:
        if one.line:
            wrong.setdefault(one.line, []).append(one)
    shown = []
    try:
        for line, cells in () if table is None else table.rows():
            if wrong and line not in wrong:
                continue
            own = wrong.get(line, [])
            marked = {positions.get(one.column, -1) for one in own}
            shown.append(
                Shown(
                    line,
                    tuple((cell[:60], place in marked) for place, cell in enumerate(cells)),
                    _faults(own),
                )
            )
            if len(shown) >= (WRONG if wrong else SHOWN):
                break
    except CsvErrors:
        pass
    known = {one.line for one in shown}
    for line in sorted(line for line in wrong if line not in known)[:WRONG]:
        shown.append(Shown(line, (), _faults(wrong[line])))
    return shown


def _faults(errors: Sequence[CsvError]) -> tuple[str, ...]:
    """Say what is wrong in a line."""
    return tuple(
        f"{WORDS.get(one.column, one.column)}: {one.value or 'nothing'} – expected {wording.remedy(one.expected)}"
        for one in errors
    )


def _general(errors: Sequence[CsvError]) -> list[str]:
    """Say what is wrong with a file as a whole."""
    return [f"{one.column} {one.value}: {wording.remedy(one.expected)}" for one in errors if not one.line]


@router.get("/{job}")
def imported(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show how far a big import is, or what came of it."""
    reading = reading_of(request, site)
    found = jobs.read(store_of(request), job)
    if found.site != site or found.kind != work.OUTPUT_IMPORT:
        raise Unknown("job", str(job), "does not exist")
    result = found.result or {}
    errors = [_error_of(one) for one in result.get("errors", ())]
    recorded = found.status == jobs.DONE and "sound" not in result  # what was only to be checked says whether it is
    counts = [result.get(name, 0) for name in ("recorded", "known", "corrected")]
    values = {
        "job": found,
        "recorded": recorded,
        "said": _said("recorded" if recorded else "would be recorded", *counts),
        "warnings": result.get("warnings", ()),
        "fault": "" if found.status == jobs.DONE else wording.remedy(result.get("detail", found.message)),
        "rows": _rows(None, {}, errors),
        "general": _general(errors),
        "headers": (),
        "blamed": (),
        "caption": "",
        "more": 0,
    }
    return show_site(request, caller, reading, "Import", "import_job.html", values)


def _error_of(told: Mapping[str, Any]) -> CsvError:
    """Read an error as a job's result has it: as a problem document tells it, or a check."""
    expected = told["remedy"] if "remedy" in told else told["expected"]
    return CsvError(told.get("line") or 0, told.get("column") or told["field"], told.get("value") or "", expected)
