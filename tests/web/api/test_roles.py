"""Roles in the API; users and their tokens."""

from typing import Any

from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from support.web.api import SETTINGS, Api, caller, everything, rows, served, with_crew

ROUTES = [
    ("GET", "/sites", "viewer"),
    ("POST", "/sites", "admin everywhere"),
    ("POST", "/new-sites/csv", "admin everywhere"),
    ("GET", "/sites/{site}", "viewer"),
    ("PATCH", "/sites/{site}", "manager"),
    ("GET", "/sites/{site}/status", "viewer"),
    ("GET", "/sites/{site}/advice", "viewer"),
    ("GET", "/sites/{site}/proposals", "viewer"),
    ("GET", "/sites/{site}/proposals/{proposal}", "viewer"),
    ("GET", "/sites/{site}/proposals/{proposal}/explanation", "viewer"),
    ("POST", "/sites/{site}/proposals/{proposal}/approval", "manager"),
    ("POST", "/sites/{site}/proposals/{proposal}/rejection", "manager"),
    ("POST", "/sites/{site}/proposals/{proposal}/offer", "manager"),
    ("POST", "/sites/{site}/answers", "manager"),
    ("POST", "/sites/{site}/undo", "manager"),
    ("GET", "/sites/{site}/workers", "viewer"),
    ("POST", "/sites/{site}/workers", "manager"),
    ("POST", "/sites/{site}/workers/csv", "manager"),
    ("POST", "/sites/{site}/notes", "manager"),
    ("GET", "/sites/{site}/workers/{worker_id}", "viewer"),
    ("PATCH", "/sites/{site}/workers/{worker_id}", "manager"),
    ("DELETE", "/sites/{site}/workers/{worker_id}", "admin"),
    ("GET", "/sites/{site}/team", "viewer"),
    ("POST", "/sites/{site}/team", "manager"),
    ("POST", "/sites/{site}/team/arrivals", "manager"),
    ("POST", "/sites/{site}/team/departures", "manager"),
    ("POST", "/sites/{site}/team/stints", "manager"),
    ("POST", "/sites/{site}/team/csv", "manager"),
    ("GET", "/sites/{site}/output", "viewer"),
    ("POST", "/sites/{site}/output", "manager"),
    ("POST", "/sites/{site}/output/csv", "manager"),
    ("GET", "/sites/{site}/profiles", "viewer"),
    ("DELETE", "/sites/{site}/profiles/{profile}", "manager"),
    ("GET", "/sites/{site}/output/imports", "viewer"),
    ("POST", "/sites/{site}/output/imports/{number}/undo", "manager"),
    ("GET", "/sites/{site}/ledger/events", "viewer"),
    ("GET", "/sites/{site}/ledger/export", "viewer"),
    ("POST", "/sites/{site}/ledger/verification", "manager"),
    ("GET", "/sites/{site}/jobs", "viewer"),
    ("POST", "/sites/{site}/plan", "manager"),
    ("POST", "/sites/{site}/backtest", "manager"),
    ("POST", "/sites/{site}/pilot/plan", "manager"),
    ("GET", "/sites/{site}/pilot", "viewer"),
    ("POST", "/sites/{site}/pilot", "manager"),
    ("POST", "/sites/{site}/pilot/look", "manager"),
    ("POST", "/sites/{site}/pilot/end", "manager"),
    ("GET", "/jobs/{job}", "viewer"),
    ("DELETE", "/jobs/{job}", "manager"),
    ("GET", "/me", "viewer"),
    ("GET", "/health", "anybody"),
    ("GET", "/health/live", "anybody"),
    ("GET", "/me/digest", "viewer"),
    ("PUT", "/me/digest", "viewer"),
    ("GET", "/sites/{site}/webhooks", "admin"),
    ("POST", "/sites/{site}/webhooks", "admin"),
    ("DELETE", "/sites/{site}/webhooks/{webhook}", "admin"),
    ("POST", "/sites/{site}/webhooks/{webhook}/secret", "admin"),
    ("POST", "/sites/{site}/webhooks/{webhook}/test", "admin"),
    ("GET", "/sites/{site}/webhooks/{webhook}/deliveries", "admin"),
    ("POST", "/sites/{site}/webhooks/{webhook}/deliveries/{delivery}/retry", "admin"),
    ("GET", "/users", "admin everywhere"),
    ("PATCH", "/users/{name}", "admin everywhere"),
    ("POST", "/users/{name}/links", "admin everywhere"),
    ("DELETE", "/users/{name}/tokens", "admin everywhere"),
    ("POST", "/users", "admin everywhere"),
    ("POST", "/users/{name}/tokens", "admin everywhere"),
    ("DELETE", "/users/{name}/tokens/{token}", "admin everywhere"),
]
RANK = {"viewer": 0, "manager": 1, "admin": 2}


BODIES: dict[str, Any] = {
    "POST /sites": {"site": "another", "settings": SETTINGS},
    "PATCH /sites/{site}": {"fee": 6.0},
    "POST /sites/{site}/proposals/{proposal}/offer": {"outcome": "offered"},
    "POST /sites/{site}/answers": {"proposals": [1], "answer": "approve"},
    "POST /sites/{site}/workers": {"workers": [{"worker_id": "n"}]},
    "POST /sites/{site}/team": {"members": ["a", "b"]},
    "POST /sites/{site}/team/arrivals": {"worker_id": "a"},
    "POST /sites/{site}/team/departures": {"worker_id": "a"},
    "POST /sites/{site}/team/stints": {"stints": [{"worker_id": "a", "from": "2026-11-16"}]},
    "POST /sites/{site}/notes": {"worker_id": "a", "text": "a note"},
    "POST /sites/{site}/output": rows(1),
    "POST /sites/{site}/plan": {"runs": 2},
    "POST /sites/{site}/backtest": {"runs": 2},
    "POST /sites/{site}/pilot": {"job": 10_000},
    "POST /sites/{site}/webhooks": {"url": "https://example.org/hook"},
    "PUT /me/digest": {"chat_url": "https://example.org/chat", "sites": ["north"]},
    "POST /users": {"name": "new", "role": "viewer"},
}


def test_every_route_takes_its_role_and_no_other_sites_are_seen(store: Store) -> None:
    with served(store, jobs=False) as client:
        mia = caller(client, "mia", "admin")
        with_crew(mia, "north")
        with_crew(mia, "south")
        proposal = mia.get("/sites/north/advice")["proposals"][0]["id"]
        job = mia.post("/sites/north/ledger/verification", None, 202)["id"]
        documented = {
            (method.upper(), path.removeprefix("/api/v1"))
            for path, item in mia.contract.document["paths"].items()
            for method in item
        }
        assert {(method, path) for method, path, _ in ROUTES} == documented
        names = {
            "site": "north",
            "proposal": proposal,
            "worker_id": "a",
            "job": job,
            "name": "mia",
            "token": 10_000,
            "number": 10_000,
            "profile": "labor report",
            "webhook": 10_000,
            "delivery": "0" * 32,
        }
        callers = [
            (role, where, caller(client, f"{role}-{where}", role, None if where == "all" else [where]))
            for role in RANK
            for where in ("all", "north", "south")
        ]
        for method, path, needed in ROUTES:
            role, _, everywhere = needed.partition(" ")
            before = everything(store)
            body = {"json": BODIES.get(f"{method} {path}", {})} if method in ("POST", "PATCH", "PUT") else {}
            if path.endswith("csv"):
                body = {"content": b"?", "headers": {"Content-Type": "text/csv"}}
            stranger = client.request(method, f"/api/v1{path.format(**names)}", **body)
            assert (stranger.status_code == 401) == (role != "anybody"), path
            for caller_role, where, api in callers:
                may = role == "anybody" or (RANK[caller_role] >= RANK[role] and (not everywhere or where == "all"))
                sees = where != "south" or not ("{site}" in path or "{job}" in path)
                if may and sees:
                    continue
                status = api.send(method, path.format(**names), **body).status_code
                assert status == (403 if sees else 404), (method, path, caller_role, where, status)
            assert everything(store) == before, f"{method} {path} wrote for somebody who may not"
            for caller_role, where, api in callers:  # a caller with the role gets past the check, whatever the response
                if (
                    role != "anybody"
                    and RANK[caller_role] >= RANK[role]
                    and where != "south"
                    and (not everywhere or where == "all")
                ):
                    if method == "DELETE":
                        continue
                    assert api.send(method, path.format(**names), **body).status_code not in (401, 403), (method, path)
        south = callers[2][2]
        assert [site["site"] for site in south.get("/sites")["items"]] == ["south"]
        assert "north" not in south.get("/sites/north", 404)["detail"].replace("site north:", "")


def test_users_and_tokens_for_admins(client: TestClient, mia: Api, store: Store) -> None:
    mia.post("/sites", {"site": "north", "settings": SETTINGS}, 201)
    ann = caller(client, "ann", "admin")
    new = {"name": "bo", "role": "viewer", "sites": ["north"]}
    assert ann.post("/users", new, 201)["sites"] == ["north"]
    assert ann.post("/users", new)["name"] == "bo"
    assert ann.post("/users", {**new, "role": "admin"}, 409)["errors"][0]["field"] == "user"
    assert ann.post("/users", {**new, "name": "cy", "sites": ["west"]}, 422)["errors"][0]["field"] == "site"
    shown = ann.post("/users/bo/tokens", {"days": 1, "label": "till"}, 201)
    bo = Api(client, {"Authorization": f"Bearer {shown['token']}"}, ann.contract)
    assert bo.get("/me") == {"name": "bo", "role": "viewer", "sites": ["north"]}
    listed = next(user for user in ann.all("/users", limit=1) if user["name"] == "bo")
    assert [token["label"] for token in listed["tokens"]] == ["till"]
    assert shown["token"] not in ann.send("GET", "/users").text
    assert ann.call("DELETE", f"/users/bo/tokens/{shown['id']}", 204) == ""
    bo.get("/me", 401)
    ann.post("/users/nobody/tokens", {}, 404)
    ann.call("DELETE", "/users/bo/tokens/999", 404)
    ann.post("/users/%00/tokens", {}, 404)
    assert users.get(store, "bo").tokens[0].revoked is not None
