"""Shared by the models of requests and responses: types with limits, and a base model that refuses unknown fields.

The limits are those of the advisor, which checks everything again. Unknown fields are refused, so that a misspelt one
is never silently ignored.
"""

import re
from datetime import date
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
)

from crewlearn.advisor.ledger.settings import units
from crewlearn.advisor.ledger.settings.config import DEFAULT_POLICY
from crewlearn.advisor.ledger.text import LONGEST_ID
from crewlearn.policies.registry import live_policies
from crewlearn.web.api.models.examples import EXAMPLES

LONGEST_POLICY = 500
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def _iso_day(value: object) -> object:
    """Accept only days such as 2026-11-16, not numbers or timestamps."""
    if isinstance(value, date) or (isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)):
        return value
    raise ValueError("must be a day such as 2026-11-16")


Day = Annotated[date, BeforeValidator(_iso_day)]
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Money = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=units.MOST)]
Fee = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=units.MOST_FEE)]
Amount = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-units.MOST, le=units.MOST)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=units.MOST)]
Policy = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_POLICY,
        description=f"A policy, as name or name:parameter=value,…: {', '.join(live_policies())}.",
        examples=[DEFAULT_POLICY, "dr-ucb:gamma=20"],
    ),
]
WorkerId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, description="The firm's own id of a worker.")]


Until = Annotated[Day, Field(description="The day on which it ends: it holds up to the day before.")]
Days = Annotated[int, Field(strict=True, ge=1, le=36_500, description="For so many calendar days, instead of until.")]


class Model(BaseModel):
    """The base of all models: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def public_name(cls) -> str:
        """Return the model's name in the API: the class name without its `Model` suffix."""
        return cls.__name__.removesuffix("Model")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the model under its public name, with its examples."""
        schema, name = handler(core), cls.public_name()
        described = handler.resolve_ref_schema(schema)
        described["title"] = name
        if name in EXAMPLES:
            described["examples"] = EXAMPLES[name]
        return schema


class Page(Model, Generic[T]):
    """A page of a list; `next` is the cursor of the next page, null at the end."""

    items: list[T]
    next: str | None = Field(description="Send this as `cursor` for the next page; null at the end.")


def without_default(schema: dict[str, Any]) -> None:
    """Remove the default from a field's schema."""
    schema.pop("default", None)


def all_optional(model: type[M]) -> type[M]:
    """Make every field of a model optional; those sent are in its `model_fields_set`."""
    for info in model.model_fields.values():
        info.default = None
        info.json_schema_extra = without_default
    model.model_rebuild(force=True)
    return model
