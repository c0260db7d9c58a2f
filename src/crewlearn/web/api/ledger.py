"""The record: its events, and everything as files."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from crewlearn.advisor import documents, export
from crewlearn.advisor.record import read_events
from crewlearn.web.access import VIEWER
from crewlearn.web.api import paging
from crewlearn.web.api.common import READING, Here, answer, at, page
from crewlearn.web.api.models import ledger as models
from crewlearn.web.numbers import MOST_NUMBER

router = APIRouter(prefix="/sites/{site}/ledger", tags=["ledger"])

LINES, CSV = "application/jsonl", "text/csv"
PIECE = 1 << 16


@router.get("/events", response_model=models.Events, operation_id="listEvents", responses=READING)
def list_events(
    here: Annotated[Here, at(VIEWER)],
    after: Annotated[
        int | None, Query(ge=0, le=MOST_NUMBER, description="Only those after this number, as the last one known.")
    ] = None,
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the events of the record, by number. Who has them all gets what is new `after` the last of them."""
    with here.store.reading() as connection:
        read = partial(read_events, connection, here.snapshot.key, after=after)
        found, following = paging.numbered(cursor, f"events {after}", newest, limit, read, lambda one: one.number)
    return answer(page([documents.event(one) for one in found], following))


@router.get(
    "/export",
    response_class=StreamingResponse,
    operation_id="exportLedger",
    responses=READING
    | {
        200: {
            "description": "The file: events as JSON Lines, the others as CSV.",
            "content": {LINES: {"schema": {"type": "string"}}, CSV: {"schema": {"type": "string"}}},
        }
    },
)
def export_ledger(
    here: Annotated[Here, at(VIEWER)],
    what: Annotated[
        Literal["events", "decisions", "output", "workers"],
        Query(description="events for a program, decisions for an auditor, or what was put in."),
    ] = "events",
) -> StreamingResponse:
    """Give the record as a file, in pieces, as `crewlearn ledger export` writes it."""
    name = f"{what}.{'jsonl' if what == 'events' else 'csv'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    kind = f"{LINES if what == 'events' else CSV}; charset=utf-8"
    return StreamingResponse(_in_pieces(export.EXPORTS[what](here.store, here.name)), headers=headers, media_type=kind)


def _in_pieces(lines: Iterator[str]) -> Iterator[bytes]:
    """Gather lines into pieces that are worth sending."""
    gathered: list[str] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= PIECE:
            yield "".join(gathered).encode()
            gathered, size = [], 0
    yield "".join(gathered).encode()
