"""Exports as files: made whole first, so that a reader holds no connection of the store, however slowly they read."""

import asyncio
import logging
import tempfile
from contextlib import closing
from functools import partial
from typing import IO

from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from crewlearn.advisor.export import EXPORTS
from crewlearn.advisor.store import Store

LOG = logging.getLogger("crewlearn.web")
LINES, CSV = "application/jsonl", "text/csv"
AT_ONCE = 2
"""How many are made at once: each takes a connection and a thread, and most of a processor."""

IN_MEMORY = 1 << 20
"""Bytes beyond which a file is on disk."""

PIECE = 1 << 18


class Export(StreamingResponse):
    """An export of a site on its way: waits for its turn, is made, and then sent in pieces.

    What goes wrong while it is made is answered like any other error, as nothing was sent yet.
    """

    def __init__(self, store: Store, site: str, what: str, prefix: str = "") -> None:
        ending, kind = ("jsonl", LINES) if what == "events" else ("csv", CSV)
        headers = {"Content-Disposition": f'attachment; filename="{prefix}{what}.{ending}"'}
        super().__init__((), headers=headers, media_type=f"{kind}; charset=utf-8")
        self._write = partial(_write, store, site, what)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Make the file, send it, and let go of it, also when the reader hangs up."""
        turns: asyncio.Semaphore = scope["app"].state.exporting
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            async with turns:
                self.headers["Content-Length"] = str(await run_in_threadpool(self._write, file))
            self.body_iterator = iterate_in_threadpool(iter(partial(file.read, PIECE), b""))
            await super().__call__(scope, receive, send)


def _write(store: Store, site: str, what: str, file: IO[bytes]) -> int:
    """Write an export to a file, which is then at its beginning; give its size."""
    try:
        with closing(EXPORTS[what](store, site)) as lines:
            for line in lines:
                file.write(line.encode())
        size = file.tell()
        file.seek(0)
    except OSError as error:  # as on a full disk
        LOG.exception("%s cannot be exported", what)
        raise HTTPException(503, "The file cannot be made at present; the server's log says why.") from error
    return size
