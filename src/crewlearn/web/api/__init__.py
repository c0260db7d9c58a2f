"""The API by nouns."""

from fastapi import APIRouter

from crewlearn.web.api import jobs, ledger, output, proposals, sites, users, workers

router = APIRouter()
for part in (sites, proposals, workers, output, ledger, jobs, users):
    router.include_router(part.router)
