"""Who gets in, what they may do there, and what every request passes; on SQLite and on PostgreSQL."""

import hashlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor import schema
from crewlearn.advisor.conflict import Conflict
from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import users
from crewlearn.web.access import ADMIN, COOKIE, MANAGER, MOST_FAILURES, ROLES, VIEWER, address_of
from crewlearn.web.settings import Settings
from stores import Database
from web_app import BASE, Clock, bearer, client, opened

ME_PATH = "/api/v1/me"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(database: Database, clock: Clock) -> Iterator[Store]:
    with opened(database.url, clock, "north", "south") as made:
        yield made


@pytest.fixture
def web(store: Store) -> Iterator[TestClient]:
    with client(store) as made:
        yield made


def token_of(store: Store, name: str = "ann", role: str = ADMIN, sites: list[str] | None = None, **more: Any) -> str:
    users.add(store, name, role, sites)
    return users.new_token(store, name, **more)[1]


def sign_in(web: TestClient, token: str) -> str:
    """Sign in by the form; give the session's secret."""
    answer = web.post("/sign-in", data={"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    return str(answer.cookies[COOKIE])


def open_link(web: TestClient, code: str) -> Response:
    """Open a one-time link."""
    return web.get("/sign-in/once", params={"code": code})


def use_link(web: TestClient, code: str, **more: Any) -> Response:
    """Press the button on the page that a one-time link shows."""
    return web.post("/sign-in/once", data={"code": code}, **more)


def everything(database: Database) -> bytes:
    """All that is kept: the raw files, or every table as text."""
    if database.backend == "sqlite":
        folder = Path(database.url.removeprefix("sqlite:///")).parent
        return b"".join(path.read_bytes() for path in folder.iterdir())
    engine = sa.create_engine(database.url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        found = repr([connection.execute(sa.text(f"SELECT * FROM {name}")).all() for name in tables])
    engine.dispose()
    return found.encode()


# --- tokens


def test_secrets_are_kept_as_digests_only(store: Store, web: TestClient, database: Database) -> None:
    token = token_of(store)
    code = users.new_link(store, "ann")
    session = sign_in(web, token)
    kept = everything(database)
    for secret in (token, code, session):
        assert len(secret) >= 43  # 256 bits in base 64
        assert secret.removeprefix("crew_").encode() not in kept
        assert hashlib.sha256(secret.encode()).hexdigest().encode() in kept
    assert token.startswith("crew_")
    assert token not in repr(users.list_users(store))


def test_a_token_opens_the_door_until_it_expires(store: Store, web: TestClient, clock: Clock) -> None:
    token = token_of(store, role=MANAGER, sites=["north"], days=2)
    answer = web.get(ME_PATH, headers=bearer(token))
    assert (answer.status_code, answer.json()) == (200, {"name": "ann", "role": "manager", "sites": ["north"]})
    clock.wait(days=1.99)
    assert web.get(ME_PATH, headers=bearer(token)).status_code == 200
    clock.wait(days=0.02)
    answer = web.get(ME_PATH, headers=bearer(token))
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="crewlearn"')
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "the token is wrong, expired or revoked"


def test_a_revoked_token_is_shut_out_with_its_sessions_and_no_other(store: Store, web: TestClient) -> None:
    users.add(store, "ann", ADMIN)
    (first, secret), (_, other) = users.new_token(store, "ann"), users.new_token(store, "ann")
    session = {"Cookie": f"{COOKIE}={sign_in(web, secret)}"}
    web.cookies.clear()
    kept = {"Cookie": f"{COOKIE}={sign_in(web, other)}"}
    web.cookies.clear()
    assert [web.get(ME_PATH, headers=one).status_code for one in (session, kept)] == [200, 200]
    assert users.revoke(store, "ann", first.id) == 1
    assert users.revoke(store, "ann", first.id) == 0
    seen = [web.get(ME_PATH, headers=one).status_code for one in (bearer(secret), session, bearer(other), kept)]
    assert seen == [401, 401, 200, 200]
    assert users.revoke(store, "ann") == 1
    assert [web.get(ME_PATH, headers=one).status_code for one in (bearer(other), kept)] == [401, 401]


def test_a_session_ends_with_its_token(store: Store, web: TestClient, clock: Clock) -> None:
    sign_in(web, token_of(store, days=1))
    assert web.get(ME_PATH).status_code == 200
    clock.wait(days=1.01)
    assert web.get(ME_PATH).status_code == 401


def test_a_session_ends_after_a_week(store: Store, web: TestClient, clock: Clock) -> None:
    sign_in(web, token_of(store, days=90))
    clock.wait(days=6.99)
    assert web.get(ME_PATH).status_code == 200
    clock.wait(days=0.02)
    assert web.get(ME_PATH).status_code == 401


def test_who_is_disabled_is_out_at_once(store: Store, web: TestClient) -> None:
    token = token_of(store)
    code = users.new_link(store, "ann")
    sign_in(web, token)
    users.disable(store, "ann")
    assert web.get(ME_PATH).status_code == 401
    assert web.get(ME_PATH, headers=bearer(token)).status_code == 401
    assert open_link(web, code).status_code == use_link(web, code).status_code == 401
    with pytest.raises(Conflict, match="is disabled"):
        users.new_token(store, "ann")
    users.enable(store, "ann")
    assert web.get(ME_PATH).status_code == 401, "the session is gone"
    assert web.get(ME_PATH, headers=bearer(token)).status_code == 200


def test_signing_out_ends_the_session(store: Store, web: TestClient) -> None:
    session = sign_in(web, token_of(store))
    answer = web.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert f'{COOKIE}=""' in answer.headers["set-cookie"]
    assert web.get(ME_PATH, headers={"Cookie": f"{COOKIE}={session}"}).status_code == 401


def test_signing_in_again_ends_the_session_before(store: Store, web: TestClient) -> None:
    token = token_of(store)
    first = sign_in(web, token)
    assert sign_in(web, token) != first
    web.cookies.clear()
    assert web.get(ME_PATH, headers={"Cookie": f"{COOKIE}={first}"}).status_code == 401


@pytest.mark.parametrize("https", [False, True])
def test_a_cookie_is_for_this_server_alone(store: Store, https: bool) -> None:
    token = token_of(store)
    with client(store, Settings(secure_cookies=https)) as web:
        answer = web.post("/sign-in", data={"token": token})
    parts = [part.strip().lower() for part in answer.headers["set-cookie"].split(";")][1:]
    assert set(parts) == {"httponly", "path=/", "samesite=lax", "max-age=604800", *(["secure"] if https else [])}


# --- links


def test_a_link_signs_in_once(store: Store, web: TestClient) -> None:
    users.add(store, "ann", VIEWER)
    code = users.new_link(store, "ann")
    answer = use_link(web, code)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert web.get(ME_PATH).json()["name"] == "ann"
    web.cookies.clear()
    for answer in (open_link(web, code), use_link(web, code)):
        assert answer.status_code == 401
        assert "used already or is too old. Ask whoever runs this server for another" in answer.text
        assert "Sign in as" not in answer.text
        assert COOKIE not in answer.cookies


def test_opening_a_link_signs_nobody_in_and_leaves_it_as_good(store: Store, web: TestClient) -> None:
    """Mail programs open links before people do, and pages of other sites could."""
    users.add(store, "ann", VIEWER)
    code = users.new_link(store, "ann")
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"User-Agent": "a scanner"}):
        answer = web.get("/sign-in/once", params={"code": code}, headers=headers)
        assert answer.status_code == 200
        assert "Sign in as ann" in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert not answer.cookies
    assert web.get(ME_PATH).status_code == 401
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        assert use_link(web, code, headers=headers).status_code == 403
    form = f'<form class="form" method="post" action="/sign-in/once">\n<input type="hidden" name="code" value="{code}">'
    assert form in answer.text
    assert use_link(web, code, headers={"Sec-Fetch-Site": "same-origin", "Origin": BASE}).status_code == 303


def test_a_link_ends_the_session_before(store: Store, web: TestClient) -> None:
    first = sign_in(web, token_of(store))
    users.add(store, "bob", VIEWER)
    assert use_link(web, users.new_link(store, "bob")).status_code == 303
    assert web.get(ME_PATH).json()["name"] == "bob"
    web.cookies.clear()
    assert web.get(ME_PATH, headers={"Cookie": f"{COOKIE}={first}"}).status_code == 401


def test_a_link_is_good_for_a_quarter_of_an_hour(store: Store, web: TestClient, clock: Clock) -> None:
    users.add(store, "ann", VIEWER)
    late, timely = users.new_link(store, "ann"), users.new_link(store, "ann")
    clock.wait(minutes=14)
    assert open_link(web, timely).status_code == 200
    assert use_link(web, timely).status_code == 303
    clock.wait(minutes=2)
    assert open_link(web, late).status_code == use_link(web, late).status_code == 401


# --- failures


def test_too_many_failures_are_refused_whichever_server_they_come_to(
    store: Store, database: Database, clock: Clock
) -> None:
    token = token_of(store)
    codes = [users.new_link(store, "ann"), users.new_link(store, "ann")]
    with client(store) as one, opened(database.url, clock) as again, client(again) as other:
        servers = (one, other)
        for attempt in range(MOST_FAILURES):
            web = servers[attempt % 2]
            if attempt % 4 == 0:
                assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 401
            elif attempt % 4 == 1:
                assert web.get(ME_PATH, headers=bearer("crew_wrong")).status_code == 401
            elif attempt % 4 == 2:
                assert open_link(web, "wrong").status_code == 401
            else:
                assert use_link(web, "wrong").status_code == 401
            clock.wait(seconds=1)
        for web in servers:
            answer = web.get(ME_PATH, headers=bearer("crew_wrong"))
            assert (answer.status_code, answer.headers["retry-after"]) == (429, str(900 - MOST_FAILURES))
            assert answer.json()["status"] == 429
            assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 429
            for answer in (open_link(web, "wrong"), use_link(web, "wrong")):
                assert (answer.status_code, answer.headers["retry-after"]) == (429, str(900 - MOST_FAILURES))
                assert "Too many failed attempts" in answer.text
            assert web.post("/sign-in", data={"token": token}).status_code == 303, "an old script locks nobody out"
            assert web.get(ME_PATH, headers=bearer(token)).status_code == 200, "others at this address go on working"
            code = codes.pop()
            assert (open_link(web, code).status_code, use_link(web, code).status_code) == (200, 303)
        clock.wait(seconds=900 - MOST_FAILURES - 1)
        assert one.post("/sign-in", data={"token": "crew_wrong"}).status_code == 429
        clock.wait(seconds=2)
        assert one.post("/sign-in", data={"token": "crew_wrong"}).status_code == 401


def test_one_networks_failures_are_not_anothers(store: Store) -> None:
    with client(store, client=("2001:db8:1:2::1", 5)) as web:
        for attempt in range(MOST_FAILURES):
            web.get(ME_PATH, headers=bearer(f"crew_{attempt}"))
    with client(store, client=("2001:db8:1:2:ffff::9", 5)) as web:
        assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 429
    for host in ("2001:db8:1:3::1", "192.0.2.1"):
        with client(store, client=(host, 5)) as web:
            assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 401


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("a name", "a name"),
    ],
)
def test_addresses_are_counted_by_network(host: str, network: str) -> None:
    class Request:
        client = type("Client", (), {"host": host})

    request: Any = Request()
    assert address_of(request) == network


# --- roles and sites


def test_roles_and_sites(store: Store, web: TestClient) -> None:
    for role in ROLES:
        for sites in (None, ["north"]):
            token = token_of(store, f"{role} {sites is None}", role, sites)
            for needed in ROLES:
                enough = ROLES.index(role) >= ROLES.index(needed)
                expected = {
                    f"/api/v1/sites/north/{needed}": 200 if enough else 403,
                    f"/api/v1/sites/south/{needed}": 404 if sites else 200 if enough else 403,
                    f"/api/v1/{needed}": 200 if enough and (sites is None or needed == VIEWER) else 403,
                }
                for path, status in expected.items():
                    assert (path, web.get(path, headers=bearer(token)).status_code) == (path, status)
                    assert web.get(path).status_code == 401
    answer = web.get("/api/v1/sites/north/admin", headers=bearer(token_of(store, "vi", VIEWER)))
    assert answer.json()["detail"] == "this takes the role admin; vi is viewer"


def test_sites_of_others_look_as_if_they_were_not_there(store: Store, web: TestClient) -> None:
    token = token_of(store, sites=["north"])
    seen = web.get("/api/v1/sites/south/viewer", headers=bearer(token)).json()
    nowhere = web.get("/api/v1/sites/nowhere/viewer", headers=bearer(token)).json()
    assert str(seen).replace("south", "nowhere") == str(nowhere)
    assert "north" not in str(nowhere)


def test_a_change_of_role_or_sites_holds_at_once(store: Store, web: TestClient) -> None:
    sign_in(web, token_of(store, role=VIEWER, sites=["north"]))
    users.change(store, "ann", MANAGER, ["south"])
    assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": ["south"]}
    users.everywhere(store, "ann")
    assert web.get(ME_PATH).json()["sites"] is None


@pytest.mark.parametrize(
    ("name", "role", "sites", "match"),
    [
        ("", VIEWER, None, "from 1 to 100"),
        ("a/b", VIEWER, None, "must be letters"),
        ("a\nb", VIEWER, None, "must be letters"),
        (" a", VIEWER, None, "must be letters"),
        ("ann", "boss", None, "Known: viewer, manager, admin"),
        ("ann", VIEWER, ["east"], r"does not exist; there are: north, south"),
        ("ann", VIEWER, [], "at least one site"),
    ],
)
def test_users_that_cannot_be(store: Store, name: str, role: str, sites: list[str] | None, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        users.add(store, name, role, sites)
    assert users.list_users(store) == []


def test_what_cannot_be_done_to_users(store: Store) -> None:
    users.add(store, "ann", VIEWER)
    with pytest.raises(Conflict, match="exists already"):
        users.add(store, "ann", VIEWER)
    with pytest.raises(InvalidInput, match="does not exist"):
        users.new_token(store, "bob")
    for days in (0, -1, float("nan"), 1e9):
        with pytest.raises(InvalidInput, match="days"):
            users.new_token(store, "ann", days)
    with pytest.raises(InvalidInput, match="is no token of ann"):
        users.revoke(store, "ann", 7)
    assert users.add_first(store, "root") is None


def test_the_first_user_is_an_admin_by_a_name_that_can_be_kept(store: Store) -> None:
    made = users.add_first(store, "CORP\\me")
    assert made is not None
    assert (made.name, made.role, made.sites) == ("admin", ADMIN, None)


# --- what every request passes


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": BASE}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": BASE.replace("http", "https")}, 200),  # a proxy may speak TLS for us
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
        tabs = {"Content-Type": "text/tab-separated-values"}  # which nothing takes: tabs come in a text/csv too
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
    for found in (page, web.get("/sign-in")):
        assert re.findall(r"<script(?! src=\"/static/)|style=|\son\w+=|https?://", found.text) == []


def test_who_is_refused_is_told_why(store: Store, web: TestClient) -> None:
    page = {"Accept": "text/html"}
    sign_in(web, token_of(store, role=VIEWER))
    foreign = web.post("/sites/north/undo", headers={**page, "Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert "This came from elsewhere" in foreign.text
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
    caplog.set_level(logging.WARNING, "httpx2")  # the client's own log, which has addresses whole
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
        said, also = [one.getMessage() for one in caplog.records if one.name == "crewlearn.web.access"]
        assert said.startswith(f"HEAD {path} {status} ")
        assert said.endswith(" ann" if headers == token or "Authorization" in headers else " -")
        assert also.startswith(f"GET {path} {status} ")


def test_health_is_open_and_the_contract_complete(web: TestClient) -> None:
    assert web.get("/api/v1/health").json() == {"status": "ok", "schema": schema.SCHEMA}
    document = web.get("/api/v1/openapi.json").json()
    assert document["paths"]["/api/v1/me"]["get"]["security"] == [{"HTTPBearer": []}, {"APIKeyCookie": []}]
    refusals = document["paths"]["/api/v1/me"]["get"]["responses"]["401"]["content"]
    assert refusals == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
