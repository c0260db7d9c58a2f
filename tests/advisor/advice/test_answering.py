"""Many proposals answered in one action: each once, told why not, and undone together."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answering import (
    Answered,
    CommonAnswer,
    answer_many,
    approval,
    outcome_of_offers,
    refusal,
)
from crewlearn.advisor.advice.remarks import Term
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.answers import answers_by_proposal
from crewlearn.advisor.ledger.errors import Conflict, Stale
from crewlearn.advisor.ledger.site import APPROVED, PROPOSED, STARTED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.past import undoing
from crewlearn.problem.errors import InvalidInput
from support.stores import config, contents, proposed, sound, state_of, types_of


def crowd(store: Store, team: int) -> list[int]:
    """A team of poor workers with as many good ones outside: all are to be replaced."""
    commands.create_site(store, "site", config(team=team, most_a_week=None, least_tenure=0), "ann")
    crew = [WorkerRow(f"t{n}", None, True, prior_n=400, prior_mean=10.0) for n in range(team)]
    crew += [WorkerRow(f"p{n}", None, False, prior_n=400, prior_mean=80.0 + 0.01 * n) for n in range(2 * team)]
    worker_imports.import_workers(store, "site", crew, b"", "ann")
    numbers = proposed(store)
    assert len(numbers) == team
    return numbers


def refusals(given: list[Answered]) -> dict[int, str]:
    return {answered.proposal: answered.refused.remedy for answered in given if answered.refused is not None}


def test_a_hundred_are_approved_in_one_action_and_taken_back_together(store: Store) -> None:
    numbers = crowd(store, 100)
    before = state_of(store)
    given = answer_many(store, "site", [*numbers, numbers[0]], approval(), "ann")
    assert [answered.proposal for answered in given] == numbers
    assert not refusals(given)
    assert types_of(store)[-100:] == ["proposal-approved"] * 100
    sound(store)
    words = undoing.undo(store, "site", "ann")
    assert words.startswith("ann gave 100 answers together, the last: approved proposal")
    after = state_of(store)
    assert after.answered_json() == before.answered_json()
    assert after.workers == before.workers
    assert proposed(store) == numbers
    sound(store)
    with store.reading() as connection:
        answers = answers_by_proposal(connection, store.key(connection, "site"))
    assert all(undone for trail in answers.values() for _, undone in trail)
    with pytest.raises(Conflict, match="taken back already"):
        undoing.undo(store, "site", "ann")
    assert not refusals(answer_many(store, "site", numbers, refusal("not-now", "stocktaking"), "ann"))
    assert types_of(store)[-101:] == ["proposal-turned-down"] * 100 + ["advised"], "the policy is asked once"
    sound(store)


def test_what_cannot_be_answered_is_told_and_the_rest_is_recorded(store: Store) -> None:
    numbers = crowd(store, 4)
    commands.approve(store, "site", numbers[1], "ben")
    commands.approve(store, "site", numbers[2], "ann")
    given = answer_many(store, "site", [*numbers, 99], approval(), "ann")
    told = refusals(given)
    assert told.keys() == {numbers[1], 99}, "one's own answer is no refusal"
    assert told[numbers[1]].startswith("was answered before: ben approved it at ")
    assert "does not exist" in told[99]
    assert sorted(proposal.id for proposal in state_of(store).open_proposals(APPROVED)) == sorted(numbers)
    sound(store)
    before = contents(store)
    assert len(refusals(answer_many(store, "site", [*numbers, 99], approval(), "ann"))) == 2, "again changes nothing"
    assert contents(store) == before


def test_all_or_none(store: Store) -> None:
    first, second, third = crowd(store, 3)
    before = contents(store)
    with pytest.raises(Conflict, match="proposal = 99"):
        answer_many(store, "site", [first, 99, second], approval(), "ann", all_or_none=True)
    with pytest.raises(Stale):
        answer_many(store, "site", [first], approval(), "ann", expected=1)
    assert contents(store) == before
    commands.approve(store, "site", third, "ben")
    with pytest.raises(Conflict, match="answered before: ben approved it"):
        answer_many(store, "site", [first, third], approval(), "ann", all_or_none=True)
    assert not refusals(answer_many(store, "site", [first, second], approval(), "ann", all_or_none=True))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: refusal("never"), "unknown; Known: "),
        (lambda: refusal("keep", "x" * 10_001), "reason"),
        (lambda: refusal("not-now", term=Term(days=3)), "leave out the end"),
        (lambda: outcome_of_offers("arrived"), "unknown; Known: "),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_at_once(answer: CommonAnswer, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        answer()  # type: ignore[operator]  # a function, so that it fails here


def test_offers_are_marked_together(store: Store) -> None:
    numbers = crowd(store, 5)
    answer_many(store, "site", numbers, approval(), "ann")
    assert not refusals(answer_many(store, "site", numbers[:3], outcome_of_offers("offered"), "ann"))
    before = state_of(store)
    given = answer_many(store, "site", numbers, outcome_of_offers("started"), "ben")
    assert not refusals(given)
    assert {proposal.status for proposal in state_of(store).proposals.values() if proposal.id in numbers} == {STARTED}
    sound(store)
    undoing.undo(store, "site", "ben")
    assert state_of(store).answered_json() == before.answered_json()
    sound(store)
    late = outcome_of_offers("started", date(2031, 1, 6))
    assert (
        "is after 2024-01-01, the coming working day"
        in refusals(answer_many(store, "site", numbers[:1], late, "ben"))[numbers[0]]
    )


def test_two_managers_at_once_lose_nothing_and_answer_nothing_twice(store: Store) -> None:
    numbers = crowd(store, 150)
    start = Barrier(2)

    def answers(actor: str) -> list[Answered]:
        start.wait()
        mine = numbers[:100] if actor == "ann" else numbers[50:]
        return answer_many(store, "site", mine, approval() if actor == "ann" else refusal("not-now", "later"), actor)

    with ThreadPoolExecutor(2) as both:
        ann, ben = both.map(answers, ("ann", "ben"))
    told = refusals(ann) | refusals(ben)
    assert told.keys() == set(numbers[50:100]), "the second is told of each that the first answered"
    assert all("answered before: " in words for words in told.values())
    with store.reading() as connection:
        trails = answers_by_proposal(connection, store.key(connection, "site"))
    assert {number: len(trail) for number, trail in trails.items()} == dict.fromkeys(numbers, 1)
    assert not set(numbers) & {proposal.id for proposal in state_of(store).open_proposals(PROPOSED)}
    sound(store)
