"""The pages by what they are about."""

from fastapi import APIRouter

from crewlearn.web.pages import history, imports, jobs, plan, record, settings, sites, today, worker

router = APIRouter(include_in_schema=False)
for part in (sites, today, history, worker, plan, imports, record, settings, jobs):
    router.include_router(part.router)
