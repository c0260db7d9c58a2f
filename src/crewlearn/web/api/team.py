"""The team as it is: who holds which station, and changes outside advice."""

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import Response

from crewlearn.advisor.advice import team
from crewlearn.advisor.advice.team import TeamResult
from crewlearn.advisor.files.imports import mapping_of
from crewlearn.advisor.files.team_files import read_team
from crewlearn.advisor.ledger.team_record import TeamRow
from crewlearn.advisor.wording.team import team_document
from crewlearn.web.api.common import READING, VERSIONED, WRITING, Here, answer, at, changing
from crewlearn.web.api.files import CsvBody, DateOrder, Maps, csv_body
from crewlearn.web.api.models import team as models
from crewlearn.web.auth.access import MANAGER, VIEWER
from crewlearn.web.errors.problems import answers

router = APIRouter(prefix="/sites/{site}/team", tags=["team"])


@router.get("", response_model=models.TeamView, operation_id="getTeam", responses=READING | VERSIONED)
def get_team(here: Annotated[Here, at(VIEWER)]) -> Response:
    """Return who holds which station now, and everybody who did."""
    return answer(team_document(here.store, here.name), here.snapshot)


@router.post("", response_model=models.TeamChanged, operation_id="setTeam", responses=WRITING | VERSIONED)
def set_team(here: Annotated[Here, changing(MANAGER)], new: models.NewTeam) -> Response:
    """Record who the team is from a day on. Repeating the request changes nothing."""
    done = team.set_team(here.store, here.name, new.members, here.caller.name, on=new.on, expected=here.expected)
    return _changed(here, done)


@router.post("/arrivals", response_model=models.TeamChanged, operation_id="addToTeam", responses=WRITING | VERSIONED)
def add_to_team(here: Annotated[Here, changing(MANAGER)], new: models.Arrival) -> Response:
    """Record that somebody took a station outside advice, on any day so far."""
    done = team.add_to_team(
        here.store,
        here.name,
        new.worker_id,
        here.caller.name,
        station=new.station,
        on=new.on,
        expected=here.expected,
    )
    return _changed(here, done)


@router.post(
    "/departures", response_model=models.TeamChanged, operation_id="removeFromTeam", responses=WRITING | VERSIONED
)
def remove_from_team(here: Annotated[Here, changing(MANAGER)], new: models.Departure) -> Response:
    """Record that somebody left their station outside advice, on any day so far; they stay in the pool."""
    done = team.remove_from_team(
        here.store, here.name, new.worker_id, here.caller.name, on=new.on, expected=here.expected
    )
    return _changed(here, done)


@router.post("/stints", response_model=models.TeamChanged, operation_id="recordStints", responses=WRITING | VERSIONED)
def record_stints(here: Annotated[Here, changing(MANAGER)], new: models.NewStints) -> Response:
    """Record or correct who was at which station from when to when, all or none."""
    rows = [TeamRow(stint.worker_id, stint.from_, stint.until, stint.station) for stint in new.stints]
    return _changed(here, team.record_stints(here.store, here.name, rows, here.caller.name, expected=here.expected))


@router.post(
    "/csv",
    response_model=models.TeamChanged,
    operation_id="importTeamCsv",
    openapi_extra=csv_body("worker_id,station,from,until\n0113,1,2026-03-02,2026-11-13\n0207,1,2026-11-16,\n"),
    responses=WRITING | answers(415) | VERSIONED,
)
def import_team_csv(
    here: Annotated[Here, changing(MANAGER)], data: CsvBody, maps: Maps = None, dates: DateOrder = None
) -> Response:
    """Import a CSV file of stints, all or none: worker_id, from, and optionally until (the last day) and station."""
    rows = read_team(data, mapping_of(maps), dates=dates)
    return _changed(here, team.record_stints(here.store, here.name, rows, here.caller.name, expected=here.expected))


def _changed(here: Here, done: TeamResult) -> Response:
    after = here.now()
    document = {**team_document(here.store, here.name), "recorded": done.recorded, "advice": after.sentence}
    return answer(document, after)
