"""The advisor's explanations: reasons, what it waits for, what changed, and what was settled."""

import pickle

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.errors import Conflict, Stale
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.wording import documents
from crewlearn.advisor.wording.explain import explain, members, sentence, what_changed
from crewlearn.advisor.wording.names import place
from crewlearn.advisor.wording.past.narration import changes_since
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from support.lives import BAD, GOOD, WEEKDAYS, Life


def test_an_explanation_has_the_numbers_of_the_day_it_was_made(life: Life) -> None:
    life.create(units=Units(20.0, 80.0))
    life.days(5, w0=70.0, w1=26.0)
    proposal = life.first()
    lines = explain(life.site, life.people, proposal)
    text = " ".join(lines)
    assert "after 5 days" in text
    assert "never seen here" in text
    assert "the fee is 1.00" in text
    commands.approve(life.store, "s", proposal.id, "bo")
    life.days(5, w0=70.0, w1=80.0)
    with life.store.reading() as connection:
        kept = read_proposals(connection, life.store.site(connection, "s")[0])[0]
    assert explain(life.site, life.people, kept)[1:] == lines[1:]


@pytest.mark.parametrize("policy", ["dr-ucb", "a-omm", "threshold", "thompson", "knowledge-gradient"])
def test_every_policy_is_explained_as_far_as_it_can(life: Life, policy: str) -> None:
    life.create(policy=policy, horizon=400, fee=0.1)
    for _ in range(60):
        life.record(w0=0.05, w1=0.06)
        if life.open():
            break
    assert all(isinstance(line, str) for line in explain(life.site, life.people, life.first()))


def test_a_policy_that_knows_its_break_even_fee_says_so(life: Life) -> None:
    life.create(policy="thompson", horizon=400, fee=0.1)
    for _ in range(60):
        life.record(w0=0.05, w1=0.06)
        if life.open():
            break
    fee = facts(life.site, life.first()).break_even
    assert fee is not None
    text = " ".join(explain(life.site, life.people, life.first()))
    assert f"would change if the fee were above {fee:,.2f}" in text
    assert "weighs no money" not in text


def test_dr_ucb_says_whom_it_waits_for(life: Life) -> None:
    life.create(policy="dr-ucb:gamma=5")
    assert "must be seen on 5 more days" in sentence(life.site, life.people)


def test_names_that_are_tricks_are_text(life: Life) -> None:
    for name in ("../../etc", "a'; DROP TABLE sites;--", "", "x" * 101, "a\nb"):
        with pytest.raises(InvalidInput, match="site"):
            commands.create_site(life.store, name, SiteConfig(1, 1.0, Units(0, 1), WEEKDAYS, 10, 1.0), "ann")
    life.create()
    row = WorkerRow("'; DROP TABLE events;--", "=HYPERLINK(1)")
    worker_imports.import_workers(life.store, "s", [row], b"", "ann")
    assert life.people.label(6) == "=HYPERLINK(1) ('; DROP TABLE events;--)"


def test_an_empty_station_gains_the_whole_output(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=2.0), active=1)
    proposal = next(proposal for proposal in life.site.open_proposals(PROPOSED) if proposal.out == NOBODY)
    numbers = facts(life.site, proposal)
    assert numbers.out is None
    assert numbers.gain == pytest.approx(numbers.periods * 2.0 * numbers.into.mean)
    assert "to fill an empty station" in sentence(life.site, life.people)


def test_a_hire_left_open_says_who_would_make_room(life: Life) -> None:
    life.create(policy="dr-ucb+late-pairing:gamma=1", fee=0.1)
    life.record(w0=GOOD, w1=BAD)
    proposal = life.first()
    assert proposal.out == NOBODY
    numbers = facts(life.site, proposal)
    assert numbers.settled_on_arrival
    assert numbers.out is not None
    assert "settled on arrival, now Name 1 (w1)" in sentence(life.site, life.people)
    assert "empty" not in " ".join(explain(life.site, life.people, proposal))


def test_waiting_says_why(life: Life) -> None:
    life.create(most_a_week=0)
    life.days(5, w0=GOOD, w1=BAD)
    assert "the limit of 0 a week is reached" in sentence(life.site, life.people)
    commands.change_site(life.store, "s", {"most_a_week": None}, "ann")
    for number in range(2, 6):
        commands.change_worker(life.store, "s", f"w{number}", "ann", status="blocked")
    assert "nobody outside the team may come in now" in sentence(life.site, life.people)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    assert "1 station is empty, and nobody" in sentence(life.site, life.people)


def test_what_changed_names_the_fact(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.change_worker(life.store, "s", f"w{first.into}", "ann", status="blocked")
    changes = what_changed(life.site, life.people)
    assert f"Name {first.into} (w{first.into}) changed" in changes
    assert "is withdrawn" in changes
    commands.change_worker(life.store, "s", "w0", "ann", pinned=True)
    assert what_changed(life.site, life.people).startswith(changes.partition(")")[0])


def test_somebody_who_looked_at_an_earlier_version_is_told_what_changed(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    seen = life.events
    commands.approve(life.store, "s", life.first().id, "bo", expected=seen)
    with pytest.raises(Stale) as stale:
        commands.change_site(life.store, "s", {"fee": 2.0}, "ann", expected=seen)
    assert [words.partition(" (")[0] for words in changes_since(stale.value)] == ["bo approved proposal 1"]
    assert changes_since(pickle.loads(pickle.dumps(stale.value))) == changes_since(stale.value)
    assert life.site.config.fee == 1.0


def test_waiting_says_who_may_not_be_replaced(life: Life) -> None:
    life.create(team=1, least_tenure=30)
    life.days(5, w0=BAD)
    assert "nobody in the team may be replaced now: 1 stays for the least tenure, the first to 2026-02-16" in sentence(
        life.site, life.people
    )
    commands.change_worker(life.store, "s", "w0", "ann", pinned=True)
    assert "1 is pinned" in sentence(life.site, life.people)
    commands.change_site(life.store, "s", {"policy": "keep-team", "least_tenure": 0}, "ann")
    commands.change_worker(life.store, "s", "w0", "ann", pinned=False)
    assert "policy keep-team asks for nothing now" in sentence(life.site, life.people)


def test_what_was_taken_back_is_no_reason_for_what_changed(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.approve(life.store, "s", first.id, "bo")
    commands.undo(life.store, "s", "bo")
    commands.reject(life.store, "s", first.id, "bo", "no")
    changes = what_changed(life.site, life.people)
    assert "was rejected" in changes
    assert "was approved" not in changes


def test_whose_place_is_taken_is_told_as_it_is_and_as_it_was(life: Life) -> None:
    life.create(policy="dr-ucb+late-pairing:gamma=1", fee=0.1)
    life.record(w0=GOOD, w1=BAD)
    number = life.first().id
    told = documents.proposal(life.site, life.people, life.first())
    assert (told["out"], told["place"]) == (None, "settled on arrival")
    commands.approve(life.store, "s", number, "ann")
    assert place(life.people, life.site.proposals[number]) == "whoever makes room on arrival"
    commands.change_worker(life.store, "s", "w1", "ann", status="left")
    commands.record_offer(life.store, "s", number, "started", "ann")
    done = life.site.proposals[number]
    assert done.leaver == NOBODY
    text = explain(life.site, life.people, done)
    assert "in the place of an empty station" in text[0]
    assert "Name 1 (w1), who would make room then" in text[1]
    told = documents.proposal(life.site, life.people, done)
    assert (told["out"], told["place"]) == (None, "empty station")


def test_what_was_settled_is_told_of_then(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    number = life.first().id
    assert "Name 1 (w1), in the team now" in explain(life.site, life.people, life.first())[1]
    commands.approve(life.store, "s", number, "ann")
    commands.record_offer(life.store, "s", number, "started", "ann", out="w0")
    done = life.site.proposals[number]
    text = explain(life.site, life.people, done)
    assert "in the place of Name 0 (w0)" in text[0]
    assert "Name 1 (w1), in the team then" in text[1]
    commands.erase_worker(life.store, "s", "w0", "ann")
    told = documents.proposal(life.site, life.people, done)
    assert (told["out"], told["place"]) == (None, "worker")


def test_what_the_policy_asks_for_is_said_beside_what_it_is_worth(life: Life) -> None:
    life.create(policy="value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5,margin=0.5")
    life.days(5, w0=GOOD, w1=BAD)
    numbers = facts(life.site, life.first())
    assert numbers.trial_value is not None
    text = explain(life.site, life.people, life.first())[-1]
    assert "The policy asks for a gain of 1.5 times the fee" in text
    assert f"above about {numbers.trial_value / 1.5:,.2f}" in text


def test_advice_and_status_agree_on_who_is_awaited(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.approve(life.store, "s", first.id, "ann")
    told = documents.advice("s", life.site, life.people)
    assert told["waiting"]["awaited"] == [f"w{first.into}"]
    assert documents.status("s", life.site, life.people, life.track_record)["cycle"] == told["waiting"]


def test_nobody_is_better_than_an_empty_station(life: Life) -> None:
    life.create(active=1)
    vacancy = next(proposal for proposal in life.site.open_proposals(PROPOSED) if proposal.out == NOBODY)
    told = documents.proposal(life.site, life.people, vacancy)
    assert (told["out"], told["place"], told["why"]["chance_better"]) == (None, "empty station", None)


def test_only_who_may_come_is_said_to_come_not_before_a_day(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.reject(life.store, "s", first.id, "ann")
    notes = {member.number: member.note for member in members(life.site, life.people)}
    assert notes[first.into].startswith("not before 2026-01-")
    commands.change_worker(life.store, "s", f"w{first.into}", "ann", status="blocked")
    notes = {member.number: member.note for member in members(life.site, life.people)}
    assert notes[first.into] == "blocked"


def test_why_nothing_can_be_taken_back_is_true(life: Life) -> None:
    life.create()
    with pytest.raises(Conflict, match="no answer to take back yet"):
        commands.undo(life.store, "s", "ann")
    life.days(5, w0=GOOD, w1=BAD)
    commands.approve(life.store, "s", life.first().id, "ann")
    commands.undo(life.store, "s", "ann")
    with pytest.raises(Conflict, match="the last one was taken back already"):
        commands.undo(life.store, "s", "ann")
    commands.approve(life.store, "s", life.first().id, "ann")
    life.record(w0=GOOD, w1=BAD)
    with pytest.raises(Conflict, match="other facts were recorded since"):
        commands.undo(life.store, "s", "ann")
