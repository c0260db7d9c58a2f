"""The pages, one module per subject."""

from fastapi import APIRouter

from crewlearn.web.pages import (
    backtest,
    history,
    imports,
    jobs,
    notifications,
    plan,
    record,
    settings,
    sign_in,
    sites,
    team,
    today,
    users,
    webhooks,
    worker,
)

router = APIRouter(include_in_schema=False)
for part in (
    sign_in,
    sites,
    today,
    history,
    worker,
    team,
    plan,
    backtest,
    imports,
    record,
    settings,
    jobs,
    webhooks,
    notifications,
    users,
):
    router.include_router(part.router)
