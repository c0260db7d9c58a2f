"""Plans through the API and the page: they simulate what was requested, and can be cancelled."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.store import Store
from crewlearn.planning.limits import as_it_stands
from crewlearn.planning.plan import plan
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.jobs.runner import JobRunner, Progress
from support.stores import CALENDAR, ME, day, proposed, site_with_proposals, state_of
from support.web.api import Api, caller, served

SEEN = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
LIVE = [name for name in REGISTRY if name not in ("oracle", "dr-ucb+oracle-delayed-pairing", "dr-ucb-tuned")]


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    """A server that runs no jobs by itself, with a site whose learned delay has many digits."""
    site_with_proposals(store, "site", learn_delay=True, mean_delay=2.0001, horizon=60)
    first = proposed(store)[0]
    output_imports.import_output(store, "site", day(1), b"1", ME)
    commands.approve(store, "site", first, ME)
    output_imports.import_output(store, "site", day(2) + day(3) + day(4), b"2", ME)
    commands.record_offer(store, "site", first, "started", ME, on=CALENDAR.date_of(5))
    with served(store, jobs=False) as made:
        yield made


@pytest.fixture
def mia(client: TestClient) -> Api:
    return caller(client, "mia", "manager")


@pytest.fixture
def page(client: TestClient, mia: Api) -> TestClient:
    """The same server in mia's browser."""
    assert client.post("/sign-in", data={"token": mia.headers["Authorization"].split()[1]}).status_code == 303
    client.headers.update(SEEN)
    client.follow_redirects = True
    return client


def run(store: Store, job: int) -> Job:
    """Run the queued plans; return one of them."""
    while JobRunner(store, work.SIMULATIONS).run_one():
        pass
    return queue.read(store, job)


def typed(store: Store, **changes: str) -> dict[str, Any]:
    """The form as first shown, with some fields edited."""
    delay = f"{round(state_of(store).mean_delay, 3):g}"
    shown = {"team": "2", "fee": "5", "horizon": "60", "mean_delay": delay, "runs": "20", "policies": "dr-ucb"}
    return {**shown, **changes}


def asked(page: TestClient, form: dict[str, Any]) -> int:
    """Submit a plan on the page; return its number."""
    response = page.post("/sites/site/plan", data=form)
    assert response.status_code == 200, response.text
    return int(response.url.path.rpartition("/")[2])


def test_as_the_site_stands_is_what_the_room_below_says(store: Store, mia: Api, page: TestClient) -> None:
    now = state_of(store)
    assert round(now.mean_delay, 3) != now.mean_delay, "otherwise rounding would change nothing"
    by_api = mia.post("/sites/site/plan", {"runs": 20}, 202)
    assert by_api["input"] == {
        "team": 2,
        "fee": 5.0,
        "horizon": 60,
        "mean_delay": now.mean_delay,
        "policy": "value-of-replacement",
        "least_tenure": 0,
        "most_a_week": None,
        "policies": ["value-of-replacement", "dr-ucb", "keep-team"],
        "runs": 20,
        "seed": 1,
        "version": mia.get("/sites/site")["version"],
    }
    done = run(store, by_api["id"])
    expected = json.loads(json.dumps(plan(now, runs=20).to_json()))
    assert done.result == {"version": by_api["input"]["version"], **expected}
    by_page = run(store, asked(page, typed(store)))
    assert by_page.result["changes"] == {}
    assert by_page.result == {
        "version": done.result["version"],
        **json.loads(json.dumps(plan(now, ["dr-ucb"], runs=20).to_json())),
    }
    assert "With the settings as they are" in page.get(f"/sites/site/plan/{by_page.id}").text


@pytest.mark.parametrize("way", ["api", "page"])
def test_settings_changed_meanwhile_do_not_change_what_is_simulated(
    store: Store, mia: Api, page: TestClient, way: str
) -> None:
    before = as_it_stands(state_of(store))
    if way == "api":
        job = mia.post("/sites/site/plan", {"runs": 20, "team": 3, "fee": 8.0}, 202)["id"]
    else:
        job = asked(page, typed(store, team="3", fee="8"))
    since = {"team": 5, "fee": 8.0, "horizon": 200, "mean_delay": 9.0, "learn_delay": False, "policy": "dr-ucb"}
    commands.change_site(store, "site", since, ME)
    done = run(store, job)
    now = state_of(store)
    wanted = {**before, "team": 3}
    for name in ("fee", "least_tenure", "most_a_week"):
        del wanted[name]  # equal to the site's
    assert done.result["changes"] == wanted
    assert (done.result["team"], done.result["fee"]) == (3, 8.0)
    assert done.result["mean_delay"] == before["mean_delay"]
    assert done.result["periods"] == 60 - now.period + 1
    assert done.result["own"] == "value-of-replacement"
    assert done.result["version"] == mia.get("/sites/site")["version"] > done.input["version"]
    shown = page.get(f"/sites/site/plan/{job}").text
    assert "Stations: 3" in shown
    assert 'name="team" type="text" value="3"' in shown
    assert 'name="horizon" type="text" value="60"' in shown
    assert "changed since" not in shown, "the current site is simulated, not the one at the time of the request"
    commands.change_site(store, "site", {"fee": 9.0}, ME)
    shown = page.get(f"/sites/site/plan/{job}").text
    assert f"after event {done.result['version']}" in shown
    assert "changed since" in shown


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"policies": ["dr-ucb", "oracle"]}, "policies"),
        ({"policies": ["dr-ucb+oracle-delayed-pairing"]}, "policies"),
        ({"policies": ["dr-ucb:gama=3"]}, "policies"),
        ({"horizon": 1}, "horizon"),
        ({"runs": 100_000, "horizon": 100_000, "policies": ["dr-ucb"]}, "runs"),
    ],
)
def test_what_cannot_be_simulated_is_refused_when_it_is_asked_for(
    store: Store, mia: Api, page: TestClient, wrong: dict[str, Any], field: str
) -> None:
    problem = mia.post("/sites/site/plan", wrong, 422)
    assert [error["field"] for error in problem["errors"]] == [field]
    form = {**typed(store), **{name: value if isinstance(value, list) else str(value) for name, value in wrong.items()}}
    response = page.post("/sites/site/plan", data=form)
    assert response.status_code == 422
    assert f'id="{field}-wrong"' in response.text
    remedy = problem["errors"][0]["remedy"].replace("'", "&#39;")
    assert remedy in response.text, "the page says the same"
    assert queue.jobs_of(store, "site") == []


def test_names_that_would_help_are_listed_once_and_can_be_chosen(store: Store, mia: Api, page: TestClient) -> None:
    commands.change_site(store, "site", {"policy": "dr-ucb"}, ME)
    by_api = mia.post("/sites/site/plan", {"policies": ["dr-ubc"]}, 422)["errors"][0]["remedy"]
    by_page = page.post("/sites/site/plan", data=typed(store, policies="dr-ubc")).text
    by_settings = mia.send("PATCH", "/sites/site", json={"policy": "dr-ubc"}, headers={"If-Match": "*"}).json()
    for remedy in (by_api, by_page, by_settings["errors"][0]["remedy"]):
        listed = remedy.partition("Known: ")[2].partition("<")[0].split(", ")
        assert listed == LIVE


def test_no_caller_has_the_server_import_what_they_name(store: Store, page: TestClient) -> None:
    for policy in ("antigravity:x", "os:getcwd"):
        assert "unknown" in page.post("/sites/site/plan", data=typed(store, policies=policy)).text
        form = {**typed(store), "low": "0", "high": "100", "value_per_unit": "1", "policy": policy}
        assert "unknown; Known: dr-ucb," in page.post("/sites/site/settings", data=form).text


# --- cancelling


def test_cancelling_by_the_api(client: TestClient, store: Store, mia: Api) -> None:
    job = mia.post("/sites/site/plan", {"runs": 20}, 202)
    path = f"/jobs/{job['id']}"
    viewer = caller(client, "vic", "viewer")
    assert "takes the role manager" in viewer.call("DELETE", path, 403)["detail"]
    site_with_proposals(store, "south")
    caller(client, "olga", "admin", ["south"]).call("DELETE", path, 404)
    ended = mia.call("DELETE", path)
    assert (ended["status"], ended["message"], ended["result"]) == ("cancelled", "cancelled by mia", None)
    assert ended["finished"] is not None
    assert caller(client, "ann", "admin").call("DELETE", path) == ended, "repeating it changes nothing"
    assert mia.get(path) == ended
    assert run(store, job["id"]).status == "cancelled"
    again = mia.post("/sites/site/plan", {"runs": 20}, 202)
    assert again["id"] != job["id"], "a cancelled job can be submitted again"
    assert run(store, again["id"]).status == "done"
    problem = mia.call("DELETE", f"/jobs/{again['id']}", 409)
    assert "is over: it is done" in problem["detail"]
    mia.call("DELETE", "/jobs/999", 404)
    mia.call("DELETE", "/jobs/0", 422)


def test_an_import_is_cancelled_before_it_begins_or_not_at_all(store: Store, mia: Api, page: TestClient) -> None:
    options = {"mapping": {}, "correct": False}
    texts = (f"date,worker_id,units\n{CALENDAR.date_of(5)},{worker},44\n".encode() for worker in "ba")
    waiting, begun = (queue.submit(store, "site", work.OUTPUT_IMPORT, "mia", options, text).id for text in texts)
    assert "Cancel</button>" in page.get(f"/sites/site/import/{waiting}").text
    shown = page.post(f"/sites/site/jobs/{waiting}/cancel").text
    assert "Nothing was recorded" in shown
    assert "cancelled by mia" in shown
    with pytest.raises(InvalidInput, match="has no file any more"):
        queue.file_of(store, waiting)
    answers: list[Any] = []

    def taking_in(store: Store, job: Job, progress: Progress) -> Any:
        assert "Cancel</button>" not in page.get(f"/sites/site/import/{begun}").text
        answers.append(mia.call("DELETE", f"/jobs/{begun}", 409)["detail"])
        answers.append(page.post(f"/sites/site/jobs/{begun}/cancel").text)
        return work.run_import(store, job, progress)

    assert JobRunner(store, {work.OUTPUT_IMPORT: taking_in}).run_one()
    for answer in answers:
        assert "one transaction, which cannot be stopped" in answer
        assert "by importing the right ones" in answer
    done = queue.read(store, begun)
    assert (done.status, done.result["recorded"]) == ("done", 1)


def test_cancelling_by_a_button(client: TestClient, store: Store, mia: Api, page: TestClient) -> None:
    job = asked(page, typed(store))
    path = f"/sites/site/plan/{job}"
    assert f'action="/sites/site/jobs/{job}/cancel"' in page.get(path).text
    assert "Cancel</button>" not in page.get(path, headers=caller(client, "vic", "viewer").headers).text
    shown = page.post(f"/sites/site/jobs/{job}/cancel")
    assert shown.url.path == path
    assert "The simulation was cancelled by mia." in shown.text
    assert "Cancel</button>" not in shown.text
    check = queue.submit(store, "site", work.VERIFY, "mia", {}).id
    assert f'action="/sites/site/jobs/{check}/cancel"' in page.get("/sites/site/record").text
    shown = page.post(f"/sites/site/jobs/{check}/cancel")
    assert shown.url.path == "/sites/site/record"
    assert '<span class="chip">cancelled by mia</span>' in shown.text
    done = mia.post("/sites/site/plan", {"runs": 2}, 202)["id"]
    run(store, done)
    assert "is over" in page.post(f"/sites/site/jobs/{done}/cancel").text
    site_with_proposals(store, "south")
    assert page.post(f"/sites/south/jobs/{done}/cancel").status_code == 404
    other = caller(client, "vera", "viewer").headers
    assert client.post(f"/sites/site/jobs/{done}/cancel", headers=other).status_code == 403
