"""Events of the ledger."""

from typing import Any

from pydantic import Field

from crewlearn.web.api.models.base import Count, Model, Page


class EventModel(Model):
    """An event of the record; people appear as numbers. The export has payload and rows in full."""

    number: Count
    at: str = Field(description="UTC.", examples=["2026-11-16T06:30:00.000+00:00"])
    actor: str
    rule_version: str
    type: str
    payload: dict[str, Any] = Field(description="The event's data, without the policy's memory.")
    previous: str
    hash: str


class Events(Page[EventModel]):
    """Events by number."""
