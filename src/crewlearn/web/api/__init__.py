"""The HTTP API, one module per resource."""

from fastapi import APIRouter

from crewlearn.web.api import jobs, ledger, output, proposals, service, sites, team, users, workers

router = APIRouter()
for part in (service, sites, proposals, workers, team, output, ledger, jobs, users):
    router.include_router(part.router)
