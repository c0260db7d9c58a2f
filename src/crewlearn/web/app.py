"""The application: API, pages and files put together, behind the guard."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool

from crewlearn.advisor.store import Store
from crewlearn.web import api, basics, pages, problems, signin, work
from crewlearn.web.faults import SiteFault
from crewlearn.web.guard import Guard
from crewlearn.web.pages.common import show_fault
from crewlearn.web.runner import Handler, Lanes
from crewlearn.web.settings import Settings

API = "/api/v1"
STATIC = Path(__file__).parent / "static"


def make_app(store: Store, settings: Settings, lanes: Sequence[Mapping[str, Handler]] = work.LANES) -> FastAPI:
    """Make the application over an open store; `lanes` are the kinds of job it can do, by what is done side by side."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.jobs.start()
        try:
            yield
        finally:
            await run_in_threadpool(app.state.jobs.stop)

    app = FastAPI(
        title="crewlearn",
        version="1",
        description="Record output, get advice on whom to keep and whom to replace, and keep the record.",
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
    )
    app.state.store = store
    app.state.settings = settings
    app.state.jobs = Lanes(store, lanes, work.unstoppable)
    problems.install(app)
    app.exception_handler(SiteFault)(show_fault)
    app.include_router(basics.router, prefix=API)
    app.include_router(api.router, prefix=API)
    app.include_router(signin.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=settings)
    return app
