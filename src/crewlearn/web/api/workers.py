"""Workers: list them, take them in, record what changed of one, erase one."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from crewlearn.advisor import commands, documents, imports
from crewlearn.advisor.csv_in import WorkerRow
from crewlearn.advisor.explain import Member
from crewlearn.advisor.identities import People
from crewlearn.web import reads
from crewlearn.web.access import ADMIN, MANAGER, VIEWER
from crewlearn.web.api import paging
from crewlearn.web.api.common import (
    READING,
    VERSIONED,
    WRITING,
    Here,
    answer,
    at,
    changing,
    page,
)
from crewlearn.web.api.files import CheckOnly, CsvBody, DecimalMark, Maps, csv_body, mapping_of
from crewlearn.web.api.models import workers as models
from crewlearn.web.api.models.output import Checked, Recorded
from crewlearn.web.intake import WORKERS, File, Options
from crewlearn.web.problems import answers
from crewlearn.web.reads import as_json
from crewlearn.web.work import take_in

router = APIRouter(prefix="/sites/{site}", tags=["workers"])

Sort = Literal["station", "estimate", "days", "worker_id", "name", "joined"]
WorkerPath = Annotated[
    str,
    Path(
        description="The firm's own id of the worker, percent-encoded; it may have slashes. "
        "Clients take the ids `.` and `..` for steps in the path, so that they cannot be asked for like this.",
        examples=["0113"],
    ),
]
_ORDERS: dict[str, Callable[[People, Member], Any]] = {
    "estimate": lambda people, one: one.estimate.mean,
    "days": lambda people, one: one.estimate.days,
    "worker_id": lambda people, one: people.ids.get(one.number) or "",
    "name": lambda people, one: people.names.get(one.number) or "",
    "joined": lambda people, one: one.number,
}


@router.get("/workers", response_model=models.Workers, operation_id="listWorkers", responses=READING)
def list_workers(
    here: Annotated[Here, at(VIEWER)],
    sort: Annotated[
        Sort, Query(description="station: the team by station, then the others, the best first.")
    ] = "station",
    descending: Annotated[bool, Query(description="The other way round.")] = False,
    status: Annotated[models.Status | None, Query(description="Only those.")] = None,
    team: Annotated[bool | None, Query(description="Only those in the team, or only the others.")] = None,
    search: Annotated[str | None, Query(max_length=200, description="Part of a name or id, in any case.")] = None,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the workers. Whatever changes between two pieces of a list, everybody who stays in it comes exactly once."""
    with reads.making(here.store, here.snapshot, "members") as now:
        found = list(now.members)
    if sort in _ORDERS:
        found.sort(key=lambda one: _ORDERS[sort](now.people, one))
    if descending:
        found.reverse()
    sought = (search or "").casefold()
    by_number = {
        one.number: one
        for one in found
        if (status is None or now.site.workers[one.number].status == status)
        and (team is None or (one.station is not None) == team)
        and sought in _called(now.people, one.number)
    }
    listing = f"workers {sort} {descending} {status} {team} {sought}"
    piece, following = paging.unseen(cursor, listing, limit, list(by_number))
    return answer(page([documents.worker(now.site, now.people, by_number[one]) for one in piece], following))


def _called(people: People, number: int) -> str:
    return f"{people.ids.get(number) or ''}\n{people.names.get(number) or ''}".casefold()


@router.post("/workers", response_model=Recorded, operation_id="importWorkers", responses=WRITING | VERSIONED)
def import_workers(here: Annotated[Here, changing(MANAGER)], new: models.NewWorkers) -> Response:
    """Take in workers, all or none: newcomers join, what changed of others is recorded, the same again is nothing."""
    rows = [WorkerRow(**one.model_dump()) for one in new.workers]
    data = as_json(new.model_dump(mode="json", exclude_unset=True))
    done = imports.import_workers(here.store, here.name, rows, data, here.caller.name, expected=here.expected)
    after = here.now()
    return answer(documents.recorded(done, after.sentence), after)


@router.post(
    "/workers/csv",
    response_model=Recorded | Checked,
    operation_id="importWorkersCsv",
    openapi_extra=csv_body("worker_id,name,active\n0113,Ann,yes\n0207,Bo,no\n"),
    responses=WRITING | answers(415) | VERSIONED,
)
def import_workers_csv(
    here: Annotated[Here, changing(MANAGER)],
    data: CsvBody,
    maps: Maps = None,
    decimal: DecimalMark = None,
    check_only: CheckOnly = False,
) -> Response:
    """Take in a CSV file of workers, all or none; or, with check_only, say what that would do.

    Columns: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview, pinned; usual other
    headers are understood.
    """
    file = File(WORKERS, data, Options(mapping_of(maps), decimal, check_only=check_only))
    document = take_in(here.store, here.name, here.caller.name, file, here.expected)
    return answer(document, here.now())


@router.get(
    "/workers/{worker_id:path}",
    response_model=models.WorkerView,
    operation_id="getWorker",
    responses=READING | VERSIONED,
)
def get_worker(here: Annotated[Here, at(VIEWER)], worker_id: WorkerPath) -> Response:
    """Give a worker with everything that was said of them."""
    return _worker(here, worker_id)


def _worker(here: Here, worker_id: str) -> Response:
    now, number = here.snapshot, here.snapshot.number_of(worker_id)
    member = next(one for one in now.members if one.number == number)
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
    """Record that a worker left, returned, is blocked or pinned, or has a fee of their own."""
    here.snapshot.number_of(worker_id)
    given = changes.model_dump(exclude_unset=True)
    commands.change_worker(here.store, here.name, worker_id, here.caller.name, expected=here.expected, **given)
    return _worker(Here(here.caller, here.store, here.now()), worker_id)


@router.delete("/workers/{worker_id:path}", status_code=204, operation_id="eraseWorker", responses=WRITING)
def erase_worker(here: Annotated[Here, changing(ADMIN)], worker_id: WorkerPath) -> Response:
    """Remove a person from the store for good; the record keeps a bare number and nothing else of them."""
    here.snapshot.number_of(worker_id)
    commands.erase_worker(here.store, here.name, worker_id, here.caller.name, expected=here.expected)
    return Response(status_code=204)
