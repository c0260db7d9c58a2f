"""The middleware: checks of every request and headers of every response; on SQLite and on PostgreSQL."""

import logging
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.auth.access import COOKIE, VIEWER
from crewlearn.web.settings import Settings
from support.web.app import BASE, ME_PATH, bearer, client, sign_in, token_of, two_sites, use_link

store = two_sites


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": BASE}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": BASE.replace("http", "https")}, 200),  # a proxy may terminate TLS
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "nonsense"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8000.evil.example"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"}, 403),
    ],
)
def test_pages_of_other_sites_change_nothing(store: Store, headers: dict[str, str], status: int) -> None:
    with client(store) as web:
        assert web.post("/api/v1/echo", headers=headers).status_code == status
        assert web.get("/api/v1/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:1", 200),
        ("LOCALHOST:8000", 200),
        ("[::1]:8000", 200),
        ("crew.example", 200),
        ("crew.example.:443", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("crew.example@evil.example", 400),
        ("localhost:80@evil.example", 400),
        ("localhost:8000:1", 400),
        ("localhost:eighty", 400),
        ("[::1]evil.example", 400),
        ("[::1", 400),
        ("local host", 400),
        ("localhost/", 400),
        ("localhost,evil.example", 400),
        (":8000", 400),
        ("", 400),
    ],
)
def test_the_server_answers_to_its_names_only(store: Store, host: str, status: int) -> None:
    with client(store, Settings(allowed_hosts=("Crew.example",))) as web:
        answer = web.get("/api/v1/health", headers={"Host": host})
    assert answer.status_code == status
    assert answer.headers["content-type"] == ("application/json" if status == 200 else "application/problem+json")


def test_bodies_are_bounded_whatever_they_say_of_themselves(web: TestClient, store: Store) -> None:
    def chunks(size: int) -> Iterator[bytes]:
        for _ in range(size // 100):
            yield b"x" * 100

    with client(store, Settings(json_bytes=1000, import_bytes=3000)) as web:
        for path in ("/api/v1/echo", "/api/v1/json"):
            answer = web.post(path, content=b"x" * 1001)
            assert (answer.status_code, answer.json()["title"][-9:]) == (413, "Too Large")
            answer = web.post(path, content=chunks(1100))
            assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
        assert web.post("/sign-in", data={"token": "x" * 1001}).status_code == 413
        csv = {"Content-Type": "text/csv; charset=utf-8"}
        assert web.post("/api/v1/echo", content=b"x" * 1000).json() == 1000
        assert web.post("/api/v1/echo", content=chunks(1000)).json() == 1000
        assert web.post("/api/v1/echo", content=chunks(3000), headers=csv).json() == 3000
        assert web.post("/api/v1/echo", content=chunks(3100), headers=csv).status_code == 413
        tabs = {"Content-Type": "text/tab-separated-values"}  # not accepted: send text/csv for tabs too
        assert web.post("/api/v1/echo", content=chunks(3000), headers=tabs).status_code == 413
        assert web.post("/api/v1/echo", content=b"x", headers={"Content-Length": "-1"}).status_code == 413


@pytest.mark.parametrize(
    "path", ["/api/v1/health", ME_PATH, "/sign-in", "/static/app.css", "/nowhere", "/api/v1/fault"]
)
def test_every_answer_has_its_headers(web: TestClient, path: str) -> None:
    headers = web.get(path, headers={"Accept": "text/html"}).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")
    assert "server" not in headers


def test_a_fault_tells_the_caller_nothing_and_the_log_everything(
    web: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = web.get("/api/v1/fault")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
    assert "a secret in a traceback" in caplog.text


def test_people_see_pages_and_programs_documents(web: TestClient) -> None:
    page = web.get("/nowhere", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert web.get("/nowhere").headers["content-type"] == "application/problem+json"
    assert web.get(ME_PATH, headers={"Accept": "text/html"}).headers["content-type"] == "application/problem+json"
    for shown in (page, web.get("/sign-in")):
        assert re.findall(r"<script(?! src=\"/static/)|style=|\son\w+=|https?://", shown.text) == []


def test_who_is_refused_is_told_why(store: Store, web: TestClient) -> None:
    page = {"Accept": "text/html"}
    sign_in(web, token_of(store, role=VIEWER))
    foreign = web.post("/sites/north/undo", headers={**page, "Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert "This request came from elsewhere" in foreign.text
    assert "Your role" not in foreign.text
    mine = web.post("/sites/north/undo", headers=page)
    assert mine.status_code == 403
    assert "Your role does not allow it" in mine.text
    assert "this takes the role manager; ann is viewer" in mine.text


def test_password_managers_find_a_name_beside_the_token(web: TestClient) -> None:
    fields = re.findall(r"<input [^>]*autocomplete=\"([\w-]+)\"", web.get("/sign-in").text)
    assert fields == ["username", "current-password"]


def test_the_log_has_a_line_a_request_and_nothing_secret(
    store: Store, web: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "httpx2")  # the client's own log, which has full URLs
    caplog.set_level(logging.INFO, "crewlearn.web")
    token = token_of(store)
    code = users.new_link(store, "ann")
    secrets = [token, code, sign_in(web, token)]
    secrets.append(str(use_link(web, code).cookies[COOKIE]))
    web.get(ME_PATH, headers=bearer(token))
    web.get(f"{ME_PATH}?token={token}")
    web.get(ME_PATH, headers=bearer("crew_almost"))
    web.post("/sign-in", data={"token": "crew_almost"})
    web.get("/sign-in/once?code=almost")
    web.get("/nowhere%0Aforged line")
    web.get("/api/v1/fault")
    lines = [record.getMessage() for record in caplog.records if record.name == "crewlearn.web.access"]
    assert re.fullmatch(r"POST /sign-in 303 [\d.]+ ms ann", lines[0])
    assert re.fullmatch(r"POST /sign-in/once 303 [\d.]+ ms ann", lines[1])
    assert re.fullmatch(r"GET /sign-in/once 401 [\d.]+ ms -", lines[6])
    assert re.fullmatch(r"GET /api/v1/me 200 [\d.]+ ms ann", lines[2])
    assert re.fullmatch(r"GET /api/v1/me 401 [\d.]+ ms -", lines[4])
    assert re.fullmatch(r"GET /nowhere%0Aforged%20line 404 [\d.]+ ms -", lines[7])
    assert len(lines) == 9
    for secret in (*secrets, "almost"):
        assert secret not in caplog.text


def test_who_asks_for_the_head_alone_gets_what_a_look_would(
    store: Store, web: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "crewlearn.web")
    token = bearer(token_of(store))
    for path, headers, status in (
        ("/api/v1/health", {}, 200),
        ("/", {"Accept": "text/html"}, 303),
        ("/", {"Accept": "text/html", **token}, 200),
        (ME_PATH, token, 200),
        (ME_PATH, {}, 401),
        ("/static/app.css", {}, 200),
        ("/sign-out", {}, 405),
        ("/nowhere", {}, 404),
    ):
        caplog.clear()
        head, look = web.head(path, headers=headers), web.get(path, headers=headers)
        assert head.status_code == look.status_code == status, path
        assert head.headers["content-type" if status != 303 else "location"]
        first, also = [record.getMessage() for record in caplog.records if record.name == "crewlearn.web.access"]
        assert first.startswith(f"HEAD {path} {status} ")
        assert first.endswith(" ann" if headers == token or "Authorization" in headers else " -")
        assert also.startswith(f"GET {path} {status} ")


def test_health_is_open_and_the_contract_complete(web: TestClient) -> None:
    assert web.get("/api/v1/health").json() == {"status": "ok", "schema": schema.SCHEMA}
    document = web.get("/api/v1/openapi.json").json()
    assert document["paths"]["/api/v1/me"]["get"]["security"] == [{"HTTPBearer": []}, {"APIKeyCookie": []}]
    refusals = document["paths"]["/api/v1/me"]["get"]["responses"]["401"]["content"]
    assert refusals == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_the_log_names_who_asked_for_a_site_that_is_not_there(
    store: Store, web: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "crewlearn.web")
    assert web.get("/api/v1/sites/nowhere/advice", headers=bearer(token_of(store, "ada", "viewer"))).status_code == 404
    lines = [record.getMessage() for record in caplog.records if record.name == "crewlearn.web.access"]
    assert lines[-1].startswith("GET /api/v1/sites/nowhere/advice 404")
    assert lines[-1].endswith(" ada")


def test_the_log_names_no_worker(store: Store, web: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "crewlearn.web")
    web.get("/api/v1/sites/north/workers/Ann/Smith", headers=bearer(token_of(store, "ada", "viewer")))
    lines = [record.getMessage() for record in caplog.records if record.name == "crewlearn.web.access"]
    assert lines[-1].startswith("GET /api/v1/sites/north/workers/- 404 ")
