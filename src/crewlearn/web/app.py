"""The application: API, pages and files put together, behind the guard."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool

from crewlearn.advisor.store import Store
from crewlearn.web import api, basics, pages, problems, signin, work
from crewlearn.web.guard import Guard
from crewlearn.web.jobs import Handler, Runner
from crewlearn.web.settings import Settings

API = "/api/v1"
STATIC = Path(__file__).parent / "static"


def make_app(store: Store, settings: Settings, handlers: Mapping[str, Handler] | None = None) -> FastAPI:
    """Make the application over an open store; `handlers` are the kinds of job its runner can do."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.runner.start()
        try:
            yield
        finally:
            await run_in_threadpool(app.state.runner.stop)

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
    app.state.runner = Runner(store, work.HANDLERS if handlers is None else handlers)
    problems.install(app)
    app.include_router(basics.router, prefix=API)
    app.include_router(api.router, prefix=API)
    app.include_router(signin.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=settings)
    return app
