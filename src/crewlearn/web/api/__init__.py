"""The HTTP API, one module per resource."""

from fastapi import APIRouter

from crewlearn.web.api import imports, jobs, ledger, new_sites, output, proposals, service, sites, team, users, workers

router = APIRouter()
for part in (service, sites, new_sites, proposals, workers, team, output, imports, ledger, jobs, users):
    router.include_router(part.router)
