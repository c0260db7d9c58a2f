"""The HTTP API, one module per resource."""

from fastapi import APIRouter

from crewlearn.web.api import imports, jobs, ledger, output, proposals, service, sites, team, users, webhooks, workers

router = APIRouter()
for part in (service, sites, proposals, workers, team, output, imports, ledger, jobs, webhooks, users):
    router.include_router(part.router)
