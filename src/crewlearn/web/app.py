"""The application: API, pages and static files behind the middleware."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool

from crewlearn.advisor.ledger.store import Store
from crewlearn.web import api, downloads, i18n, pages, threads
from crewlearn.web.api import metrics, openapi
from crewlearn.web.auth.sign_on.providers import providers_of
from crewlearn.web.errors import handlers
from crewlearn.web.errors.unreadable_sites import SiteUnreadable
from crewlearn.web.jobs import work
from crewlearn.web.jobs.runner import Handler, Lanes
from crewlearn.web.middleware import API, Guard
from crewlearn.web.notices.deliverer import Deliverer
from crewlearn.web.notices.rounds import Rounds
from crewlearn.web.pages.common import show_unreadable
from crewlearn.web.settings import Settings

STATIC = Path(__file__).parent / "static"


def make_app(store: Store, settings: Settings, lanes: Sequence[Mapping[str, Handler]] | None = None) -> FastAPI:
    """Return the application over an open store; each lane runs its kinds of job in parallel with the others.

    By default they are those that this server can run.
    """
    app = FastAPI(
        title="crewlearn",
        version="1",
        description="Record output, get advice on whom to keep and whom to replace, and keep the record.",
        lifespan=_lifespan,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # FastAPI's documentation pages load scripts from elsewhere
        redoc_url=None,
        servers=[{"url": settings.root_path}] if settings.root_path else None,
    )
    app.state.store = threads.bounded(store)
    app.state.settings = settings
    app.state.sign_on = providers_of(app.state.store, settings)
    app.state.exporting = asyncio.Semaphore(downloads.AT_ONCE)
    app.state.jobs = Lanes(store, work.lanes_here() if lanes is None else lanes, work.unstoppable, work.tell_failure)
    app.state.deliverer = Deliverer(store, settings.notify_hosts)
    app.state.rounds = Rounds(store, settings)
    openapi.install(app)
    handlers.install(app)
    app.exception_handler(SiteUnreadable)(show_unreadable)
    app.include_router(api.router, prefix=API)
    app.include_router(metrics.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=settings)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run jobs and deliver notices while the server runs."""
    threading.Thread(target=i18n.load, name="languages", daemon=True).start()
    background = (app.state.jobs, app.state.deliverer, app.state.rounds)
    for part in background:
        part.start()
    try:
        yield
    finally:
        app.state.deliverer.ask_to_stop()
        for part in background:
            await run_in_threadpool(part.stop)
