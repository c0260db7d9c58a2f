"""Proposals and offers on the pages: answering, undoing, and paging when there are many."""

import re

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.snapshots import snapshot
from support.stores import proposed
from support.web.pages import CREW, HOSTILE, browser, packed_in, pages_store, recorded, set_up, with_crew

store = pages_store


def test_answers_are_given_and_taken_back(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    number = proposed(store, "hall")[0]
    assert "Nothing to do" not in manager.get("/")
    assert "Approved" in manager.post(f"/sites/hall/proposals/{number}/approve", {})
    assert snapshot(store, "hall").site.proposals[number].status == "approved"
    after = recorded(store)
    manager.post(f"/sites/hall/proposals/{number}/approve", {})  # a double click
    assert recorded(store) == after
    page = manager.get("/sites/hall")
    assert "Offers under way" in page
    assert "Who leaves" in page
    slip = snapshot(store, "hall").site.undo
    assert slip is not None
    last = {"number": str(slip.number)}
    assert "no longer the last answer" in manager.post("/sites/hall/undo", {"number": "1"})
    assert "Taken back" in manager.post("/sites/hall/undo", last)
    assert snapshot(store, "hall").site.proposals[number].status == "proposed"
    assert "Nothing was done: there is no answer to take back: the last one" in manager.post("/sites/hall/undo", last)

    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    other = browser(store)
    page = other.post(f"/sites/hall/proposals/{number}/reject", {"reason": "no"})
    assert f"Nothing was done: proposal {number} was answered before: manager 0 approved it at 2026-11-16 07:00" in page
    assert "declined" in manager.post(
        f"/sites/hall/proposals/{number}/offer", {"outcome": "declined", "on": "2026-11-02"}
    )
    assert snapshot(store, "hall").site.proposals[number].status == "declined"
    wrong = manager.post(f"/sites/hall/proposals/{number}/offer", {"outcome": "started", "on": "tomorrow"})
    assert "must be a day" in wrong

    following = proposed(store, "hall")[0]
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
    manager, number = browser(store), proposed(store, "hall")[0]
    proposal = snapshot(store, "hall").site.proposals[number]
    other = ({0, 1} - {proposal.out}).pop()
    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    manager.post(f"/sites/hall/proposals/{number}/offer", {"outcome": "started", "out": CREW[other].worker_id})
    roster = snapshot(store, "hall").site.roster
    assert proposal.into in roster.active
    assert other not in roster.active


def test_a_trial_is_shown_as_one(store: Store) -> None:
    set_up(store, policy="value-of-replacement", team=1)
    crew = [WorkerRow("a", None, True, prior_n=30, prior_mean=20.0), WorkerRow("b")]
    worker_imports.import_workers(store, "hall", crew, b"", "test")
    (number,) = proposed(store, "hall")
    why = snapshot(store, "hall").site.proposals[number].why.policy
    assert why is not None
    days = round(why["trial"])
    page = browser(store).get("/sites/hall")
    assert f"Review after {days} day" in page


def test_who_should_have_come_was_expected(store: Store) -> None:
    with_crew(store)
    manager, number = browser(store), proposed(store, "hall")[0]
    manager.post(f"/sites/hall/proposals/{number}/approve", {})
    for period, words in ((1, "expected Wed 4 Nov"), (2, "expected Wed 4 Nov"), (3, "was expected Wed 4 Nov")):
        rows = [OutputRow(2, None, period, worker, 30.0, None, "worked") for worker in "ab"]
        output_imports.import_output(store, "hall", rows, b"", "test")
        page = manager.get("/sites/hall")
        assert f"· {words} ·" in page  # with the offer
        assert re.search(rf", {words}[ <]", page)  # and in the table


def test_what_is_open_leads_to_where_it_is_answered(store: Store) -> None:
    with_crew(store)
    viewer, number = browser(store, "viewer"), proposed(store, "hall")[0]
    proposal = snapshot(store, "hall").site.proposals[number]
    for path in ("history", f"workers/{proposal.into}"):
        page = viewer.get(f"/sites/hall/{path}")
        assert f'href="/sites/hall/proposals?at={number}#proposal-{number}"' in page
        assert page.count(f'href="/sites/hall/workers/{proposal.out}"') >= 1


def many_proposals(store: Store, team: int = 26) -> list[int]:
    """A team of poor workers with as many good ones outside: all are to be replaced."""
    set_up(store, team=team)
    crew = [WorkerRow(f"t{n}", None, True, prior_n=400, prior_mean=10.0) for n in range(team)]
    crew += [WorkerRow(f"p{n}", None, False, prior_n=400, prior_mean=80.0 + 0.1 * n) for n in range(team)]
    worker_imports.import_workers(store, "hall", crew, b"", "test")
    return proposed(store, "hall")


def proposals_on(page: str) -> list[int]:
    return [
        int(number)
        for number in re.findall(r'<article class="exchange compact(?: answered)?" id="proposal-(\d+)"', page)
    ]


def test_many_proposals_are_answered_page_by_page(store: Store) -> None:
    numbers = many_proposals(store)
    assert len(numbers) == 26
    manager = browser(store)
    page = manager.get("/sites/hall")
    assert proposals_on(page) == numbers[:5]
    assert "See all 26 proposals" in page
    assert "26 replacements proposed" in page
    seen = []
    for number in (1, 2, 3):
        page = manager.get(f"/sites/hall/proposals?page={number}")
        seen.append(proposals_on(page))
        articles = page.split("<article")[1:]
        for words in ("Why?", 'value="not-now"', "Who leaves", "Who comes in", "Expected net gain, next "):
            assert all(words in article for article in articles), words
    assert seen == [numbers[:10], numbers[10:20], numbers[20:]]
    answered, following = seen[1][4:6]
    assert proposals_on(manager.get("/sites/hall/proposals?page=99")) == seen[2]
    assert proposals_on(manager.get(f"/sites/hall/proposals?at={answered}")) == seen[1]

    page = manager.get("/sites/hall/proposals?page=2")
    form = re.search(rf'proposals/{answered}/approve">(.*?)<button', page, re.DOTALL)
    assert form
    response = manager.send(f"/sites/hall/proposals/{answered}/approve", packed_in(form[1]))
    assert (response.url.path, response.url.fragment) == ("/sites/hall/proposals", "said")
    assert response.url.params["at"] == str(following)
    assert proposals_on(response.text) == seen[1], "the answered proposal keeps its place"
    assert re.search(rf'compact answered" id="proposal-{answered}"', response.text)
    assert "Approved" in response.text.partition("<article")[0]
    for name, value in (("from", "//elsewhere.example"), ("page", "1#x"), ("at", "%0d%0a"), ("kept", "1-2-x")):
        form_data = {"from": "proposals", "page": "1", "at": "1", name: value}
        asked = manager.client.post(
            f"/sites/hall/proposals/{numbers[-1]}/reject", data={"reason": "no", **form_data}, follow_redirects=False
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
    form = {"outcome": "declined", "from": "offers", "page": "2", "at": "0"}
    response = manager.send(f"/sites/hall/proposals/{numbers[-1]}/offer", form)
    assert response.url.path == "/sites/hall/offers"
    assert response.text.count('aria-label="Offer to') == 3
    assert "declined" in response.text
    for path in ("history", f"workers/{snapshot(store, 'hall').site.proposals[numbers[0]].into}"):
        assert f'href="/sites/hall/offers?at={numbers[0]}#offer-{numbers[0]}"' in manager.get(f"/sites/hall/{path}")


def test_all_are_answered_in_one_action_and_taken_back_from_the_message(store: Store) -> None:
    numbers = many_proposals(store)
    manager, ben = browser(store), browser(store)
    page = manager.get("/sites/hall")
    assert f'name="all" value="{"-".join(map(str, numbers))}"' in page
    ben.post(f"/sites/hall/proposals/{numbers[2]}/approve", {})
    everybody = {"all": "-".join(map(str, numbers)), "kept": "-".join(map(str, numbers[:5]))}
    page = manager.post("/sites/hall/answers", {**everybody, "answer": "approve"})
    assert "25 approved. 1 could not be:" in page
    assert f"Proposal {numbers[2]}: was answered before: manager 1 approved it" in page
    assert page.count("compact answered") == 5
    undo = re.search(r'class="undo-now".*?name="number" value="(\d+)"', page, re.DOTALL)
    assert undo
    assert "gave 25 answers together" in manager.post("/sites/hall/undo", {"number": undo[1]})
    assert proposed(store, "hall") == [number for number in numbers if number != numbers[2]]
    some = {"proposal": [str(number) for number in numbers[:2]], "answer": "reject", "as": "keep", "reason": HOSTILE}
    assert "2 rejected." in manager.post("/sites/hall/answers", some)
    assert "nothing is selected" in manager.post("/sites/hall/answers", {"answer": "approve"})
    assert "Nothing was approved." in manager.post("/sites/hall/answers", {"all": str(numbers[0]), "answer": "approve"})
    next_two = [str(number) for number in proposed(store, "hall")[:2]]
    manager.post("/sites/hall/answers", {"all": "-".join(next_two), "answer": "approve"})
    offers = {"proposal": next_two}
    assert "2 recorded as offered." in manager.post("/sites/hall/answers", {**offers, "answer": "offered"})
    assert "2 recorded as started." in manager.post("/sites/hall/answers", {**offers, "answer": "started"})


def test_two_people_approve_where_the_site_asks_for_it(store: Store) -> None:
    set_up(store, second_approver=True)
    worker_imports.import_workers(store, "hall", CREW, b"", "test")
    ann, number = browser(store), proposed(store, "hall")[0]  # manager 0
    said = ann.post(f"/sites/hall/proposals/{number}/approve", {})
    assert "Approved first. A different user approves it too." in said
    assert "You approved first. Nobody else may approve here yet." in said
    assert "data-approve" not in said.partition("Offers under way")[0].partition(f'id="proposal-{number}"')[2][:3000]
    assert snapshot(store, "hall").site.proposals[number].status == "proposed"
    set_up(store, "elsewhere")
    ben = browser(store)
    for role, sites in (("viewer", None), ("manager", ["elsewhere"])):
        users.add(store, f"{role} who may not", role, sites)
    page = ben.get("/sites/hall")
    assert "manager 0 approved first. Second: manager 1." in page
    assert "approved by one of two" in page
    again = ann.post("/sites/hall/answers", {"answer": "approve", "all": str(number)})
    assert "was approved by you first; a different user approves it second" in again
    assert "can be offered" in ben.post(f"/sites/hall/proposals/{number}/approve", {})
    assert snapshot(store, "hall").site.proposals[number].status == "approved"
    history = ann.get("/sites/hall/history")
    assert "manager 0 approved it first" in history
    assert "manager 1 approved it" in history


def test_nobody_approves_second_an_exchange_that_they_did_not_see(store: Store) -> None:
    set_up(store, second_approver=True)
    worker_imports.import_workers(store, "hall", CREW, b"", "test")
    ann, ben, number = browser(store), browser(store), proposed(store, "hall")[0]
    old = ben.get("/sites/hall")
    assert (
        '<option value="a">Ann (a)</option>' in old.partition(f'<select id="out-{number}"')[2].partition("</select>")[0]
    )
    assert '<input type="hidden" name="out"' not in old
    said = ann.post(f"/sites/hall/proposals/{number}/approve", {"out": "a"})
    assert "Approved first. A different user" in said, re.findall('class="flash .*', said)
    refused = ben.post(f"/sites/hall/proposals/{number}/approve", {"out": "", "in": ""})
    assert "was approved first with another exchange" in refused, re.findall('class="flash .*', refused)
    assert snapshot(store, "hall").site.proposals[number].status == "proposed"
    assert '<input type="hidden" name="out" value="a">' in refused
    assert "can be offered" in ben.post(f"/sites/hall/proposals/{number}/approve", {"out": "a"})


def test_one_proposal_has_no_box_to_select_all(store: Store) -> None:
    set_up(store, most_a_week=1)
    worker_imports.import_workers(store, "hall", CREW, b"", "test")
    manager, numbers = browser(store), proposed(store, "hall")
    assert len(numbers) == 1
    for page in ("/sites/hall", "/sites/hall/proposals"):
        shown = manager.get(page)
        assert "Select " not in shown
        assert "data-keys" in shown, "the keys are told of as ever"
    manager.post(f"/sites/hall/proposals/{numbers[0]}/approve", {})
    assert "Select all" not in manager.get("/sites/hall/offers")
