"""The pages, one module per subject."""

from fastapi import APIRouter

from crewlearn.web.pages import (
    backtest,
    history,
    imports,
    jobs,
    new_site,
    people,
    plan,
    record,
    settings,
    sign_in,
    sites,
    team,
    today,
    worker,
)

router = APIRouter(include_in_schema=False)
for part in (
    sign_in,
    sites,
    new_site,
    today,
    history,
    people,
    worker,
    team,
    plan,
    backtest,
    imports,
    record,
    settings,
    jobs,
):
    router.include_router(part.router)
