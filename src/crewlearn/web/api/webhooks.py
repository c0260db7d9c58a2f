"""Webhooks of a site; requires an admin there."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api import paging
from crewlearn.web.api.common import ASKING, READING, SiteName, answer, page, plain
from crewlearn.web.api.models import notices as models
from crewlearn.web.auth.access import ADMIN, Caller, require
from crewlearn.web.errors.problems import answers
from crewlearn.web.notices import deliveries
from crewlearn.web.settings import MOST_NUMBER

router = APIRouter(prefix="/sites/{site}/webhooks", tags=["webhooks"])

Admin = Annotated[Caller, require(ADMIN)]
WebhookNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The webhook's number.", examples=[1])]
DeliveryId = Annotated[
    str, Path(pattern="^[0-9a-f]{32}$", description="The delivery's id.", examples=["0b5f6e1c9a0f4a4e8d2b7c3e5f6a7b8c"])
]


@router.get("", response_model=models.Webhooks, operation_id="listWebhooks", responses=READING | answers(403))
def list_webhooks(request: Request, caller: Admin, site: SiteName) -> Response:
    """List the webhooks of a site, without their secrets."""
    listed = webhooks.list_webhooks(_store(request), site)
    return answer(page([plain(asdict(webhook)) for webhook in listed], None))


@router.post("", response_model=models.ShownWebhook, status_code=201, operation_id="addWebhook", responses=ASKING)
def add_webhook(request: Request, caller: Admin, site: SiteName, new: models.NewWebhook) -> Response:
    """Add a webhook, which is told of what happens from now on. Its secret is in this response only."""
    made, secret = webhooks.add(_store(request), site, new.url, caller.name, new.kinds)
    return answer(plain({**asdict(made), "secret": secret}), status=201)


@router.delete("/{webhook}", status_code=204, operation_id="removeWebhook", responses=ASKING)
def remove_webhook(request: Request, caller: Admin, site: SiteName, webhook: WebhookNumber) -> Response:
    """Remove a webhook with everything that waits for it."""
    webhooks.remove(_store(request), site, webhook)
    return Response(status_code=204)


@router.post(
    "/{webhook}/secret", response_model=models.ShownSecret, operation_id="rotateWebhookSecret", responses=ASKING
)
def rotate_secret(
    request: Request, caller: Admin, site: SiteName, webhook: WebhookNumber, wanted: models.SecretRotation
) -> Response:
    """Replace the secret of a webhook. The old one stays valid for some hours, by default 24."""
    return answer({"secret": webhooks.rotate(_store(request), site, webhook, wanted.hours)})


@router.post(
    "/{webhook}/test",
    response_model=models.DeliveryModel,
    status_code=202,
    operation_id="testWebhook",
    responses=ASKING,
)
def send_test(request: Request, caller: Admin, site: SiteName, webhook: WebhookNumber) -> Response:
    """Put a test delivery in a webhook's outbox."""
    uid = webhooks.send_test(_store(request), site, webhook)
    return answer(plain(asdict(deliveries.get(_store(request), site, webhook, uid))), status=202)


@router.get(
    "/{webhook}/deliveries",
    response_model=models.Deliveries,
    operation_id="listDeliveries",
    responses=READING | answers(403),
)
def list_deliveries(
    request: Request,
    caller: Admin,
    site: SiteName,
    webhook: WebhookNumber,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List the deliveries of a webhook, the newest first. They are deleted after a week, failed ones after a month."""
    before = paging.place_in(cursor, "deliveries", lambda place: isinstance(place, int))
    listed = deliveries.list_deliveries(_store(request), site, webhook, before=before, limit=limit + 1)
    following = paging.written("deliveries", listed[limit - 1].number) if len(listed) > limit else None
    return answer(page([plain(asdict(delivery)) for delivery in listed[:limit]], following))


@router.post(
    "/{webhook}/deliveries/{delivery}/retry",
    response_model=models.DeliveryModel,
    status_code=202,
    operation_id="retryDelivery",
    responses=ASKING,
)
def retry(request: Request, caller: Admin, site: SiteName, webhook: WebhookNumber, delivery: DeliveryId) -> Response:
    """Send a delivery again, whether it failed or was delivered; one that waits is tried at once."""
    return answer(plain(asdict(deliveries.send_again(_store(request), site, webhook, delivery))), status=202)


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store
