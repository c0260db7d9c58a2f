"""The pages, one module per subject."""

from fastapi import APIRouter

from crewlearn.web.pages import jobs, language, new_site, notifications, sign_in, sign_on, sites, users, webhooks
from crewlearn.web.pages.site import (
    answers,
    backtest,
    history,
    impact,
    imports,
    people,
    pilot,
    plan,
    printed,
    record,
    settings,
    team,
    today,
    worker,
)

router = APIRouter(include_in_schema=False)
for part in (
    sign_in,
    sign_on,
    sites,
    new_site,
    today,
    answers,
    history,
    people,
    worker,
    team,
    plan,
    backtest,
    pilot,
    imports,
    record,
    impact,
    printed,
    settings,
    jobs,
    language,
    webhooks,
    notifications,
    users,
):
    router.include_router(part.router)
