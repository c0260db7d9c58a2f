"""The Import page: a file is chosen, dropped or pasted, checked in a dry run, and recorded after confirmation.

The server stores nothing in between: the page with the dry run carries the file, compressed.
"""

import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from crewlearn.advisor.files import dry_run, imports
from crewlearn.advisor.files.cells import shortened
from crewlearn.advisor.files.columns import IMPORTED, LABELS, OUTPUT, WORKERS, columns_of
from crewlearn.advisor.files.detection.sentences import plan_sentences
from crewlearn.advisor.files.dry_run import DryRun, readable_table
from crewlearn.advisor.files.imports import ImportFile, ImportOptions
from crewlearn.advisor.files.intake.output_files import with_options
from crewlearn.advisor.files.intake.profiles import plans_of, remove_profile
from crewlearn.advisor.files.tables import MOST_ERRORS, CsvError, CsvErrors, FileTable
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _, localized, plural
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import formats as wording
from crewlearn.web.auth.access import MANAGER, Caller, require
from crewlearn.web.jobs import queue as jobs
from crewlearn.web.jobs import work
from crewlearn.web.observing.meters import counting_import
from crewlearn.web.pages.common import JobNumber, go, reading_of, show_site, store_of
from crewlearn.web.pages.files import form_text, packed, unpacked
from crewlearn.web.settings import Settings
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/import")
SHOWN = 8
"""Rows shown of a file without errors."""
UNUSUAL = 50
"""Unusual findings shown."""
COLUMNS = 100
"""Columns shown of a file, beside those that are read; their headers are cut at `LONGEST` characters."""
LONGEST = 200
WRONG = MOST_ERRORS
"""Rows with errors shown: as many as errors are listed."""
_EXAMPLES = {
    OUTPUT.kind: "date,worker_id,units\n2026-11-16,007,41\n2026-11-16,008,38",
    WORKERS.kind: "worker_id,name,active\n007,Ann Ames,yes\n008,Ben Byrd,no",
}


@dataclass(frozen=True)
class Shown:
    """A row of a file: its line, its cells with the wrong ones marked, and its errors."""

    line: int
    cells: tuple[tuple[str, bool], ...]
    faults: tuple[str, ...]


async def _given(request: Request) -> AsyncIterator[FormData]:
    settings: Settings = request.app.state.settings
    async with request.form(max_files=1, max_fields=100, max_part_size=settings.import_bytes) as form:
        yield form


@router.get("")
def ask(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show the form for a file."""
    return _ask(request, caller, reading_of(request, site))


def _ask(request: Request, caller: Caller, reading: Reading, fault: str = "", status: int = 200) -> Response:
    missing = reading.missing
    values = {
        "fault": fault,
        "no_workers": not reading.site.workers,
        "missing": _("{missing} to {last}", missing=reading.day(missing[0]), last=reading.day(missing[1]))
        if missing
        else "",
        "next_day": reading.day(reading.site.period),
        "examples": _EXAMPLES,
        "optional": [column.name for column in OUTPUT.optional],
        "profiles": {
            name: [wording.remedy(sentence) for sentence in plan_sentences(plan)]
            for name, plan in plans_of(reading.site.profiles).items()
        },
        "most": _("{import_bytes} MB", import_bytes=request.app.state.settings.import_bytes // 1_000_000),
    }
    return show_site(request, caller, reading, "Import", "imports/import.html", values, status)


@router.post("")
async def take(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(MANAGER)],
    given: Annotated[FormData, Depends(_given)],
) -> Response:
    """Check a file and show the result, or record it after confirmation."""
    upload = given.get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    name = upload.filename or "" if isinstance(upload, UploadFile) else ""
    return await run_in_threadpool(_take, request, caller, site, given, data, name)


def _take(request: Request, caller: Caller, site: str, form: FormData, data: bytes, name: str) -> Response:
    reading, store = reading_of(request, site), store_of(request)
    try:
        file = _read(form, data, name, store, reading, request.app.state.settings.import_bytes)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        return _ask(request, caller, reading, error.remedy, 422)
    confirmed = form_text(form, "step") == "confirm"
    # corrections and what is unusual are shown here and need a confirmation
    tried = dataclasses.replace(file, options=dataclasses.replace(file.options, correct=True, accept_unusual=True))
    checked = dry_run.check(store, reading.name, tried, caller.name)
    if not checked.sound and checked.reading and not file.options.yes and not confirmed:
        # the file can be read in another way, which is shown for confirmation
        file, tried = (with_options(each, yes=True, overtime=True, mapping={}) for each in (file, tried))
        checked = dry_run.check(store, reading.name, tried, caller.name)
    refused = ""
    if confirmed and checked.sound:
        if checked.result.corrected and not file.options.correct:
            refused = _("Check the box to replace the rows on record.")
        elif checked.result.unusual and not file.options.accept_unusual:
            refused = _("Check the box to record what is unusual.")
        else:
            return _import(request, reading, file, caller)
    return _preview(request, caller, reading, file, checked, refused)


def _read(form: FormData, data: bytes, name: str, store: Store, reading: Reading, most: int) -> ImportFile:
    """Read the form; the file is uploaded, pasted, or carried over from the page before."""
    text, packed = form_text(form, "text"), form_text(form, "packed")
    if not data and packed:
        data, name = unpacked(packed, most), form_text(form, "file_name")
    elif not data:
        data, name = text.encode(), _("what was pasted")
    if not data.strip():
        raise InvalidInput("file", name, _("Choose a file, or paste its contents."))
    prefix = "column-"
    mapping = {key[len(prefix) :]: str(value) for key, value in form.multi_items() if key.startswith(prefix)}
    if form_text(form, "planned") == "yes":  # only what the person chose differently overrides what was found
        mapping = {name: header for name, header in mapping.items() if header != form_text(form, f"was-{name}")}
    decimal, dates = form_text(form, "decimal"), form_text(form, "dates")
    kind = form_text(form, "kind")
    options = ImportOptions(
        mapping=mapping if kind in IMPORTED and kind == form_text(form, "mapped_as") else {},
        decimal="," if decimal == "," else "." if decimal == "." else None,
        dates="day-first" if dates == "day-first" else "month-first" if dates == "month-first" else None,
        correct=form_text(form, "correct") == "yes",
        skip_unknown=form_text(form, "skip_unknown") == "yes",
        team_from_output=form_text(form, "team_from_output") == "yes",
        yes=form_text(form, "yes") == "yes",
        where=tuple(line.strip() for line in form_text(form, "where").splitlines() if line.strip()),
        overtime=form_text(form, "yes") == "yes",
        accept_unusual=form_text(form, "accept_unusual") == "yes",
    )
    if kind not in IMPORTED:
        kind = imports.kind_of(store, reading.name, data) or (OUTPUT.kind if reading.site.workers else WORKERS.kind)
    return ImportFile(kind, data, options, name[:100] or _("the file"))


def _import(request: Request, reading: Reading, file: ImportFile, caller: Caller) -> Response:
    store = store_of(request)
    if file.kind == OUTPUT.kind and work.is_big(file.data):
        options = {**dataclasses.asdict(file.options), "name": file.name}
        job = jobs.submit(store, reading.name, work.OUTPUT_IMPORT, caller.name, options, file.data, again=True)
        return go(request, reading.url("import", job.id), _("The import is under way; you may leave this page."))
    try:
        with counting_import():
            done = imports.take_in(store, reading.name, file, caller.name)
    except InvalidInput as error:  # the site changed since the check
        if isinstance(error, StoreUnavailable):
            raise
        return go(
            request,
            reading.url("import"),
            _("Nothing was recorded: {remedy}", remedy=wording.remedy(error.remedy)),
            "bad",
        )
    summary = _summary("recorded", done.recorded, done.known, done.corrected, file.kind, done.enrolled)
    return go(request, reading.url(), summary, "", [wording.remedy(warning) for warning in done.warnings])


def _summary(verb: str, recorded: int, known: int, corrected: int, kind: str = OUTPUT.kind, enrolled: int = 0) -> str:
    rows = (
        plural("{n} row", "{n} rows", recorded)
        if kind == OUTPUT.kind
        else plural("{n} worker", "{n} workers", recorded)
    )
    more = [_("{known} known already", known=localized(f"{known:,}"))] if known else []
    more += [_("{corrected} corrected", corrected=localized(f"{corrected:,}"))] if corrected else []
    more += [_("{enrolled} enrolled", enrolled=plural("{n} newcomer", "{n} newcomers", enrolled))] if enrolled else []
    return f"{rows} {verb}{', ' if more else ''}{' and '.join(more)}."


def _preview(
    request: Request, caller: Caller, reading: Reading, file: ImportFile, checked: DryRun, refused: str
) -> Response:
    table = checked.table or readable_table(file)
    headers = table.headers if table is not None else ()
    positions: Mapping[str, int] = table.positions if table is not None else {}
    above = [error for error in checked.errors if error.line <= (0 if table is None else table.header_line)]
    blamed = {name for error in above for name in error.column.split(" or ")}
    rows = _rows(table, positions, [error for error in checked.errors if error not in above])
    # a file may have thousands of long headers, and each is a choice for every column
    places = sorted({*range(min(COLUMNS, len(headers))), *positions.values()})
    values = {
        "file": file,
        "checked": checked,
        "summary": _summary(
            _("will be recorded"), checked.result.recorded, checked.result.known, 0, file.kind, checked.result.enrolled
        ),
        "reading": [wording.remedy(sentence) for sentence in checked.reading],
        "warnings": [wording.remedy(warning) for warning in checked.result.warnings],
        "causes": _causes(checked),
        "planned": bool(checked.reading),
        "where": "\n".join(file.options.where),
        "corrected": checked.result.corrected,
        "refused": refused,
        "differing": checked.result.differing[:UNUSUAL],
        "unusual": checked.result.unusual[:UNUSUAL],
        "unusual_more": max(0, len(checked.result.unusual) - UNUSUAL),
        "headers": [shortened(headers[place], LONGEST) for place in places],
        "choices": [
            headers[place] for place in places if 0 < len(headers[place]) <= LONGEST or place in positions.values()
        ],
        "columns": [
            (
                column.name,
                column.label,
                column.required,
                headers[positions[column.name]] if column.name in positions else "",
                column.name in blamed and column.name not in positions,
            )
            for column in columns_of(file.kind).columns
        ],
        "blamed": {places.index(positions[name]) for name in blamed if name in positions},
        "rows": [replace(row, cells=tuple(row.cells[at] for at in places if at < len(row.cells))) for row in rows],
        "caption": _caption(table, checked, rows),
        "general": [_above(error, file, headers) for error in above],
        "packed": packed(file.data),
        "leave_out": wording.LEAVE_OUT,
        "more": checked.total - len(checked.errors),
    }
    return show_site(request, caller, reading, "Import", "imports/import_check.html", values)


def _causes(checked: DryRun) -> list[str]:
    """Describe the errors by cause, each with what to do, if they are many."""
    if checked.total <= 1:
        return []
    return [f"{cause.sentence}: {wording.remedy(cause.action)}" for cause in checked.groups if cause.examples[0].line]


def _above(error: CsvError, file: ImportFile, headers: Sequence[str]) -> str:
    """Describe an error of the whole file, or of its header."""
    name = " or ".join(LABELS.get(part, part) for part in error.column.split(" or "))
    if error.line and headers and not file.options.mapping.get(error.column):
        present = shortened(", ".join(header for header in headers if header), LONGEST)
        return _("{name}: choose below which column it is. The file has {present}.", name=name, present=present)
    return f"{name} {error.value}: {wording.remedy(error.expected)}"


def _caption(table: FileTable | None, checked: DryRun, rows: Sequence[Shown]) -> str:
    """Count the rows of the file, and those of them that are shown."""
    try:
        many = checked.rows or (0 if table is None else sum(1 for _row in table.rows()))
    except CsvErrors:  # an error that is shown anyway
        many = 0
    shown = sum(bool(row.cells) for row in rows)
    counted = (
        _("{shown} of {many}", shown=localized(f"{shown:,}"), many=plural("{n} row", "{n} rows", many))
        if shown < many
        else plural("{n} row", "{n} rows", many)
    )
    return (
        _("{counted}; not used: {shortened}", counted=counted, shortened=shortened(", ".join(checked.ignored), LONGEST))
        if checked.ignored
        else counted
    )


def _rows(table: FileTable | None, positions: Mapping[str, int], errors: Sequence[CsvError]) -> list[Shown]:
    """Return the rows to show: those with errors, with their cells if the file is there, else the first ones."""
    wrong: dict[int, list[CsvError]] = {}
    for error in errors:
        if error.line:
            wrong.setdefault(error.line, []).append(error)
    shown = []
    try:
        for line, cells in () if table is None else table.rows():
            if wrong and line not in wrong:
                continue
            own = wrong.get(line, [])
            marked = {positions.get(error.column, -1) for error in own}
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
    known = {row.line for row in shown}
    for line in sorted(line for line in wrong if line not in known)[:WRONG]:
        shown.append(Shown(line, (), _faults(wrong[line])))
    return shown


def _faults(errors: Sequence[CsvError]) -> tuple[str, ...]:
    """Describe the errors of a line."""
    return tuple(
        _(
            "{column}: {value} – expected {remedy}",
            column=LABELS.get(error.column, error.column),
            value=error.value or _("nothing"),
            remedy=wording.remedy(error.expected),
        )
        for error in errors
    )


def _general(errors: Sequence[CsvError]) -> list[str]:
    """Describe the errors of a file as a whole."""
    return [f"{error.column} {error.value}: {wording.remedy(error.expected)}" for error in errors if not error.line]


@router.post("/profiles")
async def forget(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(MANAGER)],
    given: Annotated[FormData, Depends(_given)],
) -> Response:
    """Remove a profile."""
    name = form_text(given, "profile")
    reading = await run_in_threadpool(reading_of, request, site)
    try:
        await run_in_threadpool(remove_profile, store_of(request), reading.name, name, caller.name)
    except Unknown:  # somebody else removed it
        return go(request, reading.url("import"), _("That reading was removed already."), "bad")
    return go(
        request,
        reading.url("import"),
        _("“{name}” is removed: such files are shown for confirmation again.", name=name),
    )


@router.get("/{job}")
def imported(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show the progress or the result of a large import."""
    reading = reading_of(request, site)
    running = jobs.read(store_of(request), job)
    if running.site != site or running.kind != work.OUTPUT_IMPORT:
        raise Unknown("job", str(job), _("does not exist"))
    result = running.result or {}
    errors = [_error_of(error) for error in result.get("errors", ())]
    recorded = running.status == jobs.DONE and "sound" not in result  # a dry run reports whether the file is sound
    counts = [result.get(name, 0) for name in ("recorded", "known", "corrected")]
    values = {
        "job": running,
        "recorded": recorded,
        "summary": _summary("recorded" if recorded else _("would be recorded"), *counts),
        "warnings": [wording.remedy(warning) for warning in result.get("warnings", ())],
        "fault": "" if running.status == jobs.DONE else wording.remedy(result.get("detail", running.message)),
        "rows": _rows(None, {}, errors),
        "general": _general(errors),
        "headers": (),
        "blamed": (),
        "caption": "",
        "more": 0,
    }
    return show_site(request, caller, reading, "Import", "imports/import_job.html", values)


def _error_of(entry: Mapping[str, Any]) -> CsvError:
    """Read an error from a job's result, which is a problem document or the document of a dry run."""
    expected = entry["remedy"] if "remedy" in entry else entry["expected"]
    return CsvError(entry.get("line") or 0, entry.get("column") or entry["field"], entry.get("value") or "", expected)
