"""The HTTP API, one module per resource."""

from fastapi import APIRouter

from crewlearn.web.api import (
    answers,
    imports,
    jobs,
    ledger,
    new_sites,
    output,
    pilot,
    proposals,
    service,
    sites,
    team,
    users,
    webhooks,
    workers,
)

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
