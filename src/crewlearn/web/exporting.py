"""Exports as files: made whole first, so that a reader holds no connection of the store, however slowly they read."""

import asyncio
import logging
import tempfile
from contextlib import closing
from functools import partial
from threading import Event
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
        self._gone = Event()
        self._write = partial(_write, store, site, what, self._gone)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Make the file, send it, and let go of it, also when the reader hangs up."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            size = await self._made(scope["app"].state.exporting, file, receive)
            if size is not None:
                self.headers["Content-Length"] = str(size)
                self.body_iterator = iterate_in_threadpool(iter(partial(file.read, PIECE), b""))
                await super().__call__(scope, receive, send)

    async def _made(self, turns: asyncio.Semaphore, file: IO[bytes], receive: Receive) -> int | None:
        """Make the file in its turn; give its size, or None if the reader has hung up: nobody waits for theirs."""
        making, listening = (asyncio.ensure_future(one) for one in (self._in_turn(turns, file), _hung_up(receive)))
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
    """Wait until the reader hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _write(store: Store, site: str, what: str, gone: Event, file: IO[bytes]) -> int:
    """Write an export to a file, which is then at its beginning; give its size. It ends early if the reader is gone."""
    try:
        with closing(EXPORTS[what](store, site)) as lines:
            for line in lines:
                if gone.is_set():
                    break
                file.write(line.encode())
        size = file.tell()
        file.seek(0)
    except OSError as error:  # as on a full disk
        LOG.exception("%s cannot be exported", what)
        raise HTTPException(503, "The file cannot be made at present; the server's log says why.") from error
    return size
