"""Examples of users, webhooks and digests, by model."""

from typing import Any

from crewlearn.web.api.models.examples.pages import page_of

_TOKEN: dict[str, Any] = {
    "id": 2,
    "label": "warehouse system",
    "created": "2027-01-11T06:30:00.000+00:00",
    "expires": "2027-04-11T06:30:00.000+00:00",
    "revoked": None,
}
_USER: dict[str, Any] = {
    "name": "mia",
    "role": "manager",
    "sites": ["north"],
    "disabled": False,
    "created": "2026-11-16T06:00:00.000+00:00",
    "tokens": [_TOKEN],
}
_WEBHOOK: dict[str, Any] = {
    "id": 1,
    "url": "https://example.org/crewlearn",
    "kinds": ["advice.new", "import.failed"],
    "created": "2026-11-16T17:30:00.000+00:00",
    "created_by": "mia",
    "waiting": 2,
    "failed": 0,
    "failures": 3,
    "next_try": "2027-01-11T06:31:08.000+00:00",
    "both_until": None,
    "fault": "answered 503",
}
_DELIVERY: dict[str, Any] = {
    "id": "0b5f6e1c9a0f4a4e8d2b7c3e5f6a7b8c",
    "number": 118,
    "kind": "import.failed",
    "facts": {"source": "job", "job": 31, "reason": "errors", "errors": 12},
    "status": "waiting",
    "created": "2027-01-11T06:31:00.000+00:00",
    "attempts": 1,
    "outcome": "answered 503",
    "finished": None,
}
_DIGEST: dict[str, Any] = {"email": "ben@example.org", "chat_url": "", "time": "06:30", "sites": ["north"]}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "User": [_USER],
    "Users": page_of(_USER),
    "NewUser": [{"name": "mia", "role": "manager", "sites": ["north"]}],
    "NewToken": [{"days": 90, "label": "warehouse system"}],
    "ShownToken": [{**_TOKEN, "token": "crew_…"}],
    "UserChanges": [{"role": "manager"}, {"sites": None}, {"disabled": True}],
    "ShownLink": [{"path": "/sign-in/once?code=…"}],
    "Webhook": [_WEBHOOK],
    "Webhooks": page_of(_WEBHOOK),
    "NewWebhook": [{"url": "https://example.org/crewlearn", "kinds": ["advice.new", "import.failed"]}],
    "ShownWebhook": [{**_WEBHOOK, "secret": "crewhook_…"}],
    "SecretRotation": [{}, {"hours": 0.0}],
    "ShownSecret": [{"secret": "crewhook_…"}],
    "Delivery": [_DELIVERY],
    "Deliveries": page_of(_DELIVERY),
    "Digest": [_DIGEST, {}],
    "DigestChoice": [{**_DIGEST, "state": "confirmed", "fault": ""}],
}
