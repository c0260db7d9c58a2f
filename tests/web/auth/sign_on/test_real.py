"""Single sign-on with a real provider: in, out, and what follows from changes at the provider."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.auth.access import COOKIE
from crewlearn.web.settings import Settings, SignOn
from support.sign_on.real import SECRETS, Person, RealProvider, person, real_provider
from support.stores import ME, config, nothing
from support.web.app import BASE, ME_PATH, bearer, client

ACCOUNTS: dict[str, dict[str, Any]] = {
    "7": {"preferred_username": "ann", "groups": ["crew-leads", "canteen"], "plants": ["north"]},
    "8": {"preferred_username": "bob", "groups": ["canteen"], "plants": ["north"]},
    "9": {"preferred_username": "cleo", "groups": ["crew-admins", "crew-leads"], "plants": ["everywhere"]},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[RealProvider]:
    with real_provider(ACCOUNTS, [BASE]) as running:
        yield running


@pytest.fixture
def store(prepared: Any) -> Iterator[Store]:
    """A store with two sites, by the clock that the provider has too."""
    with open_store(prepared("sqlite", nothing).url) as made:
        for site in ("north", "south"):
            commands.create_site(made, site, config(), ME)
        yield made


@pytest.fixture
def somebody() -> Iterator[Person]:
    with person() as made:
        yield made


def settings(provider: RealProvider, client_id: str = "crew", **changes: Any) -> Settings:
    own = SignOn(
        "company",
        provider.issuer,
        client_id,
        SECRETS[client_id],
        site_claim="plants",
        roles={"crew-leads": "manager", "crew-admins": "admin"},
        sites={"north": ("north",), "everywhere": None},
    )
    return Settings(url=BASE, sign_on=(replace(own, **changes),))


def come_in(web: TestClient, somebody: Person, login: str, next: str = "/") -> Any:
    """Sign in by the provider; return the server's answer to it."""
    begun = web.get("/sign-on/company", params={"next": next})
    assert begun.status_code == 303, begun.text
    return web.get(somebody.sign_in(begun.headers["location"], login).removeprefix(BASE))


@pytest.mark.parametrize("client_id", SECRETS)
def test_a_person_comes_in_with_role_and_sites_of_their_claims(
    store: Store, provider: RealProvider, somebody: Person, client_id: str
) -> None:
    with client(store, settings(provider, client_id)) as web:
        assert 'href="/sign-on/company?next=/sites/north"' in web.get("/sign-in?next=/sites/north").text
        answer = come_in(web, somebody, "7", "/sites/north?to=9")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sites/north?to=9")
        assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": ["north"]}
        assert web.get("/sites/south").status_code == 404
    ann = users.get(store, "ann")
    assert (ann.origin, ann.tokens) == (provider.issuer, ())


def test_the_way_there_asks_for_a_code_with_proofs_that_are_new_each_time(store: Store, provider: RealProvider) -> None:
    with client(store, replace(settings(provider), secure_cookies=True)) as web:
        begun = [web.get("/sign-on/company", params={"next": "https://evil.example/"}) for _ in range(2)]
    asked = [parse_qs(urlsplit(answer.headers["location"]).query) for answer in begun]
    assert asked[0]["redirect_uri"] == [f"{BASE}/sign-on/company/callback"]
    assert asked[0]["response_type"] == ["code"]
    assert asked[0]["code_challenge_method"] == ["S256"]
    for proof in ("state", "nonce", "code_challenge"):
        assert asked[0][proof] != asked[1][proof]
        assert len(asked[0][proof][0]) >= 43  # 256 bits in base 64
    cookie = begun[0].headers["set-cookie"]
    assert cookie.startswith("__Host-crewlearn_sign_on=")
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert parts == {"httponly", "max-age=600", "path=/", "samesite=lax", "secure"}


def test_nobody_without_a_mapped_role_comes_in(
    store: Store, provider: RealProvider, somebody: Person, caplog: pytest.LogCaptureFixture
) -> None:
    with client(store, settings(provider)) as web:
        answer = come_in(web, somebody, "8")
        assert answer.status_code == 403
        assert "no role here" in answer.text
        assert COOKIE not in answer.cookies
        assert web.get(ME_PATH).status_code == 401
    assert users.list_users(store) == []
    assert "no mapped role" in caplog.text
    assert "canteen" in caplog.text


def test_role_and_sites_are_those_of_the_latest_sign_in(store: Store, provider: RealProvider, somebody: Person) -> None:
    with client(store, settings(provider, sites={"north": None})) as web:
        come_in(web, somebody, "7")
        assert web.get(ME_PATH).json()["sites"] is None
    users.update(store, "ann", role="admin")
    with client(store, settings(provider)) as web:
        come_in(web, somebody, "7")
        assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": ["north"]}
    before = web.cookies[COOKIE]
    with client(store, settings(provider, roles={"crew-admins": "admin"})) as web:
        assert come_in(web, somebody, "7").status_code == 403
        assert web.get(ME_PATH, headers={"Cookie": f"{COOKIE}={before}"}).status_code == 401, "they lost their role"
    assert len(users.list_users(store)) == 1


def test_claims_in_the_token_need_no_other_question(store: Store, somebody: Person) -> None:
    with real_provider(ACCOUNTS, [BASE], lean=False, algorithm="ES256") as full, client(store, settings(full)) as web:
        assert come_in(web, somebody, "9").status_code == 303
        assert web.get(ME_PATH).json() == {"name": "cleo", "role": "admin", "sites": None}


def test_a_provider_with_new_keys_is_believed_again(store: Store, provider: RealProvider, somebody: Person) -> None:
    with client(store, settings(provider)) as web:
        assert come_in(web, somebody, "7").status_code == 303
        held = web.app.state.sign_on._providers["company"]  # type: ignore[attr-defined] # of a FastAPI
        before = held._keys[1].keys[0].kid
        provider.restart()
        held._keys = (held._keys[0] - 60.0, held._keys[1])  # a minute ago: not again within seconds
        assert come_in(web, somebody, "9").status_code == 303
        assert held._keys[1].keys[0].kid != before


def test_an_answer_is_good_once_and_in_its_browser_only(store: Store, provider: RealProvider, somebody: Person) -> None:
    with client(store, settings(provider)) as web:
        begun = web.get("/sign-on/company")
        mine = begun.headers["set-cookie"].partition(";")[0]
        back = somebody.sign_in(begun.headers["location"], "7").removeprefix(BASE)
        web.cookies.clear()
        stranger = web.get(back)
        assert (stranger.status_code, COOKIE in stranger.cookies) == (400, False)
        assert "not begun in this browser" in stranger.text
        web.get("/sign-on/company")
        assert web.get(back).status_code == 400, "of another sign-in of the same browser"
        web.cookies.clear()
        assert web.get(back, headers={"Cookie": mine}).status_code == 303
        web.cookies.clear()
        again = web.get(back, headers={"Cookie": mine})
        assert (again.status_code, COOKIE in again.cookies) == (401, False), "the provider refuses a used code"


def test_who_is_blocked_or_revoked_here_stays_out(store: Store, provider: RealProvider, somebody: Person) -> None:
    with client(store, settings(provider)) as web:
        come_in(web, somebody, "9")
        users.revoke(store, "cleo")
        assert web.get(ME_PATH).status_code == 401
        come_in(web, somebody, "9")
        assert web.get(ME_PATH).status_code == 200
        users.disable(store, "cleo")
        assert web.get(ME_PATH).status_code == 401
        answer = come_in(web, somebody, "9")
        assert (answer.status_code, "blocked here" in answer.text) == (403, True)
        users.enable(store, "cleo")
        assert come_in(web, somebody, "9").status_code == 303


def test_nobody_becomes_a_user_who_was_here_before(store: Store, provider: RealProvider, somebody: Person) -> None:
    users.add(store, "ann", "admin")
    machine = users.new_token(store, "ann")[1]
    with client(store, settings(provider)) as web:
        answer = come_in(web, somebody, "7")
        assert (answer.status_code, "another user called ann" in answer.text) == (409, True)
        users.join(store, "ann", provider.issuer, "7")
        assert come_in(web, somebody, "7").status_code == 303
        assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": ["north"]}
        web.cookies.clear()
        assert web.get(ME_PATH, headers=bearer(machine)).json()["role"] == "manager", "tokens stay"


def test_a_session_ends_here_and_at_the_provider(store: Store, provider: RealProvider, somebody: Person) -> None:
    with client(store, settings(provider)) as web:
        come_in(web, somebody, "7")
        session = web.cookies[COOKIE]
        answer = web.post("/sign-out")
        assert answer.status_code == 200
        assert 'http-equiv="refresh"' in answer.text
        url = answer.text.partition('class="button primary" href="')[2].partition('"')[0].replace("&amp;", "&")
        assert url.startswith(f"{provider.issuer}/session/end?")
        assert web.get(ME_PATH, headers={"Cookie": f"{COOKIE}={session}"}).status_code == 401
        assert somebody.sign_out(url) == f"{BASE}/sign-in"
        asked = web.get("/sign-on/company").headers["location"]
        page = somebody.http.get(asked, follow_redirects=True)
        assert 'name="login"' in page.text, "the provider asks who it is again"


def test_the_store_does_not_give_away_the_tokens_of_the_provider(
    store: Store, provider: RealProvider, somebody: Person
) -> None:
    with client(store, settings(provider)) as web:
        come_in(web, somebody, "7")
        with store.reading() as connection:
            kept = bytes(connection.exec_driver_sql("SELECT sign_on FROM sessions").scalar_one())
        assert b"eyJ" not in kept
        assert web.app.state.sign_on.farewell("x" * 43, kept) is None  # type: ignore[attr-defined] # of a FastAPI
