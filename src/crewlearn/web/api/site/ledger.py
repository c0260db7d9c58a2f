"""The ledger: its events, and exports."""

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from crewlearn.advisor.ledger.queries import read_entries
from crewlearn.advisor.wording import documents
from crewlearn.web.api import paging
from crewlearn.web.api.common import READING, Here, answer, at, page
from crewlearn.web.api.models.site import ledger as models
from crewlearn.web.auth.access import VIEWER
from crewlearn.web.downloads import CSV, LINES, WORKBOOK, Export
from crewlearn.web.settings import MOST_NUMBER

router = APIRouter(prefix="/sites/{site}/ledger", tags=["ledger"])


@router.get("/events", response_model=models.Events, operation_id="listEvents", responses=READING)
def list_events(
    here: Annotated[Here, at(VIEWER)],
    after: Annotated[int | None, Query(ge=0, le=MOST_NUMBER, description="Only events after this number.")] = None,
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the events of the record by number; `after` returns only those after a known event."""
    with here.store.reading() as connection:
        read = partial(read_entries, connection, here.snapshot.key, after=after)
        events, following = paging.numbered(cursor, f"events {after}", newest, limit, read, lambda event: event.number)
    return answer(page([documents.event(event) for event in events], following))


@router.get(
    "/export",
    response_class=StreamingResponse,
    operation_id="exportLedger",
    responses=READING
    | {
        200: {
            "description": "The file: events as JSON Lines, the others as CSV or as a workbook.",
            "content": {
                LINES: {"schema": {"type": "string"}},
                CSV: {"schema": {"type": "string"}},
                WORKBOOK: {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
def export_ledger(
    here: Annotated[Here, at(VIEWER)],
    what: Annotated[
        Literal["events", "decisions", "output", "workers"],
        Query(description="events for programs, decisions for auditors, output and workers as imported."),
    ] = "events",
    format: Annotated[
        Literal["csv", "xlsx"],
        Query(description="xlsx for a workbook, which any Excel opens rightly; not of events."),
    ] = "csv",
) -> Export:
    """Return an export of the record, as `crewlearn ledger export` writes it."""
    return Export(here.store, here.name, what, workbook=format == "xlsx")
