"""Every route that the application has, tried by every role at its own and at foreign sites, and by pages of others.

The routes are those of the application itself: one that is not in a table here fails the test. Those of the API have
their roles in `tests/web/api/test_roles.py`.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from support.web.api import SETTINGS, Api, caller, everything, served, with_crew
from support.web.app import BASE, bearer, sign_in
from support.web.pages import pages_store

OPEN = """
GET /api/v1/openapi.json
GET /sign-in
POST /sign-in
GET /sign-in/once
POST /sign-in/once
POST /sign-out
POST /language
GET /sign-on/{provider}
GET /sign-on/{provider}/callback
GET /digest/confirm
POST /digest/confirm
GET /digest/stop
POST /digest/stop
"""
"""Routes for everybody, as people come in by them or have a secret in their address."""

ROLES = """
viewer everywhere: GET /metrics
viewer: GET /
viewer: GET /go
viewer: GET /notifications
viewer: POST /notifications
viewer: GET /sites/{site}
viewer: GET /sites/{site}/proposals
viewer: GET /sites/{site}/offers
viewer: GET /sites/{site}/history
viewer: GET /sites/{site}/workers
viewer: GET /sites/{site}/workers/{worker}
viewer: GET /sites/{site}/workers/{worker}/sheet
viewer: GET /sites/{site}/team
viewer: GET /sites/{site}/plan
viewer: GET /sites/{site}/plan/{job}
viewer: GET /sites/{site}/backtest
viewer: GET /sites/{site}/backtest/{job}
viewer: GET /sites/{site}/pilot
viewer: GET /sites/{site}/pilot/report
viewer: GET /sites/{site}/pilot/{job}
viewer: GET /sites/{site}/record
viewer: GET /sites/{site}/record/export/{what}
viewer: GET /sites/{site}/notice
viewer: GET /sites/{site}/card
manager: POST /sites/{site}/proposals/{proposal}/approve
manager: POST /sites/{site}/proposals/{proposal}/reject
manager: POST /sites/{site}/proposals/{proposal}/offer
manager: POST /sites/{site}/answers
manager: POST /sites/{site}/undo
manager: POST /sites/{site}/history/imports/{number}/undo
manager: POST /sites/{site}/workers/{worker}
manager: POST /sites/{site}/workers/{worker}/note
manager: POST /sites/{site}/team
manager: POST /sites/{site}/plan
manager: POST /sites/{site}/backtest
manager: POST /sites/{site}/pilot
manager: POST /sites/{site}/pilot/look
manager: POST /sites/{site}/pilot/end
manager: POST /sites/{site}/pilot/{job}/start
manager: GET /sites/{site}/import
manager: POST /sites/{site}/import
manager: POST /sites/{site}/import/profiles
manager: GET /sites/{site}/import/{job}
manager: POST /sites/{site}/record/verify
manager: GET /sites/{site}/impact
manager: POST /sites/{site}/impact
manager: GET /sites/{site}/settings
manager: POST /sites/{site}/settings
manager: POST /sites/{site}/jobs/{job}/cancel
admin: POST /sites/{site}/workers/{worker}/erase
admin: GET /sites/{site}/webhooks
admin: POST /sites/{site}/webhooks
admin: GET /sites/{site}/webhooks/{number}
admin: POST /sites/{site}/webhooks/{number}/secret
admin: POST /sites/{site}/webhooks/{number}/test
admin: POST /sites/{site}/webhooks/{number}/remove
admin: POST /sites/{site}/webhooks/{number}/deliveries/{delivery}/retry
admin everywhere: GET /sites/new
admin everywhere: POST /sites/new
admin everywhere: POST /sites/new/file
admin everywhere: GET /users
admin everywhere: POST /users
admin everywhere: GET /users/{name}
admin everywhere: POST /users/{name}
admin everywhere: POST /users/{name}/tokens
admin everywhere: POST /users/{name}/tokens/{token}/revoke
admin everywhere: POST /users/{name}/revoke
admin everywhere: POST /users/{name}/link
admin everywhere: POST /users/{name}/disable
admin everywhere: POST /users/{name}/enable
"""
"""Who may use which page."""

RANK = {"viewer": 0, "manager": 1, "admin": 2}


def listed(table: str) -> list[str]:
    return table.split("\n")[1:-1]


@dataclass(frozen=True)
class House:
    """A server with two sites, of which the first has something of everything."""

    client: TestClient
    store: Store
    mia: Api
    ids: dict[str, Any]

    def routes(self) -> Iterator[tuple[str, str]]:
        """Method and path of every route, as the application has them."""
        app: Any = self.client.app
        for route in iter_route_contexts(app.routes):
            for method in (route.methods or set()) - {"HEAD"}:
                assert route.path is not None
                yield method, route.path.replace(":path}", "}")

    def send(self, method: str, path: str, headers: dict[str, str], **ids: Any) -> Response:
        address = path.format(**{**self.ids, **ids})
        body: dict[str, Any] = {"data": {"nothing": "1"}} if method == "POST" else {}
        return self.client.request(method, address, headers=headers, **body)


store = pages_store


@pytest.fixture
def house(store: Store) -> Iterator[House]:
    with served(store, jobs=False) as client:
        mia = caller(client, "mia", "admin")
        with_crew(mia, "north")
        mia.post("/sites", {"site": "south", "settings": SETTINGS}, 201)
        webhook = mia.post("/sites/north/webhooks", {"url": "https://example.org/hook"}, 201)["id"]
        ids = {
            "site": "north",
            "proposal": mia.get("/sites/north/advice")["proposals"][0]["id"],
            "job": mia.post("/sites/north/ledger/verification", None, 202)["id"],
            "worker": 0,
            "number": webhook,
            "delivery": "0" * 32,
            "what": "events",
            "name": "mia",
            "token": 1,
            "provider": "company",
        }
        yield House(client, store, mia, ids)


def test_every_page_takes_its_role_at_its_site(house: House) -> None:
    documented = {
        (method.upper(), path) for path, item in house.mia.contract.document["paths"].items() for method in item
    }
    rights = [(role, *route.split(" ")) for role, _, route in (line.partition(": ") for line in listed(ROLES))]
    known = {(method, path.replace("{worker}", "{number}")) for _, method, path in rights}
    known |= {(method, path) for method, path in (line.split(" ") for line in listed(OPEN))}
    pages = {(method, path) for method, path in house.routes() if (method, path) not in documented}
    assert pages - {("GET", "/static")} == known, "say here who may use a new route"

    callers = [
        (role, where, caller(house.client, f"{role}-{where}", role, None if where == "all" else [where]).headers)
        for role in RANK
        for where in ("all", "north", "south")
    ]
    before = everything(house.store)
    for needed, method, path in rights:
        role, _, everywhere = needed.partition(" ")
        assert house.send(method, path, {}).status_code == 401, path
        page = house.send(method, path, {"Accept": "text/html"})
        assert page.status_code in (303, 401), path
        assert page.headers.get("location", "/sign-in").startswith("/sign-in"), path
        for caller_role, where, headers in callers:
            sees = where != "south" or "{site}" not in path
            may = RANK[caller_role] >= RANK[role] and (not everywhere or where == "all")
            if may and sees:
                if method == "GET" and "{job}" not in path:
                    assert house.send(method, path, headers).status_code not in (401, 403, 500), (path, caller_role)
                continue
            status = house.send(method, path, headers).status_code
            assert status == (403 if sees else 404), (method, path, caller_role, where, status)
    assert everything(house.store) == before, "a page wrote for somebody who may not"


def test_what_belongs_to_another_site_is_not_reached_through_ones_own(house: House) -> None:
    """Jobs and webhooks have numbers of the whole store: the path's site must be theirs."""
    headers = caller(house.client, "sue", "admin", ["south"]).headers
    before = everything(house.store)
    tried = 0
    for method, path in house.routes():
        if "{site}" not in path or not any(part in path for part in ("{job}", "/webhooks/{")):
            continue
        tried += 1
        ids = {"site": "south", "webhook": house.ids["number"]}
        answer = house.send(method, path, headers, **ids)
        assert answer.status_code in (303, 404, 422), (method, path, answer.status_code)
        assert "Nothing was done" not in answer.text
        assert "example.org" not in answer.text, (method, path)
    assert tried >= 12
    assert everything(house.store) == before


def test_no_page_of_another_site_changes_anything(house: House) -> None:
    """Whoever is signed in, and wherever the form is sent to: the browser says where it comes from."""
    users.add(house.store, "ann", "admin")
    sign_in(house.client, users.new_token(house.store, "ann")[1])
    before, tried = everything(house.store), 0
    for method, path in house.routes():
        if method == "GET":
            continue
        ids = {"worker_id": "a", "webhook": house.ids["number"], "profile": "p"}
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}):
            tried += 1
            assert house.send(method, path, headers, **ids).status_code == 403, (method, path)
        port = {"Origin": BASE.replace("8000", "8001")}
        assert house.send(method, path, port, **ids).status_code == 403, (method, path)
    assert tried > 150
    assert everything(house.store) == before


HOSTILE_TEXT = "x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>"


def test_nothing_sent_becomes_a_header_or_a_line_of_the_log(house: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "crewlearn.web")
    client, signed, quoted = house.client, house.mia.headers, quote(HOSTILE_TEXT, safe="")
    answers = [
        client.get("/go", params={"site": HOSTILE_TEXT, "page": HOSTILE_TEXT}, headers=signed),
        client.get("/sign-in", params={"next": f"/{HOSTILE_TEXT}"}),
        client.get(f"/sites/{quoted}", headers={**signed, "Accept": "text/html"}),
        client.get(f"/sites/north/record/export/{quoted}", headers=signed),
        client.get(f"/users/{quoted}", headers={**signed, "Accept": "text/html"}),
        client.get("/sites/north/history", params={"to": HOSTILE_TEXT}, headers={**signed, "Accept": "text/html"}),
        client.get("/api/v1/sites", headers={**bearer("crew_x"), "X-Request-Id": "a\tb<script>"}),
        client.post("/sign-in", data={"token": HOSTILE_TEXT, "next": HOSTILE_TEXT}),
    ]
    for answer in answers:
        assert answer.status_code != 500, answer.url
        assert "stolen" not in answer.cookies
        assert "set-cookie: stolen" not in str(answer.headers).lower()
        assert not any("\r" in value or "\n" in value for value in answer.headers.values())
        assert "<script>alert" not in answer.text or "html" not in answer.headers["content-type"], answer.url
    assert len(caplog.records) >= len(answers)
    assert not [record for record in caplog.records if "\n" in record.getMessage() or "\r" in record.getMessage()]
