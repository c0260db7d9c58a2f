"""What requests and answers share: checked kinds of value, and models that refuse fields they do not know.

Limits are those of the advisor, which checks everything again; a field that is not known is refused, so that a misspelt
one is never silently left out.
"""

import re
from datetime import date
from functools import partial
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
)

from crewlearn.advisor import units
from crewlearn.advisor.text import LONGEST_ID
from crewlearn.policies.registry import live_policies, registered
from crewlearn.web.api.examples import EXAMPLES

LONGEST_POLICY = 500
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def _iso_day(value: object) -> object:
    """Let only days such as 2026-11-16 through: a number or a moment is no day."""
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
        examples=["value-of-replacement", "dr-ucb:gamma=20"],
    ),
    AfterValidator(partial(registered, "policy")),
]
WorkerId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, description="The firm's own id of a worker.")]


class Model(BaseModel):
    """Anything sent or received: no field but those named."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the model, with its examples."""
        schema = handler(core)
        if cls.__name__ in EXAMPLES:
            handler.resolve_ref_schema(schema)["examples"] = EXAMPLES[cls.__name__]
        return schema


class Page(Model, Generic[T]):
    """A piece of a list; `next` is the cursor of the piece after it, null at the end."""

    items: list[T]
    next: str | None = Field(description="Give this as `cursor` to go on; null at the end.")


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def all_optional(model: type[M]) -> type[M]:
    """Make every field of a model one that may be left out; what was given is its `model_fields_set`."""
    for info in model.model_fields.values():
        info.default = None
        info.json_schema_extra = _without_default
    model.model_rebuild(force=True)
    return model
