"""Setting up a site from an export: proposals to edit, the first advice, and one confirmation.

The server stores nothing in between: each page carries the file, compressed. A large file is recorded by a job.
"""

import dataclasses
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from crewlearn import language
from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.files.dry_run import readable_table
from crewlearn.advisor.files.imports import ImportFile, ImportOptions
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.ledger.errors import Stale, StoreUnavailable
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.setup.opening import NewSite, begin_site, open_site, rehearsed
from crewlearn.advisor.setup.proposals import ASKED, SiteProposal, propose_site, stream_of
from crewlearn.language import _, localized, noted, plural
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats as wording
from crewlearn.web.auth.access import ADMIN, Caller, require
from crewlearn.web.jobs import queue as jobs
from crewlearn.web.jobs import work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import go, show, store_of, today_at
from crewlearn.web.pages.files import form_text, packed, unpacked
from crewlearn.web.pages.forms import Form
from crewlearn.web.pages.sites import policies, show_new_site
from crewlearn.web.settings import Settings
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views.first_advice import FirstAdvice, first_advice
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter()

ROLES = (("date", noted("Day")), ("worker_id", noted("Worker's id")), ("units", noted("Output")))
"""The columns that a person may choose."""

_LISTED = 8
"""Errors of a file that are listed."""


async def _given(request: Request) -> AsyncIterator[FormData]:
    settings: Settings = request.app.state.settings
    async with request.form(max_files=1, max_fields=100, max_part_size=settings.import_bytes) as form:
        yield form


@router.post("/sites/new/file")
async def take(
    request: Request,
    caller: Annotated[Caller, require(ADMIN)],
    given: Annotated[FormData, Depends(_given)],
) -> Response:
    """Show what a file suggests, then the first advice, then set the site up."""
    upload = given.get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    name = upload.filename or "" if isinstance(upload, UploadFile) else ""
    return await run_in_threadpool(_take, request, caller, given, data, name)


@dataclass(frozen=True)
class _Asked:
    """A request about a new site: the file, what it suggests, and the form."""

    file: ImportFile
    proposal: SiteProposal
    form: Form


def _take(request: Request, caller: Caller, given: FormData, data: bytes, name: str) -> Response:
    store = store_of(request)
    form = _form(given)
    try:
        file = _file(given, data, name, request.app.state.settings.import_bytes)
    except InvalidInput as error:
        return show_new_site(request, fault=error.remedy)
    step = form.value("step")
    begun = _begin(request, caller, file, form) if step == "create" and work.is_big(file.data) else None
    if begun is not None:
        return begun
    try:
        proposal = propose_site(file, today_at(store))
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        return _unreadable(request, file, error)
    if step not in ("advice", "create"):
        return _show(request, _Asked(file, proposal, _proposed_form(proposal, form.value("name"))))
    return _advise(request, caller, _Asked(file, proposal, form), store, create=step == "create")


def _begin(request: Request, caller: Caller, file: ImportFile, form: Form) -> Response | None:
    """Set a site up whose large file is recorded by a job; None if that was not agreed on, or cannot be done."""
    store, name, digest = store_of(request), form.value("name").strip(), hashlib.sha256(file.data).hexdigest()
    config = forms.read_site(form)
    if config is None or not name:
        return None
    config = dataclasses.replace(config, stream_key=stream_of(digest))
    if form.value("shown") != _digest(digest, config, file):
        return None

    def ask(together: Store) -> Job:
        wanted = work.new_site_input(file, today_at(store))
        return jobs.submit(together, name, work.OUTPUT_IMPORT, caller.name, wanted, file.data, again=True)

    try:
        job = begin_site(store, name, config, caller.name, ask)
    except InvalidInput as error:
        if isinstance(error, (Stale, StoreUnavailable)):
            raise
        return None  # the form says why
    return go(
        request, site_url(name, "import", job.id), _("{name} is set up. Its output is being recorded.", name=name)
    )


def _form(given: FormData) -> Form:
    values, many = dict[str, str](), dict[str, list[str]]()
    for name, value in given.multi_items():
        if isinstance(value, str) and name != "packed":
            values[name] = value
            many.setdefault(name, []).append(value)
    return Form(values, many, labels=forms.SITE_LABELS)


def _file(given: FormData, data: bytes, name: str, most: int) -> ImportFile:
    """Return the file, which is uploaded, pasted, or carried over from the page before."""
    text, carried = form_text(given, "text"), form_text(given, "packed")
    if not data and text.strip():
        data, name = text.encode(), _("pasted rows")
    elif not data and carried:
        data, name = unpacked(carried, most), form_text(given, "file_name")
    if not data.strip():
        raise InvalidInput("file", name, _("Choose a file, or paste its contents."))
    mapping = {role: header for role, _words in ROLES if (header := form_text(given, f"column-{role}"))}
    return ImportFile(OUTPUT.kind, data, ImportOptions(mapping), name[:100] or _("the file"))


def _proposed_form(proposal: SiteProposal, name: str) -> Form:
    """Return the form with what is proposed; what has to be asked is empty."""
    asked = {"fee": 1.0, "value_per_unit": 1.0}
    form = forms.site_form(proposal.config(asked))
    return dataclasses.replace(
        form, values={**form.values, **dict.fromkeys(ASKED, ""), "most_a_week": "", "name": name.strip()}
    )


def _advise(request: Request, caller: Caller, asked: _Asked, store: Store, *, create: bool) -> Response:
    """Show the first advice with the settings of the form; or set the site up, if that advice was shown."""
    form, name = asked.form, asked.form.value("name").strip()
    config = forms.read_site(form)
    if not name:
        form.errors["name"] = _("is needed")
    if config is None or form.errors:
        return _show(request, asked, status=422)
    config = dataclasses.replace(config, stream_key=stream_of(asked.proposal.digest))
    new = NewSite(name, config, asked.proposal, asked.file)
    agreed = _digest(asked.proposal.digest, config, asked.file)
    try:
        if create and form.value("shown") == agreed:
            open_site(store, new, caller.name)
            return go(request, site_url(name), _("{name} is set up, with its people, output and team.", name=name))
        with rehearsed(store, new, caller.name) as (scratch, imported):
            reading = Reading(snapshot(scratch, name), config.day_of(store.clock()))
            first = first_advice(reading, imported)
    except InvalidInput as error:
        if isinstance(error, (Stale, StoreUnavailable)):
            raise
        if isinstance(error, CsvErrors):
            return _show(request, asked, faults=_lines(error), status=422)
        form.errors["name" if error.field == "site" else error.field] = wording.remedy(error.remedy)
        return _show(request, asked, status=422)
    notice = _("The settings have changed since the advice was shown. This is the advice now.") if create else ""
    return _show(request, asked, first, agreed, notice)


def _digest(data: str, config: SiteConfig, file: ImportFile) -> str:
    """Return a digest of everything that the first advice depends on, given that of the file's bytes."""
    settings = json.dumps(config.to_json(), sort_keys=True)
    reading = json.dumps(dict(file.options.mapping), sort_keys=True)
    return hashlib.sha256(f"{data} {settings} {reading}".encode()).hexdigest()


def _show(
    request: Request,
    asked: _Asked,
    first: FirstAdvice | None = None,
    shown: str = "",
    notice: str = "",
    faults: Sequence[str] = (),
    status: int = 200,
) -> Response:
    proposal, file = asked.proposal, asked.file
    begin, end, days = proposal.days
    rows = plural("{n} day of output", "{n} days of output", len(proposal.reading.rows))
    people = plural("{n} person", "{n} people", proposal.people)
    values = {
        "form": asked.form,
        "labels": forms.SITE_LABELS,
        "why": _reasons(asked),
        "policies": policies(),
        "weekdays": [_(day) for day in forms.WEEKDAYS],
        "file_name": file.name,
        "packed": packed(file.data),
        "summary": _(
            "{rows} by {people}, on {days} from {begin} to {end}",
            rows=rows,
            people=people,
            days=plural("{n} date", "{n} dates", days),
            begin=wording.day(begin, end),
            end=language.day(end, year=True),
        ),
        "reading": [wording.remedy(sentence) for sentence in proposal.reading.read.sentences],
        "notes": proposal.reading.read.notices,
        "roles": [(role, _(words)) for role, words in ROLES],
        "headers": [header for header in proposal.reading.read.table.headers if header],
        "mapping": file.options.mapping,
        "first": first,
        "shown": shown,
        "notice": notice,
        "faults": faults,
    }
    return show(request, "sites/new_site_file.html", values, status)


def _reasons(asked: _Asked) -> Mapping[str, str]:
    """Return why each value is proposed, or that it was changed, by field."""
    proposed = _proposed_form(asked.proposal, "")
    reasons = {name: _(why) for name, why in ASKED.items()}
    for name, setting in asked.proposal.settings.items():
        same = (
            proposed.ticked(name) == tuple(asked.form.ticked(name))
            if name == "weekdays"
            else proposed.value(name) == asked.form.value(name)
        )
        reasons[name] = setting.why if same else _("Changed by you. Proposed from the file: {why}", why=setting.why)
    return reasons


def _unreadable(request: Request, file: ImportFile, error: InvalidInput) -> Response:
    """Return the first page with what is wrong, and the file's columns to choose from."""
    table = readable_table(file)
    headers = [] if table is None else [header for header in table.headers if header]
    values: dict[str, Any] = {
        "headers": headers,
        "packed": packed(file.data) if headers else "",
        "file_name": file.name,
        "roles": [(role, _(words)) for role, words in ROLES],
        "mapping": file.options.mapping,
    }
    if isinstance(error, CsvErrors):
        fault = _(
            "{name} could not be read: {total}.", name=file.name, total=plural("{n} error", "{n} errors", error.total)
        )
        return show_new_site(request, fault=fault, faults=_lines(error), **values)
    return show_new_site(request, fault=wording.remedy(str(error)), **values)


def _lines(error: CsvErrors) -> list[str]:
    """Describe the first errors of a file."""
    lines = []
    for fault in error.errors[:_LISTED]:
        place = _("Line {line}, {column}", line=fault.line, column=fault.column) if fault.line else fault.column
        lines.append(
            _(
                "{place}: {value} – expected {remedy}",
                place=place,
                value=fault.value or _("nothing"),
                remedy=wording.remedy(fault.expected),
            )
        )
    if error.total > len(lines):
        lines.append(_("and {total} more", total=localized(f"{error.total - len(lines):,}")))
    return lines
