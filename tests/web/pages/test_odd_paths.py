"""Addresses with characters that PostgreSQL cannot store say that there is nothing, on both databases."""

from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from support.web.pages import browser, set_up


def test_an_address_with_nul_leads_nowhere(store: Store) -> None:
    set_up(store, "hall")
    hook, _ = webhooks.add(store, "hall", "https://example.org/", "ann")
    admin = browser(store, "admin")
    admin.get("/users/%00", 404)
    admin.post("/users/%00", {"role": "viewer", "where": "all"}, 404)
    for action in ("tokens", "revoke", "link", "disable", "enable"):
        admin.post(f"/users/%00/{action}", {}, 404)
    said = admin.post(f"/sites/hall/webhooks/{hook.id}/deliveries/%00/retry", {})
    assert "is not a delivery" in said
