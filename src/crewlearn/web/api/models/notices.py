"""Webhooks with their deliveries, and users' digests."""

from typing import Annotated, Any, Literal

from pydantic import Field

from crewlearn.advisor.ledger.notices.addresses import LONGEST_URL
from crewlearn.advisor.ledger.notices.kinds import ABOUT, KINDS, Kind
from crewlearn.advisor.ledger.notices.webhooks import MOST_HOURS, OVERLAP_HOURS
from crewlearn.web.api.models.base import Count, Model, Page
from crewlearn.web.notices.digests import DEFAULT_TIME, LONGEST_EMAIL

_TOLD = "; ".join(f"`{kind}`: {about}" for kind, about in ABOUT.items())


class WebhookModel(Model):
    """A webhook without its secret."""

    id: Count
    url: str
    kinds: list[Kind] = Field(description=f"What it is told of. {_TOLD}.")
    created: str
    created_by: str
    waiting: Count = Field(description="Deliveries in its outbox.")
    failed: Count = Field(description="Deliveries that nobody took for three days.")
    failures: Count = Field(description="Failed attempts in a row.")
    next_try: str | None = Field(description="When the next attempt is due, after a failed one.")
    both_until: str | None = Field(description="When the old secret ceases to sign, after a rotation.")
    fault: str = Field(description="What went wrong at the last attempt; empty if nothing did.")


class Webhooks(Page[WebhookModel]):
    """The webhooks of a site, the oldest first."""


class NewWebhook(Model):
    """A webhook to add."""

    url: str = Field(
        min_length=1, max_length=LONGEST_URL, description="An https address, or http on the server's own machine."
    )
    kinds: list[Kind] = Field(
        default_factory=lambda: list(KINDS),
        min_length=1,
        max_length=len(KINDS),
        description=f"All, by default. {_TOLD}.",
    )


class ShownWebhook(WebhookModel):
    """A new webhook with its secret, which is shown only once."""

    secret: str = Field(description="Keep it: it is never shown again. It signs every delivery.")


class SecretRotation(Model):
    """How long the old secret signs beside the new one."""

    hours: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=MOST_HOURS)] = OVERLAP_HOURS


class ShownSecret(Model):
    """A new secret, which is shown only once."""

    secret: str = Field(description="Keep it: it is never shown again.")


class DeliveryModel(Model):
    """A delivery: what it says, and what became of it."""

    id: str = Field(description="Sent as Crewlearn-Delivery; the same at every attempt.")
    number: Count = Field(description="Grows from delivery to delivery of a webhook.")
    kind: str
    facts: dict[str, Any] = Field(description="Workers are named by their number in the record here.")
    status: Literal["waiting", "delivered", "failed"]
    created: str
    attempts: Count
    outcome: str = Field(description="What the receiver answered last, or what went wrong.")
    finished: str | None


class Deliveries(Page[DeliveryModel]):
    """Deliveries of a webhook, the newest first."""


class Digest(Model):
    """Where your digest goes, at what time, and about which sites."""

    email: str = Field(default="", max_length=LONGEST_EMAIL, description="Empty for none.")
    chat_url: str = Field(
        default="",
        max_length=LONGEST_URL,
        description="An incoming webhook of Slack, Teams or the like; empty for none.",
    )
    time: str = Field(
        default=DEFAULT_TIME, pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$", description="On the server's clock."
    )
    sites: list[str] = Field(default_factory=list, max_length=1000)


class DigestChoiceModel(Digest):
    """A digest as chosen, with its state."""

    state: Literal["none", "unconfirmed", "asked", "confirmed"] = Field(
        description="Of the e-mail address: a digest goes there once the link sent to it was opened."
    )
    fault: str = Field(description="Why the last digest was not sent; empty if nothing went wrong.")
