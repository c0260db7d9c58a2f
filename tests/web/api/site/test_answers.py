"""The responses in the OpenAPI document: every one that can occur, and no others."""

from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from crewlearn.advisor.ledger import site
from crewlearn.advisor.ledger.errors import StoreBusy, StoreUnavailable
from crewlearn.advisor.ledger.events import ATTENDANCE, OUTCOMES
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth.failures import MOST_FAILURES
from crewlearn.web.jobs import queue, work
from crewlearn.web.settings import Settings
from support.web.api import API, Api, contract, stop_jobs, with_crew
from support.web.app import bearer

NAMES = {
    "site": "north",
    "proposal": 1,
    "worker_id": "a",
    "job": 1,
    "name": "mia",
    "token": 1,
    "number": 1,
    "profile": "labor report",
    "webhook": 1,
    "delivery": "0" * 32,
}
FOR_ADMINS = {"users", "webhooks"}
"""The tags of what even reading takes an admin for."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation of the document: its method, a path with real names, and its description."""
    for path, item in contract().document["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path.removeprefix(API).format(**NAMES), operation


def refusals(method: str, operation: dict[str, Any]) -> set[int]:
    """Return the error statuses that an operation can respond with, by the parts of its requests."""
    parameters = operation.get("parameters", [])
    body = operation.get("requestBody", {}).get("content", {})
    possible = {400, 413, 503}
    possible |= {401, 429} if operation.get("security") else set()
    possible |= {422} if parameters or body else set()
    possible |= {404} if any(parameter["in"] == "path" for parameter in parameters) else set()
    possible |= {403, 409} if method != "GET" else {403} if FOR_ADMINS & {*operation["tags"]} else set()
    possible |= {412} if any(parameter["name"] == "If-Match" for parameter in parameters) else set()
    possible |= {415} if "text/csv" in body else set()
    return possible | ({428} if operation["operationId"] == "changeSite" else set())


def test_refusals_are_documented_where_they_can_come_and_nowhere_else() -> None:
    listed = list(operations())
    assert len(listed) >= 30
    for method, _, operation in listed:
        documented = {int(status) for status in operation["responses"] if status >= "400"}
        assert documented == refusals(method, operation), operation["operationId"]


def test_what_is_done_is_answered_in_one_way_except_where_it_may_have_been_done_before() -> None:
    """A plan, site or user may exist already; a check is always run again; a large file is imported by a job."""
    several = {
        operation["operationId"]: {status for status in operation["responses"] if status < "300"}
        for _, _, operation in operations()
    }
    assert {name: statuses for name, statuses in several.items() if len(statuses) > 1} == {
        "plan": {"200", "202"},
        "backtest": {"200", "202"},
        "planPilot": {"200", "202"},
        "createSite": {"200", "201"},
        "addUser": {"200", "201"},
        "importOutputCsv": {"200", "202"},
    }
    assert several["verifyLedger"] == {"202"}


def test_the_names_that_the_document_lists_are_those_of_the_advisor() -> None:
    """The document repeats names of the advisor, because types have to spell them out."""
    schemas = contract().document["components"]["schemas"]

    def listed(model: str, field: str) -> list[str]:
        schema = schemas[model]["properties"][field]
        names: list[str] = next(part["enum"] for part in schema.get("anyOf", [schema]) if "enum" in part)
        return sorted(names)

    assert listed("Proposal", "status") == sorted(
        (*site.OPEN, site.STARTED, *site.FAILURES, site.REJECTED, site.WITHDRAWN)
    )
    assert listed("Offer", "outcome") == sorted(OUTCOMES)
    assert listed("NewOutput", "attendance") == listed("Output", "attendance") == sorted(ATTENDANCE)
    assert listed("Worker", "status") == listed("NewWorker", "status") == sorted(site.STATUSES)
    assert listed("Job", "status") == sorted(queue.STATUSES)
    assert listed("Job", "kind") == sorted(kind for lane in work.LANES for kind in lane)


def test_whatever_refuses_before_a_request_is_looked_at_is_documented(mia: Api) -> None:
    with_crew(mia)
    long = str(Settings().import_bytes + 1)
    for method, path, operation in operations():
        assert mia.send(method, path, headers={"Host": "evil.example"}).status_code == 400
        assert mia.send(method, path, headers={"Content-Length": long}).status_code == 413
        if method != "GET":
            assert mia.send(method, path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        if operation.get("security"):
            assert Api(mia.client, {}, mia.contract).send(method, path).status_code == 401
    stranger = Api(mia.client, bearer("crew_wrong"), mia.contract)
    for _ in range(MOST_FAILURES):
        stranger.get("/me", 401)
    for method, path, operation in operations():
        assert stranger.send(method, path).status_code == (429 if operation.get("security") else 200)


@pytest.mark.parametrize(("error", "writing"), [(StoreUnavailable, 503), (StoreBusy, 409)])
def test_a_store_out_of_reach_or_busy_is_answered_as_documented(
    mia: Api, monkeypatch: pytest.MonkeyPatch, error: type[StoreUnavailable], writing: int
) -> None:
    """A reader cannot conflict with anything, so for readers a busy store is unavailable."""
    with_crew(mia)
    stop_jobs(mia.client)

    def broken(store: Store) -> NoReturn:
        raise error("somewhere", "does not answer")

    monkeypatch.setattr(Store, "reading", broken)
    for method, path, _ in operations():
        expected = 200 if path == "/health/live" else 503 if method == "GET" else writing
        assert mia.send(method, path).status_code == expected, path


def test_a_site_that_cannot_be_read_is_answered_as_documented(mia: Api, store: Store) -> None:
    with_crew(mia)
    with store.changing() as connection:
        connection.execute(sa.text("UPDATE sites SET state = '{}', head = 'x' || substr(head, 2)"))
    for method, path, operation in operations():
        if path.startswith("/sites/north") and "webhooks" not in operation["tags"]:  # which need no site's state
            response = mia.send(method, path, json={})
            checks = path.endswith("/verification")  # an unreadable site can still be checked
            assert response.status_code in ((202,) if checks else (415, 422)), path
            assert method != "GET" or response.json()["errors"][0]["field"] == "site", path


def test_a_check_asked_for_again_is_under_way_however_soon_it_ends(
    client: TestClient, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running check may finish in another process between finding and reading it."""
    here = with_crew(mia)
    stop_jobs(client)
    first = mia.post(f"{here}/ledger/verification", None, 202)
    assert mia.post(f"{here}/ledger/verification", None, 202)["id"] == first["id"]
    plain = queue.read_in

    def ended(connection: sa.Connection, id: int) -> queue.Job:
        connection.execute(sa.text("UPDATE jobs SET status = 'done'"))
        return plain(connection, id)

    monkeypatch.setattr(queue, "read_in", ended)
    assert mia.post(f"{here}/ledger/verification", None, 202)["status"] == "done"
