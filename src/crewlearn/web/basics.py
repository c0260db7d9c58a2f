"""What every client asks first: is the server well, and who am I."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from crewlearn.advisor import schema
from crewlearn.advisor.store import Store
from crewlearn.web.access import VIEWER, Caller, Role, require
from crewlearn.web.problems import ANYBODY, SIGNED_IN

router = APIRouter()


class Health(BaseModel):
    """That the server runs and reaches its store."""

    status: Literal["ok"] = "ok"
    schema_: str = Field(serialization_alias="schema", description="The revision of the store.", examples=["0002"])


class Me(BaseModel):
    """Who the caller is."""

    name: str = Field(examples=["ann"])
    role: Role
    sites: list[str] | None = Field(description="The sites they may see; null: all.", examples=[["north"]])


@router.get("/health", operation_id="getHealth", tags=["server"], responses=ANYBODY)
def health(request: Request) -> Health:
    """Say whether the server runs and reaches its store; no sign-in is needed."""
    store: Store = request.app.state.store
    store.names()
    return Health(schema_=schema.SCHEMA)


@router.get("/me", operation_id="getMe", tags=["server"], responses=SIGNED_IN)
def me(caller: Annotated[Caller, require(VIEWER)]) -> Me:
    """Say who the caller is and what they may do."""
    return Me.model_validate(
        {"name": caller.name, "role": caller.role, "sites": None if caller.sites is None else sorted(caller.sites)}
    )
