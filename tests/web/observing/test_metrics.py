"""What Prometheus collects: counts of requests and imports, and figures of the store."""

import time
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api import metrics
from crewlearn.web.jobs import queue
from support.stores import ME
from support.web.app import Clock, bearer, client, token_of, two_sites

store = two_sites


@pytest.fixture
def quiet(store: Store) -> Iterator[TestClient]:
    """A client of a server that runs no jobs."""
    with client(store) as web:
        web.app.state.jobs.stop()  # type: ignore[attr-defined]  # the application that the client was given
        yield web


def figures(web: TestClient, token: str) -> dict[tuple[str, ...], float]:
    """Return every sample by its name and the values of its labels, in the order of the labels' names."""
    answer = web.get("/metrics", headers=bearer(token))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route(store: Store, quiet: TestClient) -> None:
    token = token_of(store, "prometheus", "viewer")
    before = figures(quiet, token)
    for site in ("north", "south", "nowhere"):
        quiet.get(f"/api/v1/sites/{site}/status", headers=bearer(token))
    quiet.head("/api/v1/sites/north/status", headers=bearer(token))
    quiet.get("/static/app.css")
    quiet.get("/whatever/a/stranger/asks")
    quiet.request("BREW", "/pot")
    after = figures(quiet, token)

    def more(*sample: str) -> float:
        return after.get(sample, 0.0) - before.get(sample, 0.0)

    route = "/api/v1/sites/{site}/status"
    assert more("crewlearn_requests_total", "GET", route, "200") == 2
    assert more("crewlearn_requests_total", "GET", route, "404") == 1
    assert more("crewlearn_requests_total", "HEAD", route, "200") == 1
    assert more("crewlearn_requests_total", "GET", "/static", "200") == 1
    assert more("crewlearn_requests_total", "GET", "other", "404") == 1
    assert (
        more("crewlearn_requests_total", "other", "other", "405")
        + more("crewlearn_requests_total", "other", "other", "404")
        == 1
    )
    assert more("crewlearn_request_seconds_count", "GET", route) == 3
    assert more("crewlearn_request_seconds_bucket", "+Inf", "GET", route) == 3
    assert after["crewlearn_requests_under_way",] == 1, "the one that asks"
    assert "stranger" not in str(after.keys())


def test_figures_of_the_store_are_those_of_its_tables(store: Store, quiet: TestClient, clock: Clock) -> None:
    token = token_of(store, "prometheus", "viewer")
    csv = {**bearer(token_of(store, "mia", "admin")), "Content-Type": "text/csv"}
    north = "/api/v1/sites/north"
    before = figures(quiet, token)
    for content, status in (("worker_id\na\nb\nc\n", 200), ("worker_id\na\na\n", 422)):
        assert quiet.post(f"{north}/workers/csv", content=content, headers=csv).status_code == status
    queue.submit(store, "north", "verify", ME, {})
    queue.submit(store, "south", "verify", ME, {})
    now = figures(quiet, token)
    assert now["crewlearn_sites",] == 2
    with store.reading() as connection:
        events = sum(store.site(connection, site)[2] for site in ("north", "south"))
    assert now["crewlearn_events",] == events
    assert now["crewlearn_store_bytes",] > 10_000
    assert now["crewlearn_jobs", "verify", "queued"] == 2
    assert 0 <= now["crewlearn_oldest_queued_job_seconds", "verify"] < 60
    assert now["crewlearn_deliveries_waiting",] == 0
    for outcome in ("recorded", "refused"):
        sample = ("crewlearn_imports_total", outcome)
        assert now[sample] - before.get(sample, 0.0) == 1, outcome
    age = now["crewlearn_advice_age_seconds", "north"]
    assert age == pytest.approx(time.time() - clock.now.timestamp(), abs=60), "the test's clock stands still"
    assert ("crewlearn_advice_age_seconds", "south") not in now


def test_figures_take_a_user_of_all_sites(store: Store, quiet: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    french = quiet.get("/metrics", headers={"Accept-Language": "fr"})
    assert (french.status_code, french.json()["detail"]) == (401, quiet.get("/metrics").json()["detail"])
    limited = quiet.get("/metrics", headers=bearer(token_of(store, "bob", "admin", ["north"])))
    assert limited.status_code == 403
    assert "bob is limited to some" in limited.json()["detail"]
    monkeypatch.setattr(metrics, "meters", lambda: None)
    missing = quiet.get("/metrics", headers=bearer(token_of(store, "ann", "viewer")))
    assert missing.status_code == 404
    assert "pip install 'crewlearn[server]'" in missing.json()["detail"]


def test_a_server_without_its_store_is_alive_and_not_ready(store: Store, quiet: TestClient) -> None:
    assert quiet.get("/api/v1/health").json()["status"] == "ok"
    gone = Store(make_engine("postgresql://nobody@127.0.0.1:1/none"), store.derive)  # nothing listens at port 1
    quiet.app.state.store = gone  # type: ignore[attr-defined]  # the application that the client was given
    assert quiet.get("/api/v1/health/live").json() == {"status": "ok"}
    unready = quiet.get("/api/v1/health")
    assert (unready.status_code, unready.headers["content-type"]) == (503, "application/problem+json")
    assert quiet.get("/metrics", headers=bearer("crew_any")).status_code == 503
