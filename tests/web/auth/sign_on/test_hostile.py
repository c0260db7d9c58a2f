"""Single sign-on with a provider that lies, or with answers that others made: nobody gets in by them."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor.ledger.errors import StoreBusy
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.auth.access import COOKIE
from crewlearn.web.auth.failures import MOST_FAILURES
from crewlearn.web.auth.sign_on import accounts
from crewlearn.web.auth.sign_on.flow import pending_in
from crewlearn.web.auth.sign_on.provider import KEYS_SECONDS, REFETCH_SECONDS
from crewlearn.web.settings import Settings, SignOn
from support.sign_on.hostile import (
    KEY,
    OTHER,
    HostileProvider,
    hostile_provider,
    packed,
    signed,
    signed_by_nobody,
    signed_by_public_key,
)
from support.web.app import BASE, ME_PATH, Clock, client, opened

ROLES = {"crew-leads": "manager", "crew-admins": "admin"}
SKEW = 60


@pytest.fixture
def store(clock: Clock, tmp_path: Any) -> Iterator[Store]:
    with opened(f"sqlite:///{tmp_path}/crew.db", clock, "north", "south") as made:
        yield made


@pytest.fixture
def liar() -> Iterator[HostileProvider]:
    with hostile_provider() as running:
        yield running


@pytest.fixture
def honest() -> Iterator[HostileProvider]:
    with hostile_provider() as running:
        yield running


@dataclass
class Door:
    """A server that many knock at, one after the other; each may fail as if it were the first."""

    web: TestClient
    store: Store
    liar: HostileProvider
    clock: Clock

    def begin(self) -> "Begun":
        self.web.cookies.clear()
        self.liar.forms.clear()
        self.clock.wait(hours=1)
        return begin(self.web, self.liar, self.clock)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    clock, url = Clock(), f"sqlite:///{tmp_path_factory.mktemp('door')}/crew.db"
    with hostile_provider() as liar, opened(url, clock, "north") as store, client(store, settings(liar)) as web:
        yield Door(web, store, liar, clock)


def settings(*providers: HostileProvider, **changes: Any) -> Settings:
    names = ("company", "agency")
    options: dict[str, Any] = {"roles": ROLES, "clock_skew": SKEW, **changes}
    signing = (
        SignOn(name, one.issuer, "crew", "secret", **options) for name, one in zip(names, providers, strict=False)
    )
    return Settings(url=BASE, sign_on=tuple(signing))


@dataclass
class Begun:
    """A sign-in that was begun: what the provider is asked, and the claims of an honest token for it."""

    web: TestClient
    provider: HostileProvider
    asked: dict[str, str]
    name: str
    claims: dict[str, Any]

    def back(self, token: str | None = None, **answer: str | None) -> Response:
        """Come back from the provider with a token for the code."""
        self.provider.id_token = signed(self.claims) if token is None else token
        sent = {"code": "a code", "state": self.asked["state"], "iss": self.provider.issuer, **answer}
        query = urlencode({name: value for name, value in sent.items() if value is not None})
        return self.web.get(f"/sign-on/{self.name}/callback?{query}")


def begin(web: TestClient, provider: HostileProvider, clock: Clock, name: str = "company", next: str = "/") -> Begun:
    answer = web.get(f"/sign-on/{name}", params={"next": next})
    assert answer.status_code == 303, answer.text
    asked = {key: values[-1] for key, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    now = int(clock().timestamp())
    claims = {
        "iss": provider.issuer,
        "aud": "crew",
        "sub": "7",
        "nonce": asked["nonce"],
        "iat": now,
        "exp": now + 300,
        "preferred_username": "ann",
        "groups": ["crew-leads"],
    }
    return Begun(web, provider, asked, name, claims)


def shut_out(web: TestClient, answer: Response, *statuses: int) -> None:
    assert answer.status_code in (statuses or (401,)), answer.text
    assert COOKIE not in answer.cookies
    assert web.get(ME_PATH).status_code == 401


def test_an_honest_token_lets_in_and_proves_the_one_who_asked(
    store: Store, liar: HostileProvider, clock: Clock
) -> None:
    """What all the others here differ from."""
    with client(store, settings(liar)) as web:
        begun = begin(web, liar, clock)
        assert begun.back().status_code == 303
        assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": None}
    (form,) = liar.forms
    proof = packed(hashlib.sha256(form["code_verifier"].encode()).digest())
    assert proof == begun.asked["code_challenge"]
    assert (form["code"], form["redirect_uri"]) == ("a code", f"{BASE}/sign-on/company/callback")


Lie = Callable[[dict[str, Any]], str]
LIES: dict[str, Lie] = {
    "no signature": signed_by_nobody,
    "no signature, spelt otherwise": lambda claims: signed_by_nobody(claims, "nOnE"),
    "the public key as a secret": signed_by_public_key,
    "a wrong signature": lambda claims: signed(claims, OTHER, kid=KEY.kid),
    "an unknown key": lambda claims: signed(claims, OTHER),
    "a key of its own": lambda claims: signed(claims, OTHER, kid=KEY.kid, jwk=OTHER.as_dict(private=False)),
    "a changed payload": lambda claims: ".".join(
        [
            signed(claims).split(".")[0],
            packed(json.dumps({**claims, "groups": ["crew-admins"]}).encode()),
            signed(claims).split(".")[2],
        ]
    ),
    "another audience": lambda claims: signed({**claims, "aud": "another"}),
    "another party among several": lambda claims: signed({**claims, "aud": ["crew", "another"], "azp": "another"}),
    "several audiences without a party": lambda claims: signed({**claims, "aud": ["crew", "another"]}),
    "no audience": lambda claims: signed({name: value for name, value in claims.items() if name != "aud"}),
    "another nonce": lambda claims: signed({**claims, "nonce": "another"}),
    "no nonce": lambda claims: signed({name: value for name, value in claims.items() if name != "nonce"}),
    "a nonce among several": lambda claims: signed({**claims, "nonce": [claims["nonce"]]}),
    "another issuer": lambda claims: signed({**claims, "iss": "https://evil.example"}),
    "no issuer": lambda claims: signed({name: value for name, value in claims.items() if name != "iss"}),
    "past": lambda claims: signed({**claims, "exp": claims["iat"] - SKEW - 1}),
    "no end": lambda claims: signed({name: value for name, value in claims.items() if name != "exp"}),
    "an end in words": lambda claims: signed({**claims, "exp": "tomorrow"}),
    "to come": lambda claims: signed({**claims, "iat": claims["iat"] + SKEW + 1}),
    "not before later": lambda claims: signed({**claims, "nbf": claims["iat"] + SKEW + 1}),
    "another access token": lambda claims: signed({**claims, "at_hash": "A" * 22}),
    "nobody": lambda claims: signed({name: value for name, value in claims.items() if name != "sub"}),
    "a blank person": lambda claims: signed({**claims, "sub": ""}),
    "a number of a person": lambda claims: signed({**claims, "sub": 7}),
    "no token": lambda claims: "",
    "no JSON": lambda claims: "eyJ.e30.x",
    "letters of no alphabet": lambda claims: "ÿ.ÿ.ÿ",
    "a nested one": lambda claims: packed(b"[" * 20_000) + ".e30.x",
    "a long one": lambda claims: signed({**claims, "more": "x" * 200_000}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_lies_lets_nobody_in(door: Door, lie: str) -> None:
    begun, before = door.begin(), users.list_users(door.store)
    shut_out(door.web, begun.back(LIES[lie](begun.claims)))
    assert users.list_users(door.store) == before


@pytest.mark.parametrize("changes", [{"exp": -SKEW + 1}, {"iat": SKEW - 1}, {"nbf": SKEW - 1}], ids=str)
def test_clocks_may_differ_a_little(door: Door, changes: dict[str, int]) -> None:
    begun = door.begin()
    begun.claims |= {name: int(door.clock().timestamp()) + seconds for name, seconds in changes.items()}
    assert begun.back().status_code == 303


def test_an_answer_leads_to_a_session_once_even_if_the_provider_takes_its_code_twice(
    store: Store, liar: HostileProvider, clock: Clock
) -> None:
    with client(store, settings(liar)) as web:
        begun = begin(web, liar, clock)
        cookie = {"Cookie": f"crewlearn_sign_on={web.cookies['crewlearn_sign_on']}"}
        assert begun.back().status_code == 303
        web.cookies.clear()
        web.headers.update(cookie)
        again = begun.back()
        assert (again.status_code, COOKIE in again.cookies) == (401, False)


@pytest.mark.parametrize(("times", "status"), [(1, 303), (2, 503)])
def test_a_busy_store_is_asked_twice(
    store: Store, liar: HostileProvider, clock: Clock, monkeypatch: pytest.MonkeyPatch, times: int, status: int
) -> None:
    sign_in, asked = accounts.sign_in, list[int]()

    def busy(*arguments: Any) -> Any:
        asked.append(1)
        if len(asked) <= times:
            raise StoreBusy("crew", "another writer was active")
        return sign_in(*arguments)

    monkeypatch.setattr(accounts, "sign_in", busy)
    with client(store, settings(liar)) as web:
        assert begin(web, liar, clock).back().status_code == status
    assert len(asked) == 2


@pytest.mark.parametrize("state", ["", "x", "ÿ", None])
def test_an_answer_with_another_state_is_not_looked_at(door: Door, state: str | None) -> None:
    shut_out(door.web, door.begin().back(state=state), 400)
    assert door.liar.forms == []


def test_a_cookie_with_half_a_character_is_none() -> None:
    kept = {"provider": "company", "state": "\ud800", "nonce": "n", "verifier": "v", "next": "/"}
    assert pending_in(base64.urlsafe_b64encode(json.dumps(kept).encode()).decode()) is None
    assert pending_in(base64.urlsafe_b64encode(json.dumps({**kept, "state": "s"}).encode()).decode()) is not None


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "W10=", base64.b64encode(b"[" * 2900).decode(), "x" * 5000])
def test_a_cookie_that_we_did_not_set_is_none(door: Door, cookie: str) -> None:
    begun = door.begin()
    door.web.cookies.clear()
    sent = {"code": "a code", "state": begun.asked["state"], "iss": door.liar.issuer}
    answer = door.web.get("/sign-on/company/callback", params=sent, headers={"Cookie": f"crewlearn_sign_on={cookie}"})
    shut_out(door.web, answer, 400)


def test_a_code_goes_to_nobody_but_its_issuer(
    store: Store, liar: HostileProvider, honest: HostileProvider, clock: Clock
) -> None:
    """The mix-up: a person is led to the honest provider, and the answer to the liar's token endpoint."""
    with client(store, settings(honest, liar)) as web:
        begun = begin(web, honest, clock)
        other = Begun(web, liar, begun.asked, "agency", begun.claims)
        shut_out(web, other.back(iss=honest.issuer), 400)  # the cookie is the honest provider's
        begun = begin(web, liar, clock, "agency")
        shut_out(web, begun.back(iss=honest.issuer))  # the liar sent them on to the honest provider
        begun = begin(web, liar, clock, "agency")
        shut_out(web, begun.back(iss=None))  # and hides that it did
        assert (liar.forms, honest.forms) == ([], [])
        begun = begin(web, liar, clock, "agency")
        begun.claims["iss"] = honest.issuer
        shut_out(web, begun.back())  # a token for the other one
        assert begin(web, liar, clock, "agency").back().status_code == 303


def test_the_same_person_of_two_providers_is_two(
    store: Store, liar: HostileProvider, honest: HostileProvider, clock: Clock
) -> None:
    with client(store, settings(honest, liar)) as web:
        assert begin(web, honest, clock).back().status_code == 303
        web.cookies.clear()
        shut_out(web, begin(web, liar, clock, "agency").back(), 409)
    assert [user.origin for user in users.list_users(store)] == [honest.issuer]


def test_user_information_is_of_the_same_person(store: Store, liar: HostileProvider, clock: Clock) -> None:
    with client(store, settings(liar)) as web:
        for told, status in (({"sub": "8"}, 401), ({}, 401), ({"sub": "7"}, 303)):
            begun = begin(web, liar, clock)
            del begun.claims["groups"]
            liar.userinfo = {**told, "groups": ["crew-leads"], "preferred_username": "root"}
            assert begun.back().status_code == status
        assert web.get(ME_PATH).json()["name"] == "ann", "what the token says stays"


def test_a_key_that_is_new_is_found_and_one_that_is_gone_forgotten(
    store: Store, liar: HostileProvider, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(store, settings(liar)) as web:
        time = [1000.0]
        monkeypatch.setattr(web.app.state.sign_on._providers["company"], "_clock", lambda: time[0])  # type: ignore[attr-defined]
        assert begin(web, liar, clock).back().status_code == 303
        assert liar.asked.count("/keys") == 1
        web.cookies.clear()
        liar.keys = [OTHER]
        for _ in range(5):  # however often: at once, it is not asked again
            begun = begin(web, liar, clock)
            shut_out(web, begun.back(signed(begun.claims, OTHER)))
        assert liar.asked.count("/keys") == 1
        time[0] += REFETCH_SECONDS + 1
        begun = begin(web, liar, clock)
        assert begun.back(signed(begun.claims, OTHER)).status_code == 303
        assert liar.asked.count("/keys") == 2
        web.cookies.clear()
        begun = begin(web, liar, clock)
        shut_out(web, begun.back(signed(begun.claims, KEY)))
        liar.keys = [KEY]
        time[0] += KEYS_SECONDS + 1
        begun = begin(web, liar, clock)
        shut_out(web, begun.back(signed(begun.claims, OTHER)))  # withdrawn, so unknown again


def test_many_wrong_answers_are_refused_for_a_while(store: Store, liar: HostileProvider, clock: Clock) -> None:
    with client(store, settings(liar)) as web:
        liar.token_status = 400
        for _ in range(MOST_FAILURES):
            shut_out(web, begin(web, liar, clock).back())
        assert begin(web, liar, clock).back().status_code == 429
        liar.token_status = 200
        assert begin(web, liar, clock).back().status_code == 303, "somebody else of the same network"


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": 7},
        {"end_session_endpoint": "http://evil.example/"},
    ],
    ids=str,
)
def test_metadata_that_lead_astray_are_not_followed(
    store: Store, liar: HostileProvider, metadata: dict[str, Any]
) -> None:
    liar.metadata = metadata
    with client(store, settings(liar)) as web:
        answer = web.get("/sign-on/company")
        assert answer.status_code == 503
        assert "does not answer at the moment" in answer.text
        assert "Your token" in answer.text, "tokens still let in"


def test_a_provider_that_is_away_or_nobodys(store: Store, liar: HostileProvider, clock: Clock) -> None:
    with client(store, settings(liar)) as web:
        begun = begin(web, liar, clock)
        liar.token_status = 500
        shut_out(web, begun.back(), 503)
        for path in ("/sign-on/other", "/sign-on/other/callback", "/sign-on/company/elsewhere"):
            assert web.get(path).status_code == 404
    with client(store) as web:
        assert web.get("/sign-on/company").status_code == 404
        assert "/sign-on/" not in web.get("/sign-in").text


def test_the_provider_says_no(
    store: Store, liar: HostileProvider, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = "denied\r\n2026-01-01T00:00:00.000 GET / 200 <script>alert(1)</script>"
    with client(store, settings(liar)) as web:
        answer = begin(web, liar, clock).back(code=None, error=hostile, error_description=hostile)
        shut_out(web, answer, 403)
        assert "<script>alert" not in answer.text
        shut_out(web, begin(web, liar, clock).back(code=None))
    said = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(said) == 2
    assert not [text for text in said if "\n" in text or "\r" in text]


@pytest.mark.parametrize("next", ["//evil.example", "https://evil.example/", "/\\evil.example", "/sign-out", "/\t/x"])
def test_one_is_led_to_our_own_pages_only(door: Door, next: str) -> None:
    door.begin()
    assert begin(door.web, door.liar, door.clock, next=next).back().headers["location"] == "/"
    begun = door.begin()
    pending = json.loads(base64.urlsafe_b64decode(door.web.cookies["crewlearn_sign_on"]))
    forged = base64.urlsafe_b64encode(json.dumps({**pending, "next": next}).encode()).decode()
    door.web.cookies.clear()
    door.web.cookies.set("crewlearn_sign_on", forged)
    assert begun.back().headers["location"] == "/"


def test_a_session_of_before_ends_and_the_new_one_has_a_secret_of_its_own(
    store: Store, liar: HostileProvider, clock: Clock
) -> None:
    with client(store, settings(liar, session_hours=2.0)) as web:
        web.cookies.set(COOKIE, "chosen-by-somebody-else", domain="127.0.0.1")
        begin(web, liar, clock).back()
        first = {cookie.value for cookie in web.cookies.jar if cookie.name == COOKIE} - {"chosen-by-somebody-else"}
        assert len(first) == 1
        web.cookies.clear()
        (session,) = first
        web.headers.update({"Cookie": f"{COOKIE}={session}"})
        assert web.get(ME_PATH).status_code == 200
        clock.wait(hours=1.99)
        assert web.get(ME_PATH).status_code == 200
        clock.wait(hours=0.02)
        assert web.get(ME_PATH).status_code == 401


def test_signing_out_goes_on_to_the_provider_unless_it_has_no_place_for_it(
    store: Store, liar: HostileProvider, clock: Clock
) -> None:
    for changes, metadata in (({"log_out": False}, {}), ({}, {"end_session_endpoint": None})):
        liar.metadata = metadata
        with client(store, settings(liar, **changes)) as web:
            begin(web, liar, clock).back()
            answer = web.post("/sign-out")
            assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


def test_names_that_the_record_cannot_hold_are_written_otherwise(door: Door) -> None:
    for number, (name, known) in enumerate(
        [("<script>alert(1)</script>", "_script_alert_1_script_"), ("a" * 300, "a" * 100)]
    ):
        begun = door.begin()
        begun.claims |= {"preferred_username": name, "sub": f"s{number}"}
        assert begun.back().status_code == 303
        assert door.web.get(ME_PATH).json()["name"] == known


def test_sites_that_do_not_exist_are_none(store: Store, liar: HostileProvider, clock: Clock) -> None:
    liar.userinfo = {"sub": "7"}
    with client(store, settings(liar, site_claim="plants")) as web:
        for plants, status in ((["west"], 403), ([], 403), (["west", "north"], 303)):
            begun = begin(web, liar, clock)
            begun.claims["plants"] = plants
            assert begun.back().status_code == status
        assert web.get(ME_PATH).json()["sites"] == ["north"]
