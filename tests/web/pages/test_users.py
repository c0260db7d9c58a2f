"""The Users pages do what `crewlearn users` does, for admins of all sites only; and the Webhooks pages of a site."""

import re
from html import unescape

from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.notices.deliveries import list_deliveries
from support.web.app import bearer
from support.web.pages import HOSTILE, browser, pages_store, set_up

store = pages_store


def secret_in(page: str) -> str:
    match = re.search(r'<code class="secret">([^<]+)</code>', page)
    assert match is not None
    return unescape(match[1])


def test_a_user_from_the_first_day_to_the_last(store: Store) -> None:
    set_up(store, "hall")
    set_up(store, "dock")
    admin = browser(store, "admin")
    said = admin.post("/users", {"name": "Ben O", "role": "viewer", "where": "some", "sites": ["hall"]})
    assert "Ben O is added" in said
    assert (users.get(store, "Ben O").role, users.get(store, "Ben O").sites) == ("viewer", ("hall",))
    shown = admin.post("/users/Ben%20O/tokens", {"days": "30", "label": "till"})
    token = secret_in(shown)
    assert token not in admin.get("/users/Ben%20O"), "it is shown once"
    stranger = admin.client
    stranger.cookies.clear()
    assert stranger.get("/api/v1/me", headers=bearer(token)).json()["sites"] == ["hall"]

    admin = browser(store, "admin")
    admin.post("/users/Ben%20O", {"role": "manager", "where": "all"})
    assert (users.get(store, "Ben O").role, users.get(store, "Ben O").sites) == ("manager", None)
    link = secret_in(admin.post("/users/Ben%20O/link", {}))
    assert "/sign-in/once?code=" in link
    admin.post(f"/users/Ben%20O/tokens/{users.get(store, 'Ben O').tokens[0].id}/revoke", {})
    assert users.get(store, "Ben O").tokens[0].revoked is not None
    assert "Ben O is blocked" in admin.post("/users/Ben%20O/disable", {})
    assert users.get(store, "Ben O").disabled
    assert "Unblock" in admin.get("/users/Ben%20O")
    assert "is disabled; first run" in admin.post("/users/Ben%20O/link", {}), "a page that was opened before"
    admin.post("/users/Ben%20O/enable", {})
    assert not users.get(store, "Ben O").disabled
    assert "0 tokens revoked" in admin.post("/users/Ben%20O/revoke", {})


def test_a_link_is_told_apart_from_a_token_in_every_language(store: Store) -> None:
    admin = browser(store, "admin")
    users.add(store, "Ben", "viewer")
    for code in ("en", "de", "es", "fr"):
        admin.client.headers["Accept-Language"] = code
        assert "Authorization: Bearer" not in admin.post("/users/Ben/link", {}), code
        assert "Authorization: Bearer" in admin.post("/users/Ben/tokens", {"days": "1", "label": ""}), code


def test_what_is_refused_is_told_at_its_field(store: Store) -> None:
    set_up(store, "hall")
    admin = browser(store, "admin")
    before = len(users.list_users(store))
    wrong = admin.post("/users", {"name": HOSTILE, "role": "viewer", "where": "all"}, 422)
    assert "must be letters" in wrong
    assert HOSTILE not in wrong
    assert "at least one site" in admin.post("/users", {"name": "bo", "role": "viewer", "where": "some"}, 422)
    assert "exists already" in admin.post("/users", {"name": "admin 0", "role": "viewer", "where": "all"}, 422)
    assert len(users.list_users(store)) == before
    assert "No token was made" in admin.post("/users/admin%200/tokens", {"days": "many"}, 422)
    assert len(users.get(store, "admin 0").tokens) == 1
    admin.get("/users/nobody", 404)


def test_only_admins_of_all_sites_see_users_and_only_admins_webhooks(store: Store) -> None:
    set_up(store, "hall")
    for role, sites in (("viewer", None), ("manager", None), ("admin", ["hall"])):
        user = browser(store, role, sites)
        user.get("/users", 403)
        user.post("/users", {"name": "x", "role": "admin", "where": "all"}, 403)
        assert "/users" not in user.get("/")
        user.get("/sites/hall/webhooks", 200 if role == "admin" else 403)
    assert "x" not in [user.name for user in users.list_users(store)]


def test_a_webhook_by_its_pages(store: Store) -> None:
    set_up(store, "hall")
    admin = browser(store, "admin", ["hall"])
    assert "/sites/hall/webhooks" in admin.get("/sites/hall/settings")
    url = "https://example.org/hook?<script>"
    shown = admin.post("/sites/hall/webhooks", {"url": url, "kinds": ["advice.new", "trend.found"]})
    secret = secret_in(shown)
    assert "<script>" not in shown.replace('<script src="/static', "")
    (hook,) = webhooks.list_webhooks(store, "hall")
    assert (hook.url, hook.kinds) == (url, ("advice.new", "trend.found"))
    assert secret not in admin.get(f"/sites/hall/webhooks/{hook.id}")
    assert secret_in(admin.post(f"/sites/hall/webhooks/{hook.id}/secret", {})) != secret
    admin.post(f"/sites/hall/webhooks/{hook.id}/test", {})
    (sent,) = list_deliveries(store, "hall", hook.id)
    assert "waiting" in admin.post(f"/sites/hall/webhooks/{hook.id}/deliveries/{sent.id}/retry", {})
    assert "Nothing was done" in admin.post(f"/sites/hall/webhooks/{hook.id}/deliveries/x/retry", {})
    assert "must name at least one" in admin.post("/sites/hall/webhooks", {"url": "https://example.org/b"}, 422)
    assert "must begin with https" in admin.post(
        "/sites/hall/webhooks", {"url": "http://example.org/", "kinds": ["advice.new"]}, 422
    )
    admin.post(f"/sites/hall/webhooks/{hook.id}/remove", {})
    assert webhooks.list_webhooks(store, "hall") == []
    admin.get(f"/sites/hall/webhooks/{hook.id}", 404)
