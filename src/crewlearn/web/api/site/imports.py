"""The imports of output on record, and taking one back."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from crewlearn.advisor.files.recording import recorded_imports as imports
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.web import snapshots
from crewlearn.web.api import paging
from crewlearn.web.api.common import READING, VERSIONED, WRITING, Here, answer, at, changing_once, page
from crewlearn.web.api.models.site import imports as models
from crewlearn.web.auth.access import MANAGER, VIEWER
from crewlearn.web.settings import MOST_NUMBER

router = APIRouter(prefix="/sites/{site}/output/imports", tags=["output"])

ImportNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The import's number.", examples=[12])]


@router.get("", response_model=models.Imports, operation_id="listImports", responses=READING)
def list_imports(
    here: Annotated[Here, at(VIEWER)],
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the imports of output by number, which is that of the event that recorded each."""
    with here.store.reading() as connection:
        now = snapshots.snapshot_in(here.store, connection, here.name)
        read = partial(imports.recorded_imports, connection, now.key)
        listed, following = paging.numbered(cursor, "imports", newest, limit, read, lambda imported: imported.number)
    return answer(page([imported.to_json(now.site) for imported in listed], following))


@router.post(
    "/{number}/undo", response_model=models.ImportTakenBack, operation_id="undoImport", responses=WRITING | VERSIONED
)
def undo_import(here: Annotated[Here, changing_once(MANAGER)], number: ImportNumber) -> Response:
    """Take an import back; both stay on record. Repeating one's own request changes nothing.

    It is a conflict if a proposal was answered since, a row of it was corrected, or the team was taken from the output:
    import the right rows with `correct` instead.
    """
    try:
        done = imports.undo_import(here.writer, here.name, number, here.caller.name, expected=here.expected)
    except RequestRepeated:
        done = imports.undo_import(here.store, here.name, number, here.caller.name)
    after = here.now()
    return answer({"import": done.to_json(after.site), "advice": after.sentence}, after)
