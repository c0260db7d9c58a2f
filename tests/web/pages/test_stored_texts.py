"""Texts that people and programs store are words on every page, and never marks of HTML."""

from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from support.web.api import SETTINGS, caller, served
from support.web.app import BASE
from support.web.pages import Browser, crawl, pages_store

store = pages_store


def mark(name: str) -> str:
    """A text that would become an element, end an attribute or leave a script, and says where it was stored."""
    return f"</script>'\"><xss id={name}>"


STORED = ("id", "name", "note", "reason", "label", "hook", "issuer")


def test_stored_texts_are_words_on_every_page(store: Store) -> None:
    with served(store, jobs=False) as client:
        mia = caller(client, "mia", "admin")
        mia.post("/sites", {"site": "north", "settings": SETTINGS}, 201)
        home = "/sites/north"
        crew = [
            {
                "worker_id": worker if worker != "c" else mark("id"),
                "name": mark("name"),
                "active": worker in "ac",
                "prior_n": 30,
                "prior_mean": 10.0 if worker in "ac" else 95.0,
            }
            for worker in "abcd"
        ]
        mia.post(f"{home}/workers", {"workers": crew})
        mia.post(f"{home}/notes", {"worker_id": "a", "text": mark("note")})
        proposal = mia.get(f"{home}/advice")["proposals"][0]["id"]
        mia.post(f"{home}/proposals/{proposal}/rejection", {"reason": mark("reason")})
        mia.post(f"{home}/webhooks", {"url": "https://example.org/" + mark("hook").replace(" ", "+")}, 201)
        users.new_token(store, "mia", label=mark("label"))
        users.join(store, "mia", "https://example.org/" + mark("issuer"), mark("subject"))
        token = users.new_token(store, "mia")[1]
        with TestClient(client.app, base_url=BASE) as web:
            assert web.post("/sign-in", data={"token": token}).status_code == 200
            pages = crawl(Browser(web))
    for path, text in pages.items():
        assert "<xss" not in text, path
    everywhere = "\n".join(pages.values())
    missing = [name for name in STORED if f"&lt;xss id={name}" not in everywhere.replace("xss+id", "xss id")]
    assert not missing, "these are shown nowhere, so they were not tried"
