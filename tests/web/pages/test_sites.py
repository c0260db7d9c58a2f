"""The Sites page, and the forms that create a site and change its settings."""

import re
from datetime import date
from typing import Any

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app as cli
from crewlearn.policies.registry import ALLOWED
from crewlearn.web.jobs import work
from crewlearn.web.jobs.runner import JobRunner
from crewlearn.web.pages import sites as pages_of_sites
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views import today as views
from crewlearn.web.views.reading import Reading
from support.stores import sound, types_of
from support.web.pages import browser, pages_store, recorded, set_up, with_crew

store = pages_store


def test_sites_of_others_are_not_shown(store: Store) -> None:
    with_crew(store, "mine")
    with_crew(store, "theirs")
    limited = browser(store, "manager", ["mine"])
    page = limited.get("/")
    assert "mine" in page
    assert "theirs" not in page
    assert "theirs" not in limited.get("/sites/theirs", 404).replace("/sites/theirs", "").replace("site theirs", "")


def spoil(store: Store, name: str, before: str, after: str) -> None:
    """Change a site's stored state directly, so that no cached state is current."""
    spoilt = "UPDATE sites SET state = replace(state, :old, :new), head = 'x' || substr(head, 2) WHERE name = :name"
    with store.changing() as connection:
        connection.execute(sa.text(spoilt), {"old": before, "new": after, "name": name})


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            '"dr-ucb"',
            '"gone.away:Policy"',
            "Its policy, gone.away:Policy, cannot be used on this server: No module named &#39;gone&#39;.",
        ),
        ('"roster"', '"rooster"', "Its stored state is damaged, or was written by a newer crewlearn."),
    ],
)
def test_a_site_that_cannot_be_read_hides_no_other(store: Store, before: str, after: str, words: str) -> None:
    for name in ("east", "north", "south"):
        with_crew(store, name)
    spoil(store, "north", before, after)
    admin = browser(store, "admin")
    page = admin.get("/")
    cards = page.split('<li class="card site-card">')[1:]
    assert len(cards) == 3
    assert [("cannot be read</span>" in card) for card in cards] == [True, False, False]
    assert words in cards[0]
    assert len(re.sub("<[^>]*>", "", cards[0]).split()) < 30
    assert cards[0].count('<a href="/sites/north">') == 2
    for card in cards[1:]:
        assert "1 proposal to answer" in card or "2 proposals to answer" in card
    hidden = browser(store, "viewer", ["east"]).get("/")
    assert "north" not in hidden
    for path in ("", "/history", "/record", "/settings", "/workers/0"):
        shown = admin.get(f"/sites/north{path}", 422)
        assert words in shown
        assert "registered name" not in shown, "the long list of policies does not help"
        assert "upgrade this one" in shown
        assert "Check now" in shown
    assert "Back to the sites" in shown


def test_the_record_of_a_site_that_cannot_be_read_can_be_checked(store: Store) -> None:
    with_crew(store, "north")
    spoil(store, "north", '"roster"', '"rooster"')
    admin, viewer = browser(store, "admin"), browser(store, "viewer")
    assert "Check now" in admin.get("/sites/north", 422)
    assert "Check now" not in viewer.get("/sites/north", 422)
    page = admin.post("/sites/north/record/verify", {}, 422)
    assert "The check is under way" in page
    assert JobRunner(store, {work.VERIFY: work.run_verify}).run_one()
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


NEW_SITE: dict[str, Any] = {
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
"""What is typed into the form of a new site."""


def test_a_site_is_set_up_by_its_form(store: Store) -> None:
    admin = browser(store, "admin")
    assert "There is no site yet" in admin.get("/")
    assert "crewlearn demo" in admin.get("/")
    form = NEW_SITE
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


def test_the_form_the_command_and_the_api_record_the_same_settings_by_default(store: Store) -> None:
    """Form, command and API have the same defaults for every setting that is not required.

    Only the two boxes that the page checks and explains differ.
    """
    first = date(2026, 11, 2)
    admin = browser(store, "admin")
    page = admin.get("/sites/new")
    values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
    ticked = re.findall(r'<input type="checkbox" name="(\w+)" value="(\w+)" checked', page)
    chosen = dict(re.findall(r'<select id="(\w+)".*?<option value="(\w+)" selected', page, re.DOTALL))
    form: dict[str, Any] = {**values, **chosen, "name": "by-form", "high": "80", "start": first.isoformat()}
    for name, value in ticked:
        form.setdefault(name, []).append(value)
    assert "is set up" in admin.post("/sites/new", form)

    required = ["--team", "10", "--cost", "300", "--horizon", "250", "--mean-delay", "5", "--output-range", "0:80"]
    url = store.engine.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(cli, ["site", "create", "by-command", *required, "--start", str(first), "--db", url])
    assert done.exit_code == 0, done.output

    units, calendar = {"low": 0.0, "high": 80.0}, {"start": str(first)}
    settings = {"team": 10, "fee": 300.0, "units": units, "calendar": calendar, "horizon": 250, "mean_delay": 5.0}
    answer = admin.client.post("/api/v1/sites", json={"site": "by-api", "settings": settings})
    assert answer.status_code == 201, answer.text

    plain = SiteConfig(10, 300.0, Units(0.0, 80.0), WorkCalendar(first), 250, 5.0).to_json()
    assert (plain["policy"], plain["least_tenure"], plain["most_a_week"]) == ("value-of-replacement-evolving", 10, 2)
    ticks = {"rolling": True, "learn_delay": True}
    for name, suggested in (("by-form", ticks), ("by-command", {}), ("by-api", {})):
        recorded_settings = snapshot(store, name).site.config.to_json()
        assert recorded_settings == {**plain, **suggested, "stream_key": recorded_settings["stream_key"]}, name


@pytest.mark.parametrize(("typed", "limit"), [("", 8), ("none", None), ("NONE", None), ("3", 3)])
def test_the_default_limit_follows_the_stations(store: Store, typed: str, limit: int | None) -> None:
    form = {**NEW_SITE, "team": "40", "most_a_week": typed, "least_tenure": "0"}
    assert "is set up" in browser(store, "admin").post("/sites/new", form)
    config = snapshot(store, "North (2)").site.config
    assert (config.most_a_week, config.least_tenure) == (limit, 0)
    page = browser(store).get("/sites/North%20%282%29/settings")
    assert f'name="most_a_week" type="text" value="{"" if limit is None else limit}"' in page


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
    assert "apply from now on" in first.post("/sites/hall/settings", {**forms[0], "fee": "9"})
    refused = second.post("/sites/hall/settings", {**forms[1], "team": "3"}, 412)
    assert "manager 0 changed fee to 9 (" in refused
    assert 'value="3"' in refused  # the typed text is kept
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
    output_imports.import_output(store, "hall", [OutputRow(2, None, 1, "a", 30.0, None, "worked")], b"", "test")
    page = manager.get("/sites/hall/settings")
    assert fixed.findall(page) == ["start"]
    values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
    form = {**values, "weekdays": ["0", "1", "2", "3", "4"], "fee_due": "initiation", "version": recorded(store)}
    for name, value in (
        ("high", "0"),
        ("hours_per_period", "0"),
        ("start", "2026-11-03"),
        ("weekdays", ["1", "2"]),
        ("closures", "2026-11-02"),
    ):
        wrong = manager.post("/sites/hall/settings", {**form, name: value}, 422)
        assert re.findall(r'class="wrong" id="(\w+)-wrong"', wrong) == [name]
    assert recorded(store) == form["version"]
    assert "apply from now on" in manager.post("/sites/hall/settings", {**form, "closures": "2026-12-25"})
    again = {**form, "high": "240", "version": recorded(store)}
    assert "apply from now on" in manager.post("/sites/hall/settings", again)
    assert types_of(store, "hall")[-2:] == ["range-changed", "advised"]
    sound(store, "hall")


def test_many_sites_have_a_line_each_those_first_that_need_somebody(store: Store) -> None:
    for name in "abcdef":
        set_up(store, name)
    with_crew(store, "g hall")
    page = browser(store, "viewer").get("/")
    names = re.findall(r'<li><a href="/sites/[^"]*">([^<]*)</a>', page)
    assert names == ["g hall", "a", "b", "c", "d", "e", "f"]
    assert "2 to answer" in page.partition("g hall")[2].partition("</li>")[0]
    assert "7 sites" in page
    found = browser(store, "viewer").get("/?q=HALL")
    assert re.findall(r'<li><a href="/sites/[^"]*">([^<]*)</a>', found) == ["g hall"]
    assert "1 of 7 sites" in found
    assert "No site has “zz” in its name" in browser(store, "viewer").get("/?q=zz")
    limited = browser(store, "viewer", ["a", "g hall"]).get("/")
    assert limited.count('<li class="card site-card">') == 2


def test_the_switcher_goes_to_the_same_page_of_another_site(store: Store) -> None:
    for name in ("east hall", "north hall", "south hall"):
        with_crew(store, name)
    caller = browser(store, "viewer", ["east hall", "north hall"])
    page = caller.get("/sites/east%20hall/history")
    choices = re.findall(
        r"<option( selected)?>([^<]*)</option>", page.partition('id="go-site"')[2].partition("</select>")[0]
    )
    assert choices == [(" selected", "east hall"), ("", "north hall")]
    assert '<input type="hidden" name="page" value="history">' in page

    def goes(query: str) -> str:
        return caller.client.get(f"/go?{query}", follow_redirects=False).headers["location"]

    assert goes("site=north+hall&page=history") == "/sites/north%20hall/history"
    assert goes("site=north&page=settings") == "/sites/north%20hall", "viewers have no settings"
    assert goes("site=hall") == "/?q=hall"
    assert goes("site=south+hall") == "/?q=south+hall", "a site of others is not known"
    assert goes("site=//elsewhere.example") == "/?q=%2F%2Felsewhere.example"
    assert goes("") == "/"


def test_a_policy_that_the_operator_allows_can_be_chosen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    admin, own = browser(store, "admin"), "support.own_code:Plain"
    refused = admin.post("/sites/new", {**NEW_SITE, "policy": own}, 422)
    assert 'id="policy-wrong"' in refused
    monkeypatch.setenv(ALLOWED, own)
    assert "Decides as its parent does, in plain Python" in admin.get("/sites/new")
    assert "is set up" in admin.post("/sites/new", {**NEW_SITE, "policy": own})
    assert snapshot(store, "North (2)").site.config.policy == own
    assert own in admin.get("/sites/North%20(2)/settings")
