"""Authentication by tokens, sessions and links, and the limit on failures; on SQLite and on PostgreSQL."""

import hashlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.db import engine as database_engine
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict, StoreBusy
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import sessions, users
from crewlearn.web.auth.access import ADMIN, COOKIE, MANAGER, VIEWER
from crewlearn.web.auth.failures import MOST_FAILURES, address_of, count_failure
from crewlearn.web.settings import Settings
from support.stores import Database
from support.web.app import (
    BASE,
    ME_PATH,
    Clock,
    bearer,
    client,
    open_link,
    opened,
    sign_in,
    token_of,
    two_sites,
    use_link,
)

store = two_sites


def everything(database: Database) -> bytes:
    """Everything stored: the raw files, or every table as text."""
    if database.backend == "sqlite":
        folder = Path(database.url.removeprefix("sqlite:///")).parent
        return b"".join(path.read_bytes() for path in folder.iterdir())
    engine = sa.create_engine(database.url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        rows = repr([connection.execute(sa.text(f"SELECT * FROM {name}")).all() for name in tables])
    engine.dispose()
    return rows.encode()


def test_secrets_are_kept_as_digests_only(store: Store, web: TestClient, database: Database) -> None:
    token = token_of(store)
    code = users.new_link(store, "ann")
    session = sign_in(web, token)
    stored = everything(database)
    for secret in (token, code, session):
        assert len(secret) >= 43  # 256 bits in base 64
        assert secret.removeprefix("crew_").encode() not in stored
        assert hashlib.sha256(secret.encode()).hexdigest().encode() in stored
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
    other_session = {"Cookie": f"{COOKIE}={sign_in(web, other)}"}
    web.cookies.clear()
    assert [web.get(ME_PATH, headers=headers).status_code for headers in (session, other_session)] == [200, 200]
    assert users.revoke(store, "ann", first.id) == 1
    assert users.revoke(store, "ann", first.id) == 0
    seen = [
        web.get(ME_PATH, headers=headers).status_code
        for headers in (bearer(secret), session, bearer(other), other_session)
    ]
    assert seen == [401, 401, 200, 200]
    assert users.revoke(store, "ann") == 1
    assert [web.get(ME_PATH, headers=headers).status_code for headers in (bearer(other), other_session)] == [401, 401]


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
    name, _, session = answer.headers["set-cookie"].partition(";")[0].partition("=")
    assert name == ("__Host-crewlearn_session" if https else "crewlearn_session")
    assert answer.headers.get("strict-transport-security") == ("max-age=31536000" if https else None)
    with client(store, Settings(secure_cookies=https)) as web:
        assert web.get(ME_PATH, headers={"Cookie": f"{name}={session}"}).status_code == 200
        other = "crewlearn_session" if https else "__Host-crewlearn_session"
        assert web.get(ME_PATH, headers={"Cookie": f"{other}={session}"}).status_code == 401


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
    """Mail programs open links before people do, and other sites' pages could."""
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
    with client(store) as first, opened(database.url, clock) as again, client(again) as other:
        servers = (first, other)
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
            assert web.get(ME_PATH, headers=bearer(token)).status_code == 200, "others at this address still can"
            code = codes.pop()
            assert (open_link(web, code).status_code, use_link(web, code).status_code) == (200, 303)
        clock.wait(seconds=900 - MOST_FAILURES - 1)
        assert first.post("/sign-in", data={"token": "crew_wrong"}).status_code == 429
        clock.wait(seconds=2)
        assert first.post("/sign-in", data={"token": "crew_wrong"}).status_code == 401


def test_one_networks_failures_are_not_anothers(store: Store) -> None:
    with client(store, client=("2001:db8:1:2::1", 5)) as web:
        for attempt in range(MOST_FAILURES):
            web.get(ME_PATH, headers=bearer(f"crew_{attempt}"))
    with client(store, client=("2001:db8:1:2:ffff::9", 5)) as web:
        assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 429
    for host in ("2001:db8:1:3::1", "192.0.2.1"):
        with client(store, client=(host, 5)) as web:
            assert web.post("/sign-in", data={"token": "crew_wrong"}).status_code == 401


@pytest.mark.parametrize(("ahead", "status"), [({"minutes": 10}, 429), ({"days": 7300}, 401)])
def test_a_clock_that_was_ahead_keeps_nobody_out_for_long(
    store: Store, web: TestClient, clock: Clock, ahead: dict[str, int], status: int
) -> None:
    clock.wait(**ahead)
    for _ in range(MOST_FAILURES):
        web.get(ME_PATH, headers=bearer("crew_wrong"))
    clock.wait(**{unit: -many for unit, many in ahead.items()})
    answer = web.get(ME_PATH, headers=bearer("crew_wrong"))
    assert answer.status_code == status
    assert int(answer.headers.get("retry-after", 0)) <= 900


def test_a_network_that_is_refused_waits_for_no_writer(
    database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_engine, "LOCK_SECONDS", 0.1)
    with opened(database.url, clock) as store, client(store) as web:
        for _ in range(MOST_FAILURES):
            web.get(ME_PATH, headers=bearer("crew_wrong"))
        with store.changing():
            assert web.get(ME_PATH, headers=bearer("crew_wrong")).status_code == 429


def test_a_few_failures_at_a_time_wait_for_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_engine, "LOCK_SECONDS", 5.0)
    with opened(f"sqlite:///{tmp_path}/crew.db", Clock()) as store, ThreadPoolExecutor(4 + 2) as pool:
        with store.changing():
            tried = [pool.submit(count_failure, store, f"192.0.2.{host}") for host in range(4 + 2)]
            answered = as_completed(tried)
            for refused in (next(answered), next(answered)):
                error = refused.exception()
                assert isinstance(error, HTTPException)
                assert error.status_code == 429
        assert [future.exception() for future in answered] == [None] * 4


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
    class PlainRequest:
        client = type("Client", (), {"host": host})

    request: Any = PlainRequest()
    assert address_of(request) == network


def test_a_session_by_a_link_ends_with_all_others_however_late_it_begins(
    store: Store, web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link is deleted and the session begun in one transaction: no revocation can come in between."""
    users.add(store, "ada", "viewer")
    code, begun = users.new_link(store, "ada"), sessions.begin

    def failing(*arguments: Any) -> str:
        begun(*arguments)
        raise StoreBusy("x", "is busy")

    monkeypatch.setattr(sessions, "begin", failing)
    assert use_link(web, code).status_code == 409
    monkeypatch.setattr(sessions, "begin", begun)
    with store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(schema.sessions)).scalar() == 0
    assert use_link(web, code).status_code == 303, "the link is still valid"
