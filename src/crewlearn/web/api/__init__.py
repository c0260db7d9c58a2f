"""The HTTP API, one module per resource."""

from fastapi import APIRouter

from crewlearn.web.api import jobs, service, users, webhooks
from crewlearn.web.api.site import answers, imports, ledger, new_sites, output, pilot, proposals, sites, team, workers

router = APIRouter()
for part in (
    service,
    sites,
    new_sites,
    proposals,
    answers,
    workers,
    team,
    output,
    imports,
    ledger,
    jobs,
    pilot,
    webhooks,
    users,
):
    router.include_router(part.router)
