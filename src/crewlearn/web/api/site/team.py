"""The team as it is: who holds which station, and changes outside advice."""

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import Response

from crewlearn.advisor.advice import team
from crewlearn.advisor.advice.team import TeamResult
from crewlearn.advisor.files.imports import mapping_of
from crewlearn.advisor.files.team_files import read_team
from crewlearn.advisor.ledger.events import TeamRecorded
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.advisor.ledger.team.recording import TeamRow
from crewlearn.advisor.wording.team import team_document
from crewlearn.web.api.common import READING, VERSIONED, WRITING, Here, answer, at, changing_once
from crewlearn.web.api.files import CsvBody, DateOrder, Maps, csv_body
from crewlearn.web.api.models.site import team as models
from crewlearn.web.auth.access import MANAGER, VIEWER
from crewlearn.web.errors.problems import answers

router = APIRouter(prefix="/sites/{site}/team", tags=["team"])


@router.get("", response_model=models.TeamView, operation_id="getTeam", responses=READING | VERSIONED)
def get_team(here: Annotated[Here, at(VIEWER)]) -> Response:
    """Return who holds which station now, and everybody who did."""
    return answer(team_document(here.store, here.name), here.snapshot)


@router.post("", response_model=models.TeamChanged, operation_id="setTeam", responses=WRITING | VERSIONED)
def set_team(here: Annotated[Here, changing_once(MANAGER)], new: models.NewTeam) -> Response:
    """Record who the team is from a day on. Repeating the request changes nothing."""
    store, actor = here.writer, here.caller.name
    return _changed(
        here, lambda: team.set_team(store, here.name, new.members, actor, on=new.on, expected=here.expected)
    )


@router.post("/arrivals", response_model=models.TeamChanged, operation_id="addToTeam", responses=WRITING | VERSIONED)
def add_to_team(here: Annotated[Here, changing_once(MANAGER)], new: models.Arrival) -> Response:
    """Record that somebody took a station outside advice, on any day so far."""
    store, actor = here.writer, here.caller.name
    return _changed(
        here,
        lambda: team.add_to_team(
            store, here.name, new.worker_id, actor, station=new.station, on=new.on, expected=here.expected
        ),
    )


@router.post(
    "/departures", response_model=models.TeamChanged, operation_id="removeFromTeam", responses=WRITING | VERSIONED
)
def remove_from_team(here: Annotated[Here, changing_once(MANAGER)], new: models.Departure) -> Response:
    """Record that somebody left their station outside advice, on any day so far; they stay in the pool."""
    store, actor = here.writer, here.caller.name
    return _changed(
        here, lambda: team.remove_from_team(store, here.name, new.worker_id, actor, on=new.on, expected=here.expected)
    )


@router.post("/stints", response_model=models.TeamChanged, operation_id="recordStints", responses=WRITING | VERSIONED)
def record_stints(here: Annotated[Here, changing_once(MANAGER)], new: models.NewStints) -> Response:
    """Record or correct who was at which station from when to when, all or none."""
    rows = [TeamRow(stint.worker_id, stint.from_, stint.until, stint.station) for stint in new.stints]
    return _record(here, rows)


@router.post(
    "/csv",
    response_model=models.TeamChanged,
    operation_id="importTeamCsv",
    openapi_extra=csv_body("worker_id,station,from,until\n0113,1,2026-03-02,2026-11-13\n0207,1,2026-11-16,\n"),
    responses=WRITING | answers(415) | VERSIONED,
)
def import_team_csv(
    here: Annotated[Here, changing_once(MANAGER)], data: CsvBody, maps: Maps = None, dates: DateOrder = None
) -> Response:
    """Import a CSV file of stints, all or none: worker_id, from, and optionally until (the last day) and station."""
    rows = read_team(data, mapping_of(maps), dates=dates)
    return _record(here, rows)


def _record(here: Here, rows: Sequence[TeamRow]) -> Response:
    store, actor = here.writer, here.caller.name
    return _changed(here, lambda: team.record_stints(store, here.name, rows, actor, expected=here.expected))


def _changed(here: Here, change: Callable[[], TeamResult]) -> Response:
    """Change the team once; respond with the team and the advice as they are then."""
    try:
        recorded = change().recorded
    except RequestRepeated as repeated:
        recorded = _recorded_in(here, repeated.event)
    after = here.now()
    document = {**team_document(here.store, here.name), "recorded": recorded, "advice": after.sentence}
    return answer(document, after)


def _recorded_in(here: Here, number: int) -> int:
    """Return how many spans an earlier request recorded, by the number of its event."""
    with here.store.reading() as connection:
        event = next(read_events(connection, here.snapshot.key, number - 1, limit=1))
    return len(event.fact.spans) if isinstance(event.fact, TeamRecorded) else 0
