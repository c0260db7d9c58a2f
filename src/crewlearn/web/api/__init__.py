"""The API by nouns."""

from fastapi import APIRouter

from crewlearn.web.api import jobs, ledger, output, proposals, sites, workers

router = APIRouter()
for part in (sites, proposals, workers, output, ledger, jobs):
    router.include_router(part.router)
