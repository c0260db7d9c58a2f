"""Working days in real Chromium against real servers: a new record, two people, two servers."""

import csv
import io
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from crewlearn.advisor.advice.opening import open_store
from support.stores import Database, types_of
from support.waiting import until
from support.web.browsing import COMPILING, FIRST, OUTPUT_CSV, WORKERS_CSV, Visit, give_file, hall_site, proposal_of
from support.web.server import Serve, Server

WRONG_CSV = f"date,worker_id,units\n{FIRST},a,eleven\n2024-13-41,c,52\n"
LONG = 10_000
"""A number of simulated worlds that takes some seconds."""


def test_from_an_empty_store_to_a_checked_record(empty_database: Database, serve: Serve, visit: Visit) -> None:
    server = serve(empty_database.url)
    me = visit(server)
    page = me.page
    me.open_link(server.first_link())
    expect(page.get_by_role("heading", name="There is no site yet")).to_be_visible()

    page.get_by_role("link", name="Start with an export").click()
    page.get_by_text("Set the site up by hand").click()
    page.get_by_label("Name", exact=True).fill("North hall")
    page.get_by_label("Stations", exact=True).fill("2")
    page.get_by_label("Fee of a replacement").fill("5")
    page.get_by_label("Days from an offer").fill("2")
    page.get_by_label("First day", exact=True).fill(str(FIRST))
    page.get_by_label("Planning horizon, days", exact=True).fill("250")
    page.get_by_text("Advanced (defaults suit most sites)").click()
    page.get_by_label("Least stay").fill("0")
    me.expected = {422}
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed yet")
    expect(page.get_by_label("Highest plausible output")).to_have_attribute("aria-invalid", "true")
    me.expected = set()
    page.get_by_label("Highest plausible output").fill("100")
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_text("North hall is set up")).to_be_visible()

    give_file(page, "workers.csv", WORKERS_CSV)
    expect(page.get_by_role("heading", name="6")).to_be_visible()
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_role("link", name="Person a").first).to_be_visible()
    before = events_of(server)

    me.expected = {422}
    give_file(page, "output.csv", WRONG_CSV)
    expect(page.get_by_role("heading", name="2 rows need attention")).to_be_visible()
    expect(page.locator("td.cell-wrong")).to_have_count(2)
    expect(page.locator("tr.fault").first).to_contain_text("eleven")
    expect(page.get_by_role("button", name="Record it")).to_have_count(0)
    assert events_of(server) == before
    me.expected = set()
    give_file(page, "output.csv", OUTPUT_CSV)
    page.get_by_role("button", name="Record it").click()

    page.get_by_role("link", name="Today", exact=True).click()
    out, into = proposal_of(page)
    assert out == "Person a (a)"  # the team's worst by far
    expect(page.locator("#advice")).to_have_text("2 replacements proposed")
    page.locator("article.exchange summary", has_text="Why?").first.click()
    expect(page.locator(".why-lines").first).to_be_visible()
    expect(page.locator(".why-lines").first).to_contain_text(into)

    page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("Approved")
    page.get_by_role("article", name=f"Offer to {into}").get_by_role("button", name="Declined").click()
    expect(page.get_by_role("status").first).to_contain_text("declined")
    out_again, next_one = proposal_of(page)
    assert (out_again, next_one != into) == (out, True)  # the next candidate

    page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    page.get_by_role("article", name=f"Offer to {next_one}").get_by_role("button", name="Started").click()
    expect(page.get_by_role("status").first).to_contain_text("started")
    page.get_by_role("link", name="History", exact=True).click()
    decisions = page.locator("#decisions li")
    expect(decisions.filter(has_text=next_one).first).to_contain_text("started")
    expect(decisions.filter(has_text=into).filter(has_text="declined").first).to_be_visible()
    page.get_by_text("Show as table").first.click()
    stints = page.get_by_role("table", name="Who held which station when")
    expect(stints.get_by_role("row").filter(has_text=next_one)).to_have_count(1)

    page.get_by_role("link", name="Today", exact=True).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("Taken back")
    expect(page.get_by_role("article", name=f"Offer to {next_one}")).to_be_visible()
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_text("Show as table").first.click()
    expect(stints.get_by_role("row").filter(has_text=next_one)).to_have_count(0)

    page.get_by_role("link", name="Plan", exact=True).click()
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("table").first).to_contain_text("keep-team", timeout=COMPILING * 1000)

    page.get_by_role("link", name="Record", exact=True).click()
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".chip.good", has_text="sound")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of decisions", exact=True).click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    exported = {value for row in rows for value in row.values()}
    assert {person.partition("(")[2].rstrip(")") for person in (into, next_one)} <= exported
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def events_of(server: Server) -> list[str]:
    with open_store(server.db) as store:
        return types_of(store, "North hall")


def test_two_managers_are_told_of_each_other(hall: Server, visit: Visit) -> None:
    ann = visit(hall, hall.user("ann", "manager"))
    ben = visit(hall, hall.user("ben", "manager"))
    for visitor in (ann, ben):
        visitor.page.goto("/sites/hall")
    _, into = proposal_of(ann.page)
    ann.page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    expect(ann.page.get_by_role("status").first).to_contain_text("Approved")
    ben.page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    message = ben.page.get_by_role("status").first
    expect(message).to_contain_text("Nothing was done")
    expect(message).to_contain_text("ann")
    expect(ben.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()

    for visitor in (ann, ben):
        visitor.page.goto("/sites/hall/settings")
    ann.page.get_by_label("Fee of a replacement").fill("7")
    ann.page.get_by_role("button", name="Save the settings").click()
    expect(ann.page.get_by_role("status").first).to_contain_text("apply from now on")
    ben.page.get_by_label("Stations", exact=True).fill("3")
    ben.expected = {412}
    ben.page.get_by_role("button", name="Save the settings").click()
    alert = ben.page.get_by_role("alert")
    expect(alert).to_contain_text("Somebody else changed this site")
    expect(alert).to_contain_text("ann")
    expect(alert).to_contain_text("7")
    expect(ben.page.get_by_label("Stations", exact=True)).to_have_value("3")
    ben.expected = set()
    ben.page.get_by_role("button", name="Save the settings").click()
    expect(ben.page.get_by_role("status").first).to_contain_text("apply from now on")
    assert ben.page.goto("/sites/hall/settings")
    expect(ben.page.get_by_label("Stations", exact=True)).to_have_value("3")


def test_nothing_needs_a_script(hall: Server, visit: Visit) -> None:
    me = visit(hall, hall.user("ann", "manager"), scripts=False)
    page = me.page
    page.goto("/sites/hall")
    _, into = proposal_of(page)
    page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("Approved")
    page.get_by_role("article", name=f"Offer to {into}").get_by_role("button", name="Started").click()
    expect(page.get_by_role("status").first).to_contain_text("started")
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("CSV file").set_input_files(
        {"name": "o.csv", "mimeType": "text/csv", "buffer": OUTPUT_CSV.encode()}
    )
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_role("link", name="Person a").first).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_plan_is_cancelled_by_a_button(hall: Server, visit: Visit, scripts: bool) -> None:
    token = hall.user("ann", "manager")
    me = visit(hall, token, scripts=scripts)
    jobs = [hall.ask("POST", "/sites/hall/plan", token, {"runs": LONG, "seed": seed})["id"] for seed in (1, 2)]
    me.page.goto(f"/sites/hall/plan/{jobs[1]}")
    expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
    me.page.get_by_role("button", name="Cancel").click()
    expect(me.page.get_by_text("The simulation was cancelled by ann.")).to_be_visible()
    expect(me.page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert hall.get(f"/jobs/{jobs[1]}", token)["status"] == "cancelled"
    if scripts:  # a page that is open when somebody else cancels says so by itself, also after no answer for a while
        third = hall.ask("POST", "/sites/hall/plan", token, {"runs": LONG, "seed": 3})["id"]
        me.page.clock.install()
        me.page.goto(f"/sites/hall/plan/{third}")
        me.expected = {502}
        me.page.route("**/api/v1/jobs/*", lambda route: route.fulfill(status=502, body="no server"))
        expect(me.page.get_by_text("The server does not answer; asking again.")).to_be_visible()
        me.page.route("**/sites/**", lambda route: route.fulfill(status=502, body="no server"))  # nor for the page
        for _ in range(2):
            with me.page.expect_response("**/api/v1/jobs/*"):
                me.page.clock.fast_forward(15_000)  # the longest it waits
        expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
        me.page.unroute_all()
        hall.ask("DELETE", f"/jobs/{third}", token)
        me.page.clock.fast_forward(15_000)
        expect(me.page.get_by_text("The simulation was cancelled by ann.")).to_be_visible()


def test_two_servers_are_one(prepared: Any, serve: Serve, visit: Visit) -> None:
    database: Database = prepared("postgresql", hall_site)
    first, other = serve(database.url), serve(database.url)
    token = first.user("ann", "manager")
    me = visit(first, token)
    me.page.goto("/sites/hall")
    _, into = proposal_of(me.page)
    me.page.goto(f"{other.url}/sites/hall")  # the same host, so the cookie is valid for both
    me.page.get_by_role("button", name=re.compile("^Approve Person")).first.click()
    expect(me.page.get_by_role("status").first).to_contain_text("Approved")
    me.page.goto(f"{first.url}/sites/hall")
    expect(me.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()

    other.process.send_signal(signal.SIGSTOP)  # so that the first server claims the job
    job = first.ask("POST", "/sites/hall/plan", token, {"runs": LONG})["id"]
    until(lambda: first.get(f"/jobs/{job}", token)["status"] == "running")
    other.process.send_signal(signal.SIGCONT)
    assert other.get(f"/jobs/{job}", token)["status"] == "running"
    me.page.goto(f"{other.url}/sites/hall/plan/{job}")
    expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
    first.kill()
    until(lambda: other.get(f"/jobs/{job}", token)["attempts"] == 2)
    expect(me.page.get_by_role("table").first).to_contain_text("keep-team", timeout=COMPILING * 1000)
