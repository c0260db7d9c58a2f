"""The pages by what they are about."""

from fastapi import APIRouter

from crewlearn.web.pages import sites, today

router = APIRouter(include_in_schema=False)
for part in (sites, today):
    router.include_router(part.router)
