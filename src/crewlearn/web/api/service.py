"""The service itself: health, and the caller's own role."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth.access import VIEWER, Caller, Role, require
from crewlearn.web.errors.problems import ANYBODY, SIGNED_IN

router = APIRouter()


class Health(BaseModel):
    """The health of the server and its store."""

    status: Literal["ok"] = "ok"
    schema_: str = Field(
        serialization_alias="schema", description="The revision of the store.", examples=[schema.SCHEMA]
    )


class Me(BaseModel):
    """The caller."""

    name: str = Field(examples=["ann"])
    role: Role
    sites: list[str] | None = Field(description="The sites they may see; null for all.", examples=[["north"]])


@router.get("/health", operation_id="getHealth", tags=["server"], responses=ANYBODY)
def health(request: Request) -> Health:
    """Check that the server runs and reaches its store; no sign-in is needed."""
    store: Store = request.app.state.store
    store.names()
    return Health(schema_=schema.SCHEMA)


@router.get("/me", operation_id="getMe", tags=["server"], responses=SIGNED_IN)
def me(caller: Annotated[Caller, require(VIEWER)]) -> Me:
    """Return the caller's name, role and sites."""
    return Me.model_validate(
        {"name": caller.name, "role": caller.role, "sites": None if caller.sites is None else sorted(caller.sites)}
    )
