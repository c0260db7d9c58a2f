"""Exports as downloads: written to a file first, so that a slow reader holds no connection to the store."""

import asyncio
import logging
import tempfile
from contextlib import closing
from functools import partial
from itertools import takewhile
from threading import Event
from typing import IO

from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from crewlearn.advisor.evidence.exports import EXPORTS, TABLES, check_table
from crewlearn.advisor.files.workbooks import write_workbook
from crewlearn.advisor.ledger.store import Store

LOG = logging.getLogger("crewlearn.web")
LINES, CSV = "application/jsonl", "text/csv"
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
AT_ONCE = 2
"""The most exports written at once: each takes a connection, a thread and most of a processor."""

IN_MEMORY = 1 << 20
"""File size in bytes above which the file is on disk."""

PIECE = 1 << 18
"""Bytes sent at a time."""


class Export(StreamingResponse):
    """An export of a site: queued, written to a file, and then streamed.

    An error while the file is written is reported like any other, because nothing has been sent yet.
    """

    def __init__(self, store: Store, site: str, what: str, prefix: str = "", *, workbook: bool = False) -> None:
        ending, kind = ("jsonl", LINES) if what == "events" else ("csv", CSV)
        media_type = f"{kind}; charset=utf-8"
        if workbook:
            check_table(what)
            ending, media_type = "xlsx", WORKBOOK
        headers = {"Content-Disposition": f'attachment; filename="{prefix}{what}.{ending}"'}
        super().__init__((), headers=headers, media_type=media_type)
        self._gone = Event()
        self._write = partial(_write, store, site, what, self._gone, workbook)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the file, send it and close it, also when the client disconnects."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            size = await self._written(scope["app"].state.exporting, file, receive)
            if size is not None:
                self.headers["Content-Length"] = str(size)
                self.body_iterator = iterate_in_threadpool(iter(partial(file.read, PIECE), b""))
                await super().__call__(scope, receive, send)

    async def _written(self, turns: asyncio.Semaphore, file: IO[bytes], receive: Receive) -> int | None:
        """Write the file when its turn comes; return its size, or None if the client disconnected meanwhile."""
        making, listening = (asyncio.ensure_future(task) for task in (self._in_turn(turns, file), _hung_up(receive)))
        try:
            await asyncio.wait((making, listening), return_when=asyncio.FIRST_COMPLETED)
            if making.done():
                return making.result()
            return None
        finally:
            self._gone.set()
            listening.cancel()
            making.cancel()
            await asyncio.gather(making, listening, return_exceptions=True)

    async def _in_turn(self, turns: asyncio.Semaphore, file: IO[bytes]) -> int:
        async with turns:
            return await run_in_threadpool(self._write, file)


async def _hung_up(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _write(store: Store, site: str, what: str, gone: Event, workbook: bool, file: IO[bytes]) -> int:
    """Write an export to a file, rewind it and return its size; stop early if the client is gone."""
    try:
        if workbook:
            with closing(TABLES[what](store, site)) as rows:
                write_workbook(file, what, takewhile(lambda _: not gone.is_set(), rows))
        else:
            with closing(EXPORTS[what](store, site)) as lines:
                for line in takewhile(lambda _: not gone.is_set(), lines):
                    file.write(line.encode())
        size = file.tell()
        file.seek(0)
    except OSError as error:  # such as a full disk
        LOG.exception("%s cannot be exported", what)
        raise HTTPException(503, "The file cannot be created at present; the server's log says why.") from error
    return size
