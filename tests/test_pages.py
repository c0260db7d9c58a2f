"""The pages in process: who sees what, forms that change things, hostile names, a thousand workers, no dead links."""

import base64
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor import commands, imports
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.csv_in import OutputRow, WorkerRow
from crewlearn.advisor.fold import observation
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.record import standing_rows
from crewlearn.advisor.store import Store, open_store
from crewlearn.advisor.units import Units
from crewlearn.planning.demo import make_demo
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import intake, jobs, users, work
from crewlearn.web.app import make_app
from crewlearn.web.pages import sites as pages_of_sites
from crewlearn.web.reads import snapshot
from crewlearn.web.runner import Runner
from crewlearn.web.settings import Settings
from crewlearn.web.views import today as views
from crewlearn.web.views.history import Window, marks
from crewlearn.web.views.learning import narrowing
from crewlearn.web.views.reading import Reading
from stores import Database

BASE = "http://127.0.0.1:8000"
ROLES = ("viewer", "manager", "admin")
HOSTILE = "<script>alert(1)</script>"
DEMO = "Demo hall"
NOW = datetime(2026, 11, 16, 7, tzinfo=UTC)
CHANGING = re.compile(r'<form[^>]*method="post"[^>]*action="(?!/sign-out)([^"]*)"')


@dataclass
class Browser:
    """A browser that is signed in; it sends what browsers send and follows where it is sent."""

    client: TestClient

    def get(self, path: str, status: int = 200) -> str:
        found = self.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert found.status_code == status, (path, found.status_code, found.text[:500])
        return found.text

    def post(self, path: str, data: dict[str, Any], status: int = 200, **more: Any) -> str:
        found = self.send(path, data, **more)
        assert found.status_code == status, (path, found.status_code, found.text[:2000])
        return found.text

    def send(self, path: str, data: dict[str, Any], **more: Any) -> Response:
        headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
        return self.client.post(path, data=data, headers=headers, follow_redirects=True, **more)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/pages.db", lambda: NOW) as made:
        yield made


@pytest.fixture
def demo(store: Store) -> Store:
    make_demo(store, DEMO, today=date(2026, 11, 16))
    return store


def browser(store: Store, role: str = "manager", sites: list[str] | None = None) -> Browser:
    client = TestClient(make_app(store, Settings()), base_url=BASE)
    name = f"{role} {len(users.list_users(store))}"
    users.add(store, name, role, sites)
    _, token = users.new_token(store, name)
    assert client.post("/sign-in", data={"token": token}).status_code == 200
    return Browser(client)


def set_up(store: Store, name: str = "hall", **changes: Any) -> None:
    given: dict[str, Any] = {
        "team": 2,
        "fee": 5.0,
        "units": Units(0.0, 100.0),
        "calendar": WorkCalendar(start=date(2026, 11, 2)),
        "horizon": 300,
        "mean_delay": 2.0,
        "policy": "dr-ucb",
    }
    commands.create_site(store, name, SiteConfig(**{**given, **changes}), "test")


CREW = [
    WorkerRow("a", "Ann", True, prior_n=30, prior_mean=10.0),
    WorkerRow("b", "Ben", True, prior_n=30, prior_mean=50.0),
    WorkerRow("c", "Cleo", False, prior_n=30, prior_mean=90.0),
    WorkerRow("d", HOSTILE, False, prior_n=30, prior_mean=95.0),
]


def with_crew(store: Store, name: str = "hall") -> None:
    set_up(store, name)
    imports.import_workers(store, name, CREW, b"", "test")


def proposals_of(store: Store, name: str = "hall") -> list[int]:
    return [one.id for one in snapshot(store, name).site.open_proposals("proposed")]


def recorded(store: Store, name: str = "hall") -> int:
    return snapshot(store, name).version


class Links(HTMLParser):
    """The addresses a page leads to, and the ids it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("href", "src"):
            if given.get(name):
                self.found.add(str(given[name]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        assert "style" not in given, "the Content-Security-Policy forbids it"
        assert not any(name.startswith("on") for name in given)


def crawl(user: Browser) -> dict[str, str]:
    """Follow every link from the first page on; every one must lead somewhere, and to an id that is there."""
    waiting, seen, fragments = ["/"], {}, []
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        found = user.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert found.status_code == 200, (path, found.status_code)
        seen[path] = found.text if "html" in found.headers["content-type"] else ""
        if not seen[path]:
            continue
        links = Links(seen[path])
        assert len(links.ids) == len(set(links.ids)), (path, "an id stands twice")
        for link in links.found:
            address = urlsplit(urljoin(path, link))
            assert not address.netloc, f"{path} leads off this machine: {link}"
            target = address.path + (f"?{address.query}" if address.query else "")
            if address.fragment:
                fragments.append((path, target, address.fragment))
            if len([one for one in seen if "/workers/" in one]) < 12 or "/workers/" not in target:
                waiting.append(target)
    for path, target, fragment in fragments:
        if target in seen:
            assert f'id="{fragment}"' in seen[target], (path, target, fragment)
    return seen


@pytest.mark.parametrize("role", ROLES)
def test_every_link_leads_somewhere_for_everybody(demo: Store, role: str) -> None:
    set_up(demo, "empty line")
    with_crew(demo, "small hall")
    pages = crawl(browser(demo, role))
    parts = ("", "/history", "/plan", "/record") + (("/import", "/settings") if role != "viewer" else ())
    for site in ("Demo%20hall", "empty%20line", "small%20hall"):
        for part in parts:
            assert f"/sites/{site}{part}" in pages, (site, part)
    assert ("/sites/new" in pages) == (role == "admin")
    assert any("/record/export/events" in path for path in pages)
    if role == "viewer":
        for path, text in pages.items():
            assert not CHANGING.findall(text), path


def test_a_viewer_may_not_change_anything(store: Store) -> None:
    with_crew(store)
    viewer, before = browser(store, "viewer"), recorded(store)
    number = proposals_of(store)[0]
    for path in (
        f"proposals/{number}/approve",
        f"proposals/{number}/reject",
        f"proposals/{number}/offer",
        "undo",
        "workers/0",
        "workers/0/erase",
        "import",
        "settings",
        "plan",
        "record/verify",
    ):
        found = viewer.send(f"/sites/hall/{path}", {"status": "left", "outcome": "started", "sure": "yes"})
        assert found.status_code == 403, path
        assert "To the sites" in found.text
    assert recorded(store) == before
    assert viewer.send("/sites/new", {"name": "x"}).status_code == 403


def test_who_is_not_signed_in_is_asked_to(store: Store) -> None:
    with_crew(store)
    stranger = TestClient(make_app(store, Settings()), base_url=BASE)
    for path, asked in (
        ("/", ""),
        ("/sites/hall", "?next=/sites/hall"),
        ("/sites/a%20hall/history?to=9&stations=1", "?next=/sites/a%2520hall/history%3Fto%3D9%26stations%3D1"),
    ):
        found = stranger.get(path, headers={"Accept": "text/html"}, follow_redirects=False)
        assert (found.status_code, found.headers["location"]) == (303, f"/sign-in{asked}")
    assert "Your token" in stranger.get("/sign-in").text
    wrong = stranger.post("/sign-in", data={"token": "crew_wrong"})
    assert wrong.status_code == 401
    assert 'role="alert"' in wrong.text


def test_who_signs_in_goes_on_to_what_they_asked_for_and_never_elsewhere(store: Store) -> None:
    with_crew(store)
    users.add(store, "ann", "viewer")
    _, token = users.new_token(store, "ann")
    client = TestClient(make_app(store, Settings()), base_url=BASE)
    asked = client.get("/sites/hall/history?to=1", headers={"Accept": "text/html"}).text
    address = re.search(r'<input type="hidden" name="next" value="([^"]*)">', asked)
    assert address
    assert address[1] == "/sites/hall/history?to=1"
    wrong = client.post("/sign-in", data={"token": "crew_wrong", "next": address[1]})
    assert f'name="next" value="{address[1]}"' in wrong.text
    old = client.get("/sign-in/once", params={"code": "old", "next": address[1]})
    assert f'name="next" value="{address[1]}"' in old.text, "who has no good link goes on by their token"
    for wanted, gone in (
        (address[1], address[1]),
        ("", "/"),
        ("/sign-in", "/"),
        ("sites/hall", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("/\t/evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/" + "x" * 3000, "/"),
    ):
        found = client.post("/sign-in", data={"token": token, "next": wanted}, follow_redirects=False)
        assert (found.status_code, found.headers["location"]) == (303, gone), wanted
        shown = client.get("/sign-in", params={"next": wanted}).text
        assert f'name="next" value="{gone}"' in shown, wanted
        code = users.new_link(store, "ann")
        shown = client.get("/sign-in/once", params={"code": code, "next": wanted}).text
        assert f'name="next" value="{gone}"' in shown, wanted
        found = client.post("/sign-in/once", data={"code": code, "next": wanted}, follow_redirects=False)
        assert (found.status_code, found.headers["location"]) == (303, gone), wanted


def test_sites_of_others_are_not_shown(store: Store) -> None:
    with_crew(store, "mine")
    with_crew(store, "theirs")
    limited = browser(store, "manager", ["mine"])
    page = limited.get("/")
    assert "mine" in page
    assert "theirs" not in page
    assert "theirs" not in limited.get("/sites/theirs", 404).replace("/sites/theirs", "").replace("site theirs", "")


def test_a_site_is_set_up_by_its_form(store: Store) -> None:
    admin = browser(store, "admin")
    assert "There is no site yet" in admin.get("/")
    assert "crewlearn demo" in admin.get("/")
    form = {
        "name": "North (2)",
        "team": "3",
        "fee": "12,5",
        "low": "0",
        "high": "80",
        "value_per_unit": "0.5",
        "horizon": "250",
        "rolling": "yes",
        "mean_delay": "2",
        "start": "2026-11-02",
        "weekdays": ["0", "1", "2", "3", "4", "5"],
        "closures": "2026-12-25\n2026-12-26",
        "fee_due": "completion",
        "least_tenure": "5",
        "most_a_week": "",
        "ask_again_after": "10",
        "shifts_per_day": "1",
        "cutoff_hour": "0",
        "policy": "dr-ucb",
    }
    wrong = admin.post("/sites/new", {**form, "team": "three", "high": "0", "name": ""}, 422)
    assert 'id="team-wrong"' in wrong
    assert 'value="three"' in wrong
    assert "must be a whole number" in wrong
    assert 'id="name-wrong"' in wrong
    assert store.names() == []
    assert 'id="high-wrong"' in admin.post("/sites/new", {**form, "high": "0"}, 422)
    assert 'id="fee-wrong"' in admin.post("/sites/new", {**form, "fee": "1,500"}, 422)
    assert 'id="policy-wrong"' in admin.post("/sites/new", {**form, "policy": "oracle"}, 422)
    assert 'id="weekdays-wrong"' in admin.post("/sites/new", {**form, "weekdays": []}, 422)
    assert 'id="closures-wrong"' in admin.post("/sites/new", {**form, "closures": "Christmas"}, 422)

    assert "is set up" in admin.post("/sites/new", form)
    config = snapshot(store, "North (2)").site.config
    assert (config.team, config.fee, config.units.high, config.rolling, config.learn_delay) == (
        3,
        12.5,
        80.0,
        True,
        False,
    )
    assert config.calendar.weekdays == (0, 1, 2, 3, 4, 5)
    assert config.calendar.closures == (date(2026, 12, 25), date(2026, 12, 26))
    assert config.fee_due == "completion"
    assert 'id="name-wrong"' in admin.post("/sites/new", form, 422)  # the name is taken


def test_answers_are_given_and_taken_back(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    number = proposals_of(store)[0]
    assert "Nothing waits" not in manager.get("/")
    assert "Approved" in manager.post(f"/sites/hall/proposals/{number}/approve", {})
    assert snapshot(store, "hall").site.proposals[number].status == "approved"
    after = recorded(store)
    manager.post(f"/sites/hall/proposals/{number}/approve", {})  # a double click
    assert recorded(store) == after
    page = manager.get("/sites/hall")
    assert "Offers under way" in page
    assert "Who makes room" in page
    slip = snapshot(store, "hall").site.undo
    assert slip is not None
    last = {"number": str(slip["number"])}
    assert "no longer the last answer" in manager.post("/sites/hall/undo", {"number": "1"})
    assert "Taken back" in manager.post("/sites/hall/undo", last)
    assert snapshot(store, "hall").site.proposals[number].status == "proposed"
    assert "Nothing was done: there is no answer to take back: the last one" in manager.post("/sites/hall/undo", last)

    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    other = browser(store)
    said = other.post(f"/sites/hall/proposals/{number}/reject", {"reason": "no"})
    assert f"Nothing was done: proposal {number} was answered before: manager 0 approved it at 2026-11-16 07:00" in said
    assert "declined" in manager.post(
        f"/sites/hall/proposals/{number}/offer", {"outcome": "declined", "on": "2026-11-02"}
    )
    assert snapshot(store, "hall").site.proposals[number].status == "declined"
    wrong = manager.post(f"/sites/hall/proposals/{number}/offer", {"outcome": "started", "on": "tomorrow"})
    assert "must be a day" in wrong

    following = proposals_of(store)[0]
    form = {"reason": f"no {HOSTILE}", "keep_out": "yes"}
    assert "on record" in manager.post(f"/sites/hall/proposals/{following}/reject", form)
    refused = snapshot(store, "hall").site
    assert refused.workers[refused.proposals[following].into].status == "blocked"
    history = manager.get("/sites/hall/history")
    assert "approved it" in history
    assert "(taken back)" in history
    assert "rejected it: no &lt;script&gt;" in history


def test_who_started_takes_the_station_of_whom_a_person_chose(store: Store) -> None:
    with_crew(store)
    manager, number = browser(store), proposals_of(store)[0]
    proposal = snapshot(store, "hall").site.proposals[number]
    other = ({0, 1} - {proposal.out}).pop()
    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    manager.post(f"/sites/hall/proposals/{number}/offer", {"outcome": "started", "out": CREW[other].worker_id})
    roster = snapshot(store, "hall").site.roster
    assert proposal.into in roster.active
    assert other not in roster.active


def test_hostile_names_are_words(store: Store) -> None:
    with_crew(store)
    admin = browser(store, "admin")
    pages = crawl(admin)
    assert any("&lt;script&gt;alert(1)" in text for text in pages.values())
    for path, text in pages.items():
        assert HOSTILE not in text, path
    note = admin.post("/sites/hall/workers/0", {"fee": f'"{HOSTILE}'}, 422)
    assert HOSTILE not in note
    assert "fee-wrong" in note
    shown = admin.post("/sites/hall/import", {"text": f'worker_id,name,fee\nx,"{HOSTILE}",{HOSTILE}'})
    assert HOSTILE not in shown


def test_what_is_said_of_workers(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    for given, name, value in (
        ({"pinned": "yes"}, "pinned", True),
        ({"pinned": "no"}, "pinned", False),
        ({"status": "blocked"}, "status", "blocked"),
        ({"status": "left"}, "status", "left"),
        ({"status": "pool"}, "status", "pool"),
        ({"fee": "7.5"}, "fee", 7.5),
        ({"fee": ""}, "fee", None),
    ):
        manager.post("/sites/hall/workers/2", given)
        assert getattr(snapshot(store, "hall").site.workers[2], name) == value
    before = recorded(store)
    for wrong in ({"status": "gone"}, {"status": ""}, {"pinned": "maybe"}, {"pinned": ""}, {"other": "x"}, {}):
        assert "Nothing was done" in manager.post("/sites/hall/workers/2", wrong), wrong
    assert recorded(store) == before
    manager.get("/sites/hall/workers/99", 404)
    admin = browser(store, "admin")
    assert "tick that you are sure" in admin.post("/sites/hall/workers/2/erase", {})
    assert "Erased" in admin.post("/sites/hall/workers/2/erase", {"sure": "yes"})
    assert "Cleo" not in admin.get("/sites/hall")
    assert "erased" in admin.get("/sites/hall/workers/2")


def test_settings_of_somebody_who_looked_too_early_are_not_saved(store: Store) -> None:
    with_crew(store)
    first, second = browser(store), browser(store)
    forms = []
    for user in (first, second):
        page = user.get("/sites/hall/settings")
        values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
        version = re.search(r'name="version" value="([0-9a-f-]+)"', page)
        assert version
        forms.append({**values, "version": version[1], "weekdays": ["0", "1", "2", "3", "4"], "fee_due": "initiation"})
    assert "changed from now on" in first.post("/sites/hall/settings", {**forms[0], "fee": "9"})
    refused = second.post("/sites/hall/settings", {**forms[1], "team": "3"}, 412)
    assert "manager 0 changed fee to 9 (" in refused
    assert 'value="3"' in refused  # what was typed still stands
    config = snapshot(store, "hall").site.config
    assert (config.fee, config.team) == (9.0, 2)
    again = re.search(r'name="version" value="([0-9a-f-]+)"', refused)
    assert again
    second.post("/sites/hall/settings", {**forms[1], "fee": "9", "team": "3", "version": again[1]})
    assert snapshot(store, "hall").site.config.team == 3
    wrong = second.post("/sites/hall/settings", {**forms[1], "horizon": "0", "version": recorded(store)}, 422)
    assert 'id="horizon-wrong"' in wrong


def test_what_the_record_is_in_terms_of_stays(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    fixed = re.compile(r'<input id="(\w+)"[^>]* readonly')
    assert not fixed.findall(manager.get("/sites/hall/settings"))
    imports.import_output(store, "hall", [OutputRow(2, None, 1, "a", 30.0, None, "worked")], b"", "test")
    page = manager.get("/sites/hall/settings")
    assert fixed.findall(page) == ["low", "high", "hours_per_period", "start"]
    values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
    form = {**values, "weekdays": ["0", "1", "2", "3", "4"], "fee_due": "initiation", "version": recorded(store)}
    for name, value in (
        ("low", "-1"),
        ("high", "90"),
        ("hours_per_period", "8"),
        ("start", "2026-11-03"),
        ("weekdays", ["1", "2"]),
        ("closures", "2026-11-02"),
    ):
        wrong = manager.post("/sites/hall/settings", {**form, name: value}, 422)
        assert re.findall(r'class="wrong" id="(\w+)-wrong"', wrong) == [name]
    assert recorded(store) == form["version"]
    assert "changed from now on" in manager.post("/sites/hall/settings", {**form, "closures": "2026-12-25"})


def packed_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))


def upload(user: Browser, name: str, text: str, **fields: str) -> str:
    return user.post("/sites/hall/import", fields, files={"file": (name, text.encode(), "text/csv")})


def test_a_file_is_checked_shown_and_then_recorded(store: Store) -> None:
    set_up(store)
    manager = browser(store)
    page = upload(manager, "people.csv", "Badge no;Name;In team\n1;Ann;x\n2;Ben;x\n3;Cleo;\n")
    assert "3 workers will be recorded" in page
    assert "read as workers" in page
    assert not snapshot(store, "hall").site.workers
    manager.post("/sites/hall/import", {**packed_in(page), "kind": "workers", "step": "confirm"}, files={"x": b""})
    assert len(snapshot(store, "hall").site.workers) == 3

    wrong = upload(manager, "out.csv", "date,worker_id,units\n2026-11-02,1,40\n2026-11-02,2,x\n2026-11-07,9,5\n")
    assert "wrong, so nothing was recorded" in wrong
    assert re.search(r'<th scope="row" class="line">3</th>', wrong)
    assert 'class="cell-wrong">x' in wrong
    assert "Record it" not in wrong

    text = "Tag,Wer,Stück\n02.11.2026,1,40\n02.11.2026,2,50\n"
    asked = upload(manager, "out.csv", text, kind="output")
    mapping = {"column-date": "Tag", "column-worker_id": "Wer", "column-units": "Stück", "mapped_as": "output"}
    given = {**packed_in(asked), **mapping, "kind": "output"}
    found = manager.post("/sites/hall/import", {**given, "step": "check"}, files={"x": b""})
    assert "2 rows will be recorded" in found
    assert recorded(store) == 3  # set up, workers, advice: nothing else yet
    assert "2 rows recorded" in manager.post("/sites/hall/import", {**given, "step": "confirm"}, files={"x": b""})
    assert snapshot(store, "hall").site.period == 2

    again = upload(manager, "out.csv", "date,worker_id,units\n2026-11-02,1,41\n2026-11-02,2,50\n")
    assert "1 of these rows differs" in again
    assert "Replace the row on record by that of this file" in again
    given = {**packed_in(again), "kind": "output", "step": "confirm"}
    assert "are to be replaced" in manager.post("/sites/hall/import", given, files={"x": b""})
    done = manager.post("/sites/hall/import", {**given, "correct": "yes"}, files={"x": b""})
    assert "1 corrected" in done
    assert "Choose a file" in manager.post("/sites/hall/import", {"text": " "}, 422)
    lost = manager.post("/sites/hall/import", {"packed": "!!", "step": "confirm"}, 422)
    assert "got lost" in lost


def test_a_column_that_is_not_found_can_be_chosen_by_looking_at_the_rows(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    marked = re.compile(r'<select id="column-(\w+)"[^>]*aria-invalid="true"')
    rows = "".join(f"2026-11-02,a{number},40\n" for number in range(10))
    page = upload(manager, "out.csv", f"Tag,Wer,units\n{rows}", kind="output")
    assert sorted(marked.findall(page)) == ["date", "period", "worker_id"]
    assert "Worker&#39;s id: choose below which column it is. The file has Tag, Wer, units." in page
    assert "Date or Period: choose below" in page
    assert "The first rows" in page
    assert "<caption>8 of 10 rows" in page
    assert "<td>a7</td>" in page
    page = upload(manager, "out.csv", f"date,worker,units\n{rows}".replace("worker,", "worker_id,badge,", 1))
    assert marked.findall(page) == ["worker_id"], "two headers could be it"
    assert '<option value="badge">' in page
    chosen = {**packed_in(page), "kind": "output", "column-worker_id": "nobody", "step": "check"}
    page = manager.post("/sites/hall/import", chosen, files={"x": b""})
    assert marked.findall(page) == ["worker_id"]
    assert "a header that the file has once" in page


def test_too_many_in_the_team_are_told_at_their_column(store: Store) -> None:
    set_up(store)
    page = upload(browser(store), "people.csv", "worker_id,name,active\n1,Ann,yes\n2,Ben,yes\n3,Cleo,yes\n")
    assert "In the team at the start 3: the site has 2 stations; mark no more than that" in page
    assert '<th scope="col" class="cell-wrong">active' in page
    assert "The first rows" in page
    assert "<caption>3 rows" in page


def test_rows_of_people_not_known_here_are_left_out_by_a_tick(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    text = "date,worker_id,units\n2026-11-02,a,40\n2026-11-02,gone,50\n2026-11-03,,60\n"
    wrong = upload(manager, "out.csv", text)
    assert "2 things are wrong" in upload(manager, "out.csv", text.replace(",,60", ",other,60"))
    assert "and “Leave out people not known here” leaves them out" in wrong
    assert "--" not in wrong.partition("<main")[2]
    assert "skip_unknown" not in re.sub(r'name="\w+"', "", wrong)
    tick = '<input type="checkbox" name="skip_unknown" value="yes"><span>Leave out people not known here, such as'
    assert tick in wrong
    given = {**packed_in(wrong), "kind": "output", "skip_unknown": "yes"}
    found = manager.post("/sites/hall/import", {**given, "step": "check"}, files={"x": b""})
    assert "1 row will be recorded" in found
    assert "1 row of 1 worker not known here left out" in found
    assert 'name="skip_unknown" value="yes" checked' in found
    done = manager.post("/sites/hall/import", {**given, "step": "confirm"}, files={"x": b""})
    assert "1 row recorded" in done
    assert snapshot(store, "hall").site.period == 2
    people = upload(manager, "people.csv", "worker_id,name\ne,Eve\n")
    assert "skip_unknown" not in people


def submitted(store: Store, rows: list[str], **options: Any) -> int:
    """Have a file taken in by a job; give the job's number."""
    file = "\n".join(["date,worker_id,units", *rows, ""]).encode()
    job = jobs.submit(store, "hall", work.OUTPUT_IMPORT, "ann", asdict(intake.Options({}, **options)), file)
    assert Runner(store, {work.OUTPUT_IMPORT: work.run_import}).run_one()
    return job.id


def test_an_import_in_the_background_shows_what_was_wrong_as_any_other(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    rows = ["2026-11-02,a,40", "2026-11-02,b,x", "2026-11-07,9,5", "2026-11-02,gone,5"]
    page = manager.get(f"/sites/hall/import/{submitted(store, rows)}")
    small = upload(manager, "output.csv", "\n".join(["date,worker_id,units", *rows, ""]))
    fault = re.compile(r'<tr class="fault"><td class="line">\d*</td><td colspan="\d">(.*?)</td></tr>')
    (said,) = fault.findall(page)
    assert said.startswith("Output: x – expected a number such as")
    assert fault.findall(small) == [said]
    assert "Nothing was recorded" in page
    assert "output.csv has 1 error; nothing of it was used" in page
    assert '<tr class="fault"><td class="line">3</td>' in page

    page = manager.get(f"/sites/hall/import/{submitted(store, [rows[0], rows[2], rows[3]])}")
    assert "has 2 errors" in page
    assert "Date: 2026-11-07 – expected a working day" in page or "Worker&#39;s id: 9 – expected a worker" in page
    assert "(“Leave out people not known here”)" in page

    many = [f"2026-11-02,x{number},1" for number in range(150)]
    page = manager.get(f"/sites/hall/import/{submitted(store, many)}")
    assert "has 150 errors, of which the first 100 are listed" in page
    assert len(fault.findall(page)) == 100

    for check_only, said in ((True, "1 row would be recorded"), (False, "1 row recorded")):
        page = manager.get(f"/sites/hall/import/{submitted(store, rows[:1], check_only=check_only)}")
        assert said in page
        assert ("Nothing was recorded" in page) == check_only
    page = manager.get(f"/sites/hall/import/{submitted(store, ['2026-11-02,a,41'])}")
    assert "output 1 row: differs from the record" in page
    assert "a tick at the next try replaces" in page
    page = manager.get(f"/sites/hall/import/{submitted(store, rows[1:2], check_only=True)}")
    assert "cannot be recorded as it is" in page
    assert len(fault.findall(page)) == 1


def spoil(store: Store, name: str, before: str, after: str) -> None:
    """Change what is kept of a site's state behind its back, so that nothing kept in memory is current."""
    spoilt = "UPDATE sites SET state = replace(state, :old, :new), head = 'x' || substr(head, 2) WHERE name = :name"
    with store.changing() as connection:
        connection.execute(sa.text(spoilt), {"old": before, "new": after, "name": name})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            '"dr-ucb"',
            '"gone.away:Policy"',
            "Its policy, gone.away:Policy, cannot be used on this server: No module named &#39;gone&#39;.",
        ),
        ('"roster"', '"rooster"', "What is kept of it is damaged, or was written by a newer crewlearn."),
    ],
)
def test_a_site_that_cannot_be_read_hides_no_other(store: Store, before: str, after: str, said: str) -> None:
    for name in ("east", "north", "south"):
        with_crew(store, name)
    spoil(store, "north", before, after)
    admin = browser(store, "admin")
    page = admin.get("/")
    cards = page.split('<li class="card site-card">')[1:]
    assert len(cards) == 3
    assert [("cannot be read</span>" in card) for card in cards] == [False, True, False]
    assert said in cards[1]
    assert len(re.sub("<[^>]*>", "", cards[1]).split()) < 30
    assert cards[1].count('<a href="/sites/north">') == 2
    for card in (cards[0], cards[2]):
        assert "1 proposal to answer" in card or "2 proposals to answer" in card
    hidden = browser(store, "viewer", ["east"]).get("/")
    assert "north" not in hidden
    for path in ("", "/history", "/record", "/settings", "/workers/0"):
        shown = admin.get(f"/sites/north{path}", 422)
        assert said in shown
        assert "registered name" not in shown, "the long list of policies is nobody's remedy"
        assert "upgrade this one" in shown
        assert ("Check now" in shown) == ("damaged" in said), "without its policy no record can be checked"
    assert "To the sites" in shown


def test_the_record_of_a_site_that_cannot_be_read_can_be_checked(store: Store) -> None:
    with_crew(store, "north")
    spoil(store, "north", '"roster"', '"rooster"')
    admin, viewer = browser(store, "admin"), browser(store, "viewer")
    assert "Check now" in admin.get("/sites/north", 422)
    assert "Check now" not in viewer.get("/sites/north", 422)
    found = admin.post("/sites/north/record/verify", {}, 422)
    assert "The check is under way" in found
    assert Runner(store, {work.VERIFY: work.run_verify}).run_one()
    assert "✗ damaged" in admin.get("/sites/north", 422)


def test_a_site_whose_policy_fails_by_a_fault_of_its_own_hides_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with_crew(store, "east")
    with_crew(store, "north")
    plain = views.card

    def card(reading: Reading, may_manage: bool) -> views.Card:
        if reading.name == "north":
            raise ZeroDivisionError("inside")
        return plain(reading, may_manage)

    monkeypatch.setattr(pages_of_sites, "card", card)
    page = browser(store).get("/")
    assert "the server&#39;s log has more" in page
    assert "inside" not in page
    assert "inside" in caplog.text
    assert 'href="/sites/east"' in page


def test_what_was_said_is_kept_by_the_same_rules_as_the_session(store: Store) -> None:
    with_crew(store)
    users.add(store, "max", "manager")
    _, token = users.new_token(store, "max")
    for https in (False, True):
        client = TestClient(make_app(store, Settings(secure_cookies=https)), base_url=BASE, follow_redirects=False)
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
        said = client.post("/sites/hall/undo", data={"number": "1"}, headers=headers).headers["set-cookie"]
        shown = client.get("/sites/hall", headers={**headers, "Cookie": "crewlearn_said=x"}).headers["set-cookie"]
        for cookie in (said, shown):
            parts = {part.strip().lower() for part in cookie.split(";")[1:]}
            assert parts >= {"httponly", "path=/", "samesite=strict"}
            assert ("secure" in parts) == https


def test_one_is_one(store: Store) -> None:
    set_up(store, team=1)
    imports.import_workers(store, "hall", [WorkerRow("a", None, True), WorkerRow("b")], b"", "test")
    imports.import_output(store, "hall", [OutputRow(2, None, 1, "a", 30.0, None, "worked")], b"", "test")
    manager = browser(store)
    page = manager.get("/sites/hall")
    assert "1 in the team, 1 other<" in page
    assert "1 of 1 station filled" in page
    assert "Station 1 · 1 day<" in page
    for path, text in crawl(manager).items():
        assert not re.search(r"\b1 (others|errors|periods|days|rows|proposals|events|workers|stations)\b", text), path


def test_days_are_in_words_wherever_the_advice_is_told(store: Store) -> None:
    set_up(store, least_tenure=50, policy="value-of-replacement")
    imports.import_workers(store, "hall", CREW, b"", "test")
    rows = [OutputRow(2, None, 1, one, 30.0, None, "worked") for one in "ab"]
    imports.import_output(store, "hall", rows, b"", "test")
    manager = browser(store)
    assert "for the least tenure, the first to Mon 11 Jan 2027" in manager.get("/sites/hall")
    assert "was advised for Tue 3 Nov" in manager.get("/sites/hall/record")
    for path in ("/", "/sites/hall", "/sites/hall/record"):
        words = re.sub(r"<[^>]*>", "", manager.get(path))
        assert not re.search(r"\d{4}-\d{2}-\d{2}", words), path


def test_what_waits_here_is_no_link_to_here(store: Store) -> None:
    with_crew(store)
    page = browser(store).get("/sites/hall")
    waits = page.partition('id="waits"')[2].partition("</ul>")[0]
    assert "/sites/hall/import" in waits
    assert "to answer" not in waits  # the advice above says it
    seen = browser(store, "viewer").get("/sites/hall").partition('id="waits"')[2].partition("</ul>")[0]
    assert '<span class="chip wait">Output of 10 days to import</span>' in seen
    assert "<a" not in seen


def many_proposals(store: Store, team: int = 26) -> list[int]:
    """A team of poor workers with as many good ones outside: all are to be replaced."""
    set_up(store, team=team)
    crew = [WorkerRow(f"t{n}", None, True, prior_n=400, prior_mean=10.0) for n in range(team)]
    crew += [WorkerRow(f"p{n}", None, False, prior_n=400, prior_mean=80.0 + 0.1 * n) for n in range(team)]
    imports.import_workers(store, "hall", crew, b"", "test")
    return proposals_of(store)


def proposals_on(page: str) -> list[int]:
    return [int(one) for one in re.findall(r'<article class="exchange" id="proposal-(\d+)"', page)]


def test_many_proposals_are_answered_page_by_page(store: Store) -> None:
    numbers = many_proposals(store)
    assert len(numbers) == 26
    manager = browser(store)
    page = manager.get("/sites/hall")
    assert proposals_on(page) == numbers[:3]
    assert "See all 26 proposals" in page
    assert "26 replacements are proposed" in page
    seen = []
    for number in (1, 2, 3):
        page = manager.get(f"/sites/hall/proposals?page={number}")
        seen.append(proposals_on(page))
        articles = page.split("<article")[1:]
        for words in ("Why?", 'name="keep_out"', "Who makes room", "Expected to bring"):
            assert all(words in article for article in articles), words
    assert seen == [numbers[:10], numbers[10:20], numbers[20:]]
    before, answered, following = seen[1][3:6]
    assert proposals_on(manager.get("/sites/hall/proposals?page=99")) == seen[2]
    assert proposals_on(manager.get(f"/sites/hall/proposals?at={answered}")) == seen[1]

    page = manager.get("/sites/hall/proposals?page=2")
    form = re.search(rf'proposals/{answered}/approve">(.*?)<button', page, re.DOTALL)
    assert form
    found = manager.send(f"/sites/hall/proposals/{answered}/approve", packed_in(form[1]))
    assert (found.url.path, found.url.query, found.url.fragment) == (
        "/sites/hall/proposals",
        f"page=2&at={following}".encode(),
        "said",
    )
    above, _, below = found.text.partition('id="said"')
    assert proposals_on(above)[-1] == before  # it says so above the next one
    assert proposals_on(below)[0] == following
    assert "Approved" in below.partition("<article")[0]
    for name, value in (("from", "//elsewhere.example"), ("page", "1#x"), ("at", "%0d%0a")):
        given = {"from": "proposals", "page": "1", "at": "1", name: value}
        asked = manager.client.post(
            f"/sites/hall/proposals/{numbers[-1]}/reject", data={"reason": "no", **given}, follow_redirects=False
        )
        assert re.fullmatch(r"/sites/hall(/proposals\?[a-z0-9=&]*)?#said", asked.headers["location"])


def test_many_offers_are_recorded_page_by_page(store: Store) -> None:
    numbers = many_proposals(store, 14)
    manager = browser(store)
    for number in numbers:
        commands.approve(store, "hall", number, "test")
    page = manager.get("/sites/hall")
    assert page.count('aria-label="Offer to') == 3
    assert "See all 14 offers under way" in page
    assert re.search(r'id="advice">Wait: [^<]{1,90} and 11 more are on the way', page)
    second = manager.get("/sites/hall/offers?page=2")
    assert second.count('aria-label="Offer to') == 4
    given = {"outcome": "declined", "from": "offers", "page": "2", "at": "0"}
    found = manager.send(f"/sites/hall/proposals/{numbers[-1]}/offer", given)
    assert found.url.path == "/sites/hall/offers"
    assert found.text.count('aria-label="Offer to') == 3
    assert "declined" in found.text
    for path in ("history", f"workers/{snapshot(store, 'hall').site.proposals[numbers[0]].into}"):
        assert f'href="/sites/hall/offers?at={numbers[0]}#offer-{numbers[0]}"' in manager.get(f"/sites/hall/{path}")


def test_a_trial_is_shown_as_one(store: Store) -> None:
    set_up(store, policy="value-of-replacement", team=1)
    crew = [WorkerRow("a", None, True, prior_n=30, prior_mean=20.0), WorkerRow("b")]
    imports.import_workers(store, "hall", crew, b"", "test")
    (number,) = proposals_of(store)
    days = round(snapshot(store, "hall").site.proposals[number].why["policy"]["trial"])
    page = browser(store).get("/sites/hall")
    assert f"As a trial: back after about {days} day" in page


def test_who_should_have_come_was_expected(store: Store) -> None:
    with_crew(store)
    manager, number = browser(store), proposals_of(store)[0]
    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    for period, words in ((1, "expected Wed 4 Nov"), (2, "expected Wed 4 Nov"), (3, "was expected Wed 4 Nov")):
        rows = [OutputRow(2, None, period, one, 30.0, None, "worked") for one in "ab"]
        imports.import_output(store, "hall", rows, b"", "test")
        page = manager.get("/sites/hall")
        assert f"· {words} ·" in page  # with the offer
        assert re.search(rf", {words}[ <]", page)  # and in the table


def names_in(page: str) -> list[str]:
    return re.findall(r'role="rowheader"><a href="[^"]*">([^<]*)<', page)


def test_the_table_is_sorted_without_a_script(store: Store) -> None:
    with_crew(store)
    viewer = browser(store, "viewer")
    hostile = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    assert names_in(viewer.get("/sites/hall")) == ["Ann", "Ben", hostile, "Cleo"]
    for sort, names in {
        "name": [hostile, "Ann", "Ben", "Cleo"],
        "-name": ["Cleo", "Ben", "Ann", hostile],
        "station": ["Ann", "Ben", hostile, "Cleo"],
        "-station": ["Ben", "Ann", hostile, "Cleo"],
        "estimate": [hostile, "Cleo", "Ben", "Ann"],
        "-estimate": ["Ann", "Ben", "Cleo", hostile],
        "nonsense": ["Ann", "Ben", hostile, "Cleo"],
    }.items():
        page = viewer.get(f"/sites/hall?sort={sort}")
        assert names_in(page) == names, sort
        ways = re.findall(r'aria-sort="(\w+)"', page)
        assert ways == {
            "name": ["ascending"],
            "-name": ["descending"],
            "station": ["ascending"],
            "-station": ["descending"],
            "estimate": ["descending"],
            "-estimate": ["ascending"],
        }.get(sort, [])
    assert 'href="/sites/hall?sort=-estimate#people"' in viewer.get("/sites/hall?sort=estimate")
    commands.change_worker(store, "hall", "d", "test", status="left")
    assert names_in(viewer.get("/sites/hall"))[-1] == hostile  # though the best


def test_a_site_without_anybody_says_once_what_to_do(store: Store) -> None:
    set_up(store)
    manager = browser(store)
    for path, words in (("", "Import workers"), ("/history", "Import workers first")):
        page = manager.get(f"/sites/hall{path}").partition("<main")[2]
        assert page.count("<section") == 1, path
        assert page.count('href="/sites/hall/import"') == 1, path
        assert f">{words}</a>" in page, path


def test_only_who_is_in_the_team_can_be_pinned(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    assert ">Pin:" in manager.get("/sites/hall/workers/0")
    assert ">Pin:" not in manager.get("/sites/hall/workers/2")
    manager.post("/sites/hall/workers/2", {"pinned": "yes"})
    assert ">Unpin<" in manager.get("/sites/hall/workers/2")


def test_what_is_open_leads_to_where_it_is_answered(store: Store) -> None:
    with_crew(store)
    viewer, number = browser(store, "viewer"), proposals_of(store)[0]
    proposal = snapshot(store, "hall").site.proposals[number]
    for path in ("history", f"workers/{proposal.into}"):
        page = viewer.get(f"/sites/hall/{path}")
        assert f'href="/sites/hall/proposals?at={number}#proposal-{number}"' in page
        assert page.count(f'href="/sites/hall/workers/{proposal.out}"') >= 1


def until(user: Browser, path: str, words: str) -> str:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        page = user.get(path)
        if words in page:
            return page
        time.sleep(0.1)
    raise AssertionError(f"{path} never said {words}")


def test_a_check_and_a_plan_run_in_the_background(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    with manager.client:
        assert "under way" in manager.post("/sites/hall/record/verify", {})
        until(manager, "/sites/hall/record", "✓ sound")
        form = {"team": "2", "fee": "7", "horizon": "40", "mean_delay": "1", "runs": "20", "policies": ["dr-ucb"]}
        refused = manager.post("/sites/hall/plan", {**form, "policies": []}, 422)
        assert 'id="policies-wrong"' in refused
        assert "Nothing was simulated yet" in refused
        assert 'id="horizon-wrong"' in manager.post("/sites/hall/plan", {**form, "horizon": "0"}, 422)
        assert "policies-wrong" in manager.post("/sites/hall/plan", {**form, "policies": ["oracle"]}, 422)
        begun = manager.send("/sites/hall/plan", form)
        assert begun.status_code == 200
        page = until(manager, begun.url.path, "simulated worlds, against keeping")
    assert "Fee of a replacement: 7" in page
    assert "keep-team" in page
    assert re.search(r'<td role="cell" class="number fact" data-label="Better in">(over |under )?\d+%</td>', page)
    assert re.search(
        r'<td class="desk small nowrap">Mon 16 Nov 2026, \d\d:\d\d \S+</td>', manager.get("/sites/hall/record")
    )
    manager.get("/sites/hall/plan/999", 404)


def test_a_plan_that_a_program_asked_for_is_shown_too(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    with manager.client:
        asked = manager.client.post("/api/v1/sites/hall/plan", json={"runs": 20, "policies": ["dr-ucb"]})
        assert asked.status_code == 202
        page = until(manager, f"/sites/hall/plan/{asked.json()['id']}", "simulated worlds, against keeping")
    assert "With the settings as they are" in page


def test_a_thousand_workers_are_one_page(store: Store) -> None:
    set_up(store, team=200, policy="value-of-replacement")
    crew = [WorkerRow(f"W{n:04d}", f"Person {n} of many", n < 200) for n in range(1000)]
    imports.import_workers(store, "hall", crew, b"", "test")
    rows = [OutputRow(2, None, 1, f"W{n:04d}", 30.0 + n % 50, None, "worked") for n in range(200)]
    imports.import_output(store, "hall", rows, b"", "test")
    viewer = browser(store, "viewer")
    page = viewer.get("/sites/hall")
    assert len(page.encode()) < 150_000
    assert page.count("<tr") == 101
    assert "List the other 900 too" in page
    whole = viewer.get("/sites/hall?everybody=true")
    assert len(whole.encode()) < 1_500_000
    assert whole.count("<tr") == 1001
    few = viewer.get("/sites/hall?q=w0777")
    assert few.count("<tr") == 2
    assert viewer.get("/sites/hall?show=team&everybody=true").count("<tr") == 201
    viewer.get("/sites/hall/history?stations=41")


def test_the_band_of_a_worker_ends_at_the_estimate_shown_elsewhere(demo: Store) -> None:
    now = snapshot(demo, DEMO)
    reading = Reading(now, date(2026, 11, 16))
    everybody, _ = estimates_of(now.site)
    with demo.reading() as connection:
        rows = [row for _, row in standing_rows(connection, reading.key, range(len(now.site.workers)))]
    seen = sorted({row.worker for row in rows})
    assert any(now.site.workers[number].prior_n for number in seen)
    for number in seen:
        own = [row for row in rows if row.worker == number]
        values = [value for row in own if (value := observation(now.site, row)) is not None]
        mean, sd = narrowing(reading, number, values)[-1]
        assert mean == pytest.approx(everybody[number]["mean"], rel=1e-12)
        assert sd == pytest.approx(everybody[number]["sd"], rel=1e-12)
        widths = [width for _, width in narrowing(reading, number, values)]
        assert widths == sorted(widths, reverse=True)


def test_exports_are_files(demo: Store) -> None:
    viewer = browser(demo, "viewer")
    for what, ending in (("events", "jsonl"), ("decisions", "csv"), ("output", "csv"), ("workers", "csv")):
        found = viewer.client.get(f"/sites/Demo%20hall/record/export/{what}")
        assert found.headers["content-disposition"] == f'attachment; filename="Demo-hall-{what}.{ending}"'
        assert found.text.count("\n") > 9
    viewer.get("/sites/Demo%20hall/record/export/passwords", 404)


def test_where_less_is_better_and_where_the_pool_is_small(store: Store) -> None:
    set_up(store, "errors", units=Units(30.0, 0.0, 4.0))
    imports.import_workers(store, "errors", [WorkerRow(one, None, one in "ab") for one in "abc"], b"", "test")
    rows = [OutputRow(2, None, period, one, 6.0, None, "worked") for period in range(1, 6) for one in "ab"]
    imports.import_output(store, "errors", rows, b"", "test")
    set_up(store, "short", team=5)
    imports.import_workers(store, "short", [WorkerRow(one, None, True) for one in "ab"], b"", "test")
    manager = browser(store)
    assert "less is better" in manager.get("/sites/errors")
    assert "2 of 5 stations filled" in manager.get("/sites/short")
    crawl(manager)


def test_what_is_beyond_measure_is_refused_and_not_a_fault(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    huge = 99_999_999_999_999_999_999_999
    for path in (
        f"plan/{huge}",
        f"import/{huge}",
        f"workers/{huge}",
        f"history?before={huge}",
        f"record?before={huge}",
    ):
        assert manager.client.get(f"/sites/hall/{path}").status_code in (404, 422)
    assert manager.client.get(f"/sites/hall/history?to={huge}").status_code == 200
    for said in (b"[" * 2900, b'{"text":"\\ud800","tone":"","more":[]}'):
        manager.client.cookies.set("crewlearn_said", base64.urlsafe_b64encode(said).decode())
        assert manager.client.get("/sites/hall").status_code == 200
    plan = {"team": "2", "fee": "5", "horizon": "1000000000", "mean_delay": "1", "runs": "200", "policies": "dr-ucb"}
    assert "periods ahead" in manager.send("/sites/hall/plan", plan).text
    admin = browser(store, "admin")
    site = {"name": "late", "team": "2", "fee": "5", "low": "0", "high": "10", "start": "9999-12-31", "weekdays": "0"}
    assert admin.send("/sites/new", site).status_code == 422
    assert admin.send("/sites/new", {**site, "start": "2026-01-05", "weekdays": ""}).status_code == 422
    with pytest.raises(InvalidInput, match="another name"):
        commands.create_site(store, "new", snapshot(store, "hall").site.config, "ann")


@pytest.mark.parametrize("number", [2**31, 2**63, 2**64 + 1, 10**39, -(2**63) - 1])
def test_no_number_of_a_form_is_too_large_for_a_database(database: Database, number: int) -> None:
    with database.open() as store:
        with_crew(store)
        admin, before = browser(store, "admin"), recorded(store)
        page = admin.get("/sites/hall/settings")
        values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
        settings = {**values, "weekdays": ["0"], "fee_due": "initiation", "version": str(before)}
        plan = {"team": "2", "fee": "5", "horizon": "40", "mean_delay": "1", "runs": "20", "policies": "dr-ucb"}
        refused = admin.send("/sites/hall/settings", {**settings, "version": str(number)})
        assert refused.status_code == 422
        assert "must be a version as the site told it" in refused.text
        typed = [name for name in settings if name not in ("fee_due", "weekdays")]
        forms = [("settings", {**settings, name: str(number)}) for name in typed]
        forms += [("plan", {**plan, name: str(number)}) for name in plan if name != "policies"]
        forms += [("undo", {"number": str(number)}), ("workers/0", {"fee": str(number)})]
        forms += [(f"proposals/{number}/{answer}", {"outcome": "started"}) for answer in ("approve", "reject", "offer")]
        forms += [(f"workers/{number}", {"pinned": "yes"}), (f"workers/{number}/erase", {"sure": "yes"})]
        for path, form in forms:
            assert admin.send(f"/sites/hall/{path}", form).status_code < 500, (path, form)
        admin.get("/sites/hall")


def test_a_day_is_named_below_its_output(demo: Store) -> None:
    reading = Reading(snapshot(demo, DEMO), date(2026, 11, 16))
    window = Window(1, 5)
    for mark, day in zip(marks(reading, window), range(1, 6), strict=True):
        assert mark.at == pytest.approx(window.middle(day))
    assert marks(reading, window, 0.0)[0].at == 0.0  # a stint begins with its day
