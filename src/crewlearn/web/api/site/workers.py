"""Workers: list, import, read, change and erase them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from crewlearn.advisor.advice import commands, remarks
from crewlearn.advisor.advice.remarks import FOR_GOOD, Term
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WORKERS, WorkerRow, row_fields
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of
from crewlearn.advisor.files.recording.recorded_imports import result_of
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.advisor.wording import documents
from crewlearn.advisor.wording.explain import Member
from crewlearn.web import snapshots
from crewlearn.web.api import paging
from crewlearn.web.api.common import (
    READING,
    VERSIONED,
    WRITING,
    Here,
    answer,
    at,
    changing,
    changing_once,
    page,
)
from crewlearn.web.api.files import CheckOnly, CsvBody, DecimalMark, Maps, csv_body
from crewlearn.web.api.models.columns import Status
from crewlearn.web.api.models.site import workers as models
from crewlearn.web.api.models.site.output import CheckedModel, Recorded
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER
from crewlearn.web.errors.problems import answers
from crewlearn.web.jobs.work import take_in
from crewlearn.web.snapshots import as_json

router = APIRouter(prefix="/sites/{site}", tags=["workers"])

Sort = Literal["station", "estimate", "days", "worker_id", "name", "joined"]
WorkerPath = Annotated[
    str,
    Path(
        description="The firm's own id of the worker, percent-encoded; it may have slashes. "
        "The ids `.` and `..` cannot be used here, because clients resolve them as path segments.",
        examples=["0113"],
    ),
]
_ORDERS: dict[str, Callable[[People, Member], Any]] = {
    "estimate": lambda people, member: member.estimate.mean,
    "days": lambda people, member: member.estimate.days,
    "worker_id": lambda people, member: people.ids.get(member.number) or "",
    "name": lambda people, member: people.names.get(member.number) or "",
    "joined": lambda people, member: member.number,
}


@router.get("/workers", response_model=models.Workers, operation_id="listWorkers", responses=READING)
def list_workers(
    here: Annotated[Here, at(VIEWER)],
    sort: Annotated[
        Sort, Query(description="station: the team by station, then the others, the best first.")
    ] = "station",
    descending: Annotated[bool, Query(description="The other way round.")] = False,
    status: Annotated[Status | None, Query(description="Only those.")] = None,
    team: Annotated[bool | None, Query(description="Only those in the team, or only the others.")] = None,
    search: Annotated[str | None, Query(max_length=200, description="Part of a name or id, in any case.")] = None,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the workers. Each is listed exactly once, even if the order changes between two pages."""
    with snapshots.making(here.store, here.snapshot, "members") as now:
        members = list(now.members)
    if sort in _ORDERS:
        members.sort(key=lambda member: _ORDERS[sort](now.people, member))
    if descending:
        members.reverse()
    sought = (search or "").casefold()
    by_number = {
        member.number: member
        for member in members
        if (status is None or now.site.workers[member.number].status == status)
        and (team is None or (member.station is not None) == team)
        and sought in _called(now.people, member.number)
    }
    listing = f"workers {sort} {descending} {status} {team} {sought}"
    piece, following = paging.unseen(cursor, listing, limit, list(by_number), len(now.site.workers))
    return answer(page([documents.worker(now.site, now.people, by_number[number]) for number in piece], following))


def _called(people: People, number: int) -> str:
    return f"{people.ids.get(number) or ''}\n{people.names.get(number) or ''}".casefold()


@router.post("/workers", response_model=Recorded, operation_id="importWorkers", responses=WRITING | VERSIONED)
def import_workers(here: Annotated[Here, changing_once(MANAGER)], new: models.NewWorkers) -> Response:
    """Import workers, all or none: newcomers join, changes are recorded, and what is known already is skipped."""
    rows = [WorkerRow(**row_fields(WORKERS, worker)) for worker in new.workers]
    data = as_json(new.model_dump(mode="json", exclude_unset=True))
    try:
        done = worker_imports.import_workers(
            here.writer, here.name, rows, data, here.caller.name, expected=here.expected
        )
    except RequestRepeated as repeated:
        done = result_of(here.store, here.name, repeated.event)
    after = here.now()
    return answer(documents.recorded(done, after.sentence), after)


@router.post(
    "/workers/csv",
    response_model=Recorded | CheckedModel,
    operation_id="importWorkersCsv",
    openapi_extra=csv_body("worker_id,name,active\n0113,Ann,yes\n0207,Bo,no\n"),
    responses=WRITING | answers(415) | VERSIONED,
)
def import_workers_csv(
    here: Annotated[Here, changing_once(MANAGER)],
    data: CsvBody,
    maps: Maps = None,
    decimal: DecimalMark = None,
    check_only: CheckOnly = False,
) -> Response:
    """Import a CSV file of workers, all or none; or, with check_only, report what that would do.

    Columns: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview, pinned; common other
    headers are recognised.
    """
    file = ImportFile(WORKERS.kind, data, ImportOptions(mapping_of(maps), decimal, check_only=check_only))
    document = take_in(here.writer, here.name, file, here.caller.name, here.expected)
    return answer(document, here.now())


@router.post("/notes", response_model=models.WorkerView, operation_id="addNote", responses=WRITING | VERSIONED)
def add_note(here: Annotated[Here, changing_once(MANAGER)], note: models.NewNote) -> Response:
    """Write a note on a worker, which may end on a day; advice does not depend on it."""
    here.snapshot.number_of(note.worker_id)
    term = Term(note.until, note.days)
    with suppress(RequestRepeated):
        remarks.add_note(
            here.writer,
            here.name,
            note.worker_id,
            here.caller.name,
            note.text,
            term=term if term.is_named else FOR_GOOD,
            expected=here.expected,
        )
    return _worker(Here(here.caller, here.store, here.now()), note.worker_id)


@router.get(
    "/workers/{worker_id:path}",
    response_model=models.WorkerView,
    operation_id="getWorker",
    responses=READING | VERSIONED,
)
def get_worker(here: Annotated[Here, at(VIEWER)], worker_id: WorkerPath) -> Response:
    """Return a worker with everything on record about them."""
    return _worker(here, worker_id)


def _worker(here: Here, worker_id: str) -> Response:
    now, number = here.snapshot, here.snapshot.number_of(worker_id)
    member = next(member for member in now.members if member.number == number)
    return answer(documents.worker_in_full(now.site, now.people, member), now)


@router.patch(
    "/workers/{worker_id:path}",
    response_model=models.WorkerView,
    operation_id="changeWorker",
    responses=WRITING | VERSIONED,
)
def change_worker(
    here: Annotated[Here, changing(MANAGER)], worker_id: WorkerPath, changes: models.WorkerChanges
) -> Response:
    """Record that a worker left, returned, is blocked or pinned, or has a fee of their own.

    A pin or block may have a reason, and an end: it is over on the day `until`, or after so many `days`.
    """
    here.snapshot.number_of(worker_id)
    patch = changes.model_dump(exclude_unset=True)
    until, days, reason = (patch.pop(name, None) for name in ("until", "days", "reason"))
    remarks.set_worker(
        here.store,
        here.name,
        worker_id,
        here.caller.name,
        patch,
        reason or "",
        term=None if until is None and days is None else Term(until, days),
        expected=here.expected,
    )
    return _worker(Here(here.caller, here.store, here.now()), worker_id)


@router.delete("/workers/{worker_id:path}", status_code=204, operation_id="eraseWorker", responses=WRITING)
def erase_worker(here: Annotated[Here, changing(ADMIN)], worker_id: WorkerPath) -> Response:
    """Erase a person from the store for good; the record keeps only a number."""
    here.snapshot.number_of(worker_id)
    commands.erase_worker(here.store, here.name, worker_id, here.caller.name, expected=here.expected)
    return Response(status_code=204)
