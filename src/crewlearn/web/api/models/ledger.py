"""The record."""

from typing import Any

from pydantic import (
    Field,
)

from crewlearn.web.api.models.base import Count, Model, Page


class Event(Model):
    """An event of the record; numbers stand for people. The export has its payload and rows in full."""

    number: Count
    at: str = Field(description="UTC.", examples=["2026-11-16T06:30:00.000+00:00"])
    actor: str
    rule_version: str
    type: str
    payload: dict[str, Any] = Field(description="What was said; without the policy's memory.")
    previous: str
    hash: str


class Events(Page[Event]):
    """Events by number."""
