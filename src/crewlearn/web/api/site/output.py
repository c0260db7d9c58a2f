"""Output: list what is on record, and import more."""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OUTPUT, OutputRow, row_fields
from crewlearn.advisor.files.detection.sentences import plan_sentences
from crewlearn.advisor.files.exports import output_document
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of
from crewlearn.advisor.files.intake import profiles
from crewlearn.advisor.files.reading import normalised
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.recording.recorded_imports import result_of
from crewlearn.advisor.files.tables import ErrorCollector
from crewlearn.advisor.ledger.events import REQUEST, RecordedRow
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.advisor.wording import documents
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import snapshots as reads
from crewlearn.web.api import paging
from crewlearn.web.api.common import READING, VERSIONED, WRITING, Here, answer, at, changing, changing_once, page
from crewlearn.web.api.files import (
    AcceptUnusual,
    CheckOnly,
    CsvBody,
    DateOrder,
    DecimalMark,
    Maps,
    TeamFromOutput,
    Where,
    Yes,
    csv_body,
)
from crewlearn.web.api.jobs import QUEUED_ANSWER, queued
from crewlearn.web.api.models.base import Day
from crewlearn.web.api.models.site import output as models
from crewlearn.web.auth.access import MANAGER, VIEWER
from crewlearn.web.errors.problems import answers
from crewlearn.web.jobs.work import OUTPUT_IMPORT, is_big, take_in

router = APIRouter(prefix="/sites/{site}", tags=["output"])
WHAT_ROWS = "rows"

Correct = Annotated[bool, Query(description="Replace recorded values that differ; otherwise they are a conflict.")]
SkipUnknown = Annotated[bool, Query(description="Leave out, and count, rows of workers not known here.")]


@router.get("/output", response_model=models.Outputs, operation_id="listOutput", responses=READING)
def list_output(
    here: Annotated[Here, at(VIEWER)],
    first: Annotated[Day | None, Query(alias="from", description="From this day on.")] = None,
    last: Annotated[Day | None, Query(alias="to", description="Through this day.")] = None,
    worker: Annotated[str | None, Query(max_length=100, description="Only this worker's, by the firm's id.")] = None,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the current output by worker, in the order they joined, and then by day."""
    now = here.snapshot
    workers = range(len(now.site.workers)) if worker is None else [now.number_of(worker)]
    calendar = now.site.config.calendar
    periods = calendar.ranges_between(first or date.min, last or calendar.date_of(now.site.period))
    listing = f"output {first} {last} {worker}"
    place = paging.place_in(cursor, listing, _is_place)
    with here.store.reading() as connection:
        standing = list(standing_rows(connection, now.key, workers, periods, after=place, limit=limit + 1))
    following = paging.written(listing, _place_of(standing[limit - 1])) if len(standing) > limit else None
    items = [output_document(now.site, now.people, event, row) for event, row in standing[:limit]]
    return answer(page(items, following))


def _is_place(place: Any) -> bool:
    if not isinstance(place, list) or len(place) != 2 or not isinstance(place[1], int):
        return False
    return paging.is_number(place[0]) and paging.is_number(abs(place[1]))  # days beside the planned ones are negative


def _place_of(standing: tuple[int, RecordedRow]) -> list[int]:
    return [standing[1].worker, standing[1].period]


@router.post("/output", response_model=models.Recorded, operation_id="importOutput", responses=WRITING | VERSIONED)
def import_output(
    here: Annotated[Here, changing_once(MANAGER)],
    new: models.NewOutputs,
    correct: Correct = False,
    skip_unknown: SkipUnknown = False,
    team_from_output: TeamFromOutput = False,
    accept_unusual: AcceptUnusual = False,
) -> Response:
    """Record output, all rows or none. Rows already on record are skipped; different values are a conflict.

    So is output far from what the record leads one to expect, unless accept_unusual confirms it.
    """
    rows = _rows(new)
    data = reads.as_json(new.model_dump(mode="json", exclude_unset=True))
    try:
        done = _import(here, rows, data, correct, skip_unknown, team_from_output, accept_unusual)
    except RequestRepeated as repeated:
        done = result_of(here.store, here.name, repeated.event)
    after = here.now()
    return answer(documents.recorded(done, after.sentence), after)


def _import(
    here: Here,
    rows: list[OutputRow],
    data: bytes,
    correct: bool,
    skip_unknown: bool,
    team_from_output: bool,
    accept_unusual: bool,
) -> ImportResult:
    return output_imports.import_output(
        here.writer,
        here.name,
        rows,
        data,
        here.caller.name,
        correct=correct,
        skip_unknown=skip_unknown,
        team_from_output=team_from_output,
        accept_unusual=accept_unusual,
        what=WHAT_ROWS,
        expected=here.expected,
        normalised=True,
    )


def _rows(new: models.NewOutputs) -> list[OutputRow]:
    """Return the rows as file rows, with lines counted from 1."""
    errors, rows = ErrorCollector(WHAT_ROWS), []
    for line, sent in enumerate(new.rows, start=1):
        values = row_fields(OUTPUT, sent)
        try:
            units, hours, attendance = normalised(values["units"], values["hours"], values["attendance"])
        except InvalidInput as error:
            errors.add_error(line, error)
            continue
        rows.append(OutputRow(line, **{**values, "units": units, "hours": hours, "attendance": attendance}))
    errors.raise_any()
    return rows


@router.post(
    "/output/csv",
    response_model=models.Recorded | models.CheckedModel,
    operation_id="importOutputCsv",
    openapi_extra=csv_body("date,worker_id,units\n2026-11-16,0113,84\n2026-11-16,0207,79.5\n"),
    responses=WRITING | answers(415) | VERSIONED | QUEUED_ANSWER,
)
def import_output_csv(
    request: Request,
    here: Annotated[Here, changing_once(MANAGER)],
    data: CsvBody,
    maps: Maps = None,
    decimal: DecimalMark = None,
    dates: DateOrder = None,
    correct: Correct = False,
    skip_unknown: SkipUnknown = False,
    check_only: CheckOnly = False,
    yes: Yes = False,
    where: Where = None,
    team_from_output: TeamFromOutput = False,
    accept_unusual: AcceptUnusual = False,
) -> Response:
    """Import a file of output, all rows or none; or, with check_only, report what that would do.

    Columns: date or period, worker_id, units, and optionally shift, hours, attendance; common other headers
    are recognised. A file in another layout is read by a profile of the site, or as it is found with `yes`. Unusual
    output is a conflict unless accept_unusual confirms it. A file of more than 20,000 lines is imported by a job, whose
    result is the response otherwise; If-Match is then checked at the time of the request.
    """
    options = ImportOptions(
        mapping_of(maps),
        decimal,
        dates,
        correct,
        skip_unknown,
        check_only,
        yes=yes,
        where=tuple(where or ()),
        overtime=yes,
        team_from_output=team_from_output,
        accept_unusual=accept_unusual,
    )
    if is_big(data):
        if here.expected is not None:
            with here.store.writing(here.name, here.caller.name, here.expected):
                pass  # only to check If-Match
        keyed = {} if here.request is None else {REQUEST: here.request.to_json()}
        return queued(request, here, OUTPUT_IMPORT, {**vars(options), **keyed}, file=data, again=True)
    file = ImportFile(OUTPUT.kind, data, options)
    document = take_in(here.writer, here.name, file, here.caller.name, here.expected)
    return answer(document, here.now())


@router.get("/profiles", response_model=models.Profiles, operation_id="listProfiles", responses=READING)
def list_profiles(here: Annotated[Here, at(VIEWER)]) -> Response:
    """List how the site's files of other layouts are read, the newest last."""
    kept = here.snapshot.site.profiles
    plans = profiles.plans_of(kept)
    items = [
        {"name": name, "reading": plan_sentences(plans[name]) if name in plans else [], "plan": dict(plan)}
        for name, plan in kept.items()
    ]
    return answer({"items": items}, here.snapshot)


@router.delete("/profiles/{profile}", status_code=204, operation_id="removeProfile", responses=WRITING)
def remove_profile(
    here: Annotated[Here, changing(MANAGER)],
    profile: Annotated[str, Path(max_length=100, description="The profile's name.", examples=["labor report"])],
) -> Response:
    """Remove a profile: such files need to be confirmed again."""
    profiles.remove_profile(here.store, here.name, profile, here.caller.name, expected=here.expected)
    return Response(status_code=204)
