"""The service itself: health, and the caller's own role and digest."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api.common import LISTING, answer, plain
from crewlearn.web.api.models.notices import Digest, DigestChoiceModel
from crewlearn.web.auth.access import VIEWER, Caller, Role, require
from crewlearn.web.errors.problems import ANYBODY, SIGNED_IN, answers
from crewlearn.web.notices import digests
from crewlearn.web.notices.digests import DigestChoice

router = APIRouter()


_CHOOSING = LISTING | answers(403, 409)


class Health(BaseModel):
    """The health of the server and its store."""

    status: Literal["ok"] = "ok"
    schema_: str = Field(
        serialization_alias="schema", description="The revision of the store.", examples=[schema.SCHEMA]
    )


class Alive(BaseModel):
    """The server process answers."""

    status: Literal["ok"] = "ok"


class Me(BaseModel):
    """The caller."""

    name: str = Field(examples=["ann"])
    role: Role
    sites: list[str] | None = Field(description="The sites they may see; null for all.", examples=[["north"]])


@router.get("/health", operation_id="getHealth", tags=["server"], responses=ANYBODY)
def health(request: Request) -> Health:
    """Check that the server is ready: it runs and reaches its store. No sign-in is needed."""
    store: Store = request.app.state.store
    store.names()
    return Health(schema_=schema.SCHEMA)


@router.get("/health/live", operation_id="getLiveness", tags=["server"], responses=ANYBODY)
async def live() -> Alive:
    """Check that the server process answers, whatever the state of its store; no sign-in is needed."""
    return Alive()


@router.get("/me", operation_id="getMe", tags=["server"], responses=SIGNED_IN)
def me(caller: Annotated[Caller, require(VIEWER)]) -> Me:
    """Return the caller's name, role and sites."""
    return Me.model_validate(
        {"name": caller.name, "role": caller.role, "sites": None if caller.sites is None else sorted(caller.sites)}
    )


@router.get(
    "/me/digest",
    response_model=DigestChoiceModel,
    operation_id="getDigest",
    tags=["server"],
    responses=SIGNED_IN,
)
def digest(request: Request, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Return the caller's choice of a daily digest; by default there is none."""
    return answer(plain(asdict(digests.choice_of(request.app.state.store, caller.name))))


@router.put(
    "/me/digest",
    response_model=DigestChoiceModel,
    operation_id="chooseDigest",
    tags=["server"],
    responses=_CHOOSING,
)
def choose_digest(request: Request, caller: Annotated[Caller, require(VIEWER)], wanted: Digest) -> Response:
    """Choose where the caller's digest goes. A new e-mail address must be confirmed by the link that is sent to it."""
    chosen = DigestChoice(wanted.email, wanted.chat_url, wanted.time, tuple(sorted(set(wanted.sites))))
    return answer(plain(asdict(digests.choose(request.app.state.store, caller, chosen))))
