"""Two approvers: the first approval starts nothing, and a different user gives the second."""

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answering import answer_many, answered_before, approval, refusal
from crewlearn.advisor.advice.answers import Answer, give_once
from crewlearn.advisor.evidence.exports import decisions_as_csv
from crewlearn.advisor.ledger.answers import answers_by_proposal
from crewlearn.advisor.ledger.errors import Conflict, SecondApproverNeeded
from crewlearn.advisor.ledger.events import ProposalApproved
from crewlearn.advisor.ledger.site import APPROVED, PROPOSED, REJECTED, FirstApproval
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.past import undoing
from crewlearn.problem.errors import InvalidInput
from support.stores import config, contents, proposed, site_with_proposals, sound, state_of, types_of


@pytest.fixture
def numbers(store: Store) -> list[int]:
    site_with_proposals(store, "site", second_approver=True)
    return proposed(store)


def test_the_first_approval_starts_nothing_and_somebody_else_gives_the_second(store: Store, numbers: list[int]) -> None:
    number, before = numbers[0], state_of(store)
    assert commands.approve(store, "site", number, "ann") == []
    after = state_of(store)
    first = after.first_approval_of(number)
    assert first is not None
    assert (first.by, first.into) == ("ann", before.proposals[number].into)
    assert after.proposals == before.proposals
    assert (after.fees, after.advice, after.because, after.decided) == (
        before.fees,
        before.advice,
        before.because,
        before.decided,
    )
    assert types_of(store)[-1] == "proposal-approved-first", "no advice is derived from it"
    kept = contents(store)
    with pytest.raises(SecondApproverNeeded, match="a different user approves it second"):
        commands.approve(store, "site", number, "ann")
    assert contents(store) == kept
    commands.approve(store, "site", number, "ben")
    assert state_of(store).proposals[number].status == APPROVED
    assert state_of(store).first_approval_of(number) is None
    assert [type_ for type_ in types_of(store) if type_.startswith("proposal")] == [
        "proposal-approved-first",
        "proposal-approved",
    ]
    header, *rows = (line.rstrip("\r\n").split(",") for line in decisions_as_csv(store, "site"))
    decision = dict(zip(header, next(row for row in rows if row[0] == str(number)), strict=True))
    assert (decision["first_approved_by"], decision["answered_by"]) == ("ann", "ben")
    sound(store)


def test_an_approval_of_another_exchange_is_a_first_one_again(store: Store, numbers: list[int]) -> None:
    number = numbers[0]
    commands.approve(store, "site", number, "ann")
    commands.approve(store, "site", number, "ben", into="f")
    first = state_of(store).first_approval_of(number)
    assert first is not None
    assert (first.by, first.into) == ("ben", 5)
    with pytest.raises(SecondApproverNeeded):
        commands.approve(store, "site", number, "ben", into="f")
    with pytest.raises(Conflict, match="was approved first with another exchange"):
        commands.approve(store, "site", number, "ann")
    [refused] = answer_many(store, "site", [number], approval(), "ann")
    assert refused.refused is not None, "it may be unseen"
    commands.approve(store, "site", number, "ann", into="f")
    approved = state_of(store).proposals[number]
    assert (approved.status, approved.into) == (APPROVED, 5), "the second approves what was approved first"
    sound(store)


def test_who_knows_the_version_of_the_record_has_seen_the_first_approval(store: Store, numbers: list[int]) -> None:
    commands.approve(store, "site", numbers[0], "ben", into="f")
    with store.reading() as connection:
        events = store.site(connection, "site")[2]
    commands.approve(store, "site", numbers[0], "ann", expected=events)
    assert state_of(store).proposals[numbers[0]].into == 5


def test_it_is_taken_back_rejected_or_lifted(store: Store, numbers: list[int]) -> None:
    number, before = numbers[0], state_of(store)
    commands.approve(store, "site", number, "ann")
    assert undoing.undo(store, "site", "ben").startswith("ann approved proposal")
    assert state_of(store).answered_json() == before.answered_json()
    sound(store)
    commands.approve(store, "site", number, "ann")
    commands.approve(store, "site", number, "ben")
    undoing.undo(store, "site", "ben")
    again = state_of(store).first_approval_of(number)
    assert again is not None
    assert again.by == "ann"
    commands.reject(store, "site", number, "ann", "no")
    assert state_of(store).proposals[number].status == REJECTED
    other = proposed(store)[-1]
    commands.approve(store, "site", other, "ann")
    assert list(state_of(store).first_approvals) == [other], "that of an answered proposal is dropped"
    commands.change_site(store, "site", {"second_approver": False}, "ann")
    assert "second_approver" not in state_of(store).config.to_json()
    commands.approve(store, "site", other, "ann")
    assert state_of(store).proposals[other].status == APPROVED
    sound(store)


def test_it_stands_while_the_proposal_does(store: Store, numbers: list[int]) -> None:
    commands.approve(store, "site", numbers[0], "ann")
    first = state_of(store).first_approval_of(numbers[0])
    assert isinstance(first, FirstApproval)
    commands.change_worker(store, "site", "abcdef"[first.into], "ann", status="left")
    assert state_of(store).first_approval_of(numbers[0]) is None, "withdrawn with its proposal"
    with pytest.raises(Conflict, match="is withdrawn"):
        commands.approve(store, "site", numbers[0], "ben")
    rows = [line.split(",") for line in decisions_as_csv(store, "site")]
    assert "cancelled" not in next(row for row in rows if row[0] == str(numbers[0])), "nothing was offered"
    sound(store)


def test_many_at_once_respect_it(store: Store, numbers: list[int]) -> None:
    given = answer_many(store, "site", numbers, approval(), "ann")
    assert [(answered.waits, answered.refused) for answered in given] == [(True, None)] * len(numbers)
    retried = answered_before(store, "site", numbers, approval(), "ann")
    assert [(answered.waits, answered.refused) for answered in retried] == [(True, None)] * len(numbers)
    again = answer_many(store, "site", numbers, approval(), "ann")
    assert all("different user" in answered.refused.remedy for answered in again if answered.refused)
    assert all(answered.refused is not None for answered in again), "one's own first approval is no repetition"
    undoing.undo(store, "site", "ann")
    assert not state_of(store).first_approvals
    answer_many(store, "site", numbers[:1], approval(), "ann")
    given = answer_many(store, "site", numbers, approval(), "ben")
    assert [answered.waits for answered in given] == [False] + [True] * (len(numbers) - 1)
    assert [proposal.id for proposal in state_of(store).open_proposals(APPROVED)] == numbers[:1]
    with pytest.raises(SecondApproverNeeded):
        answer_many(store, "site", numbers[1:], approval(), "ben", all_or_none=True)
    given = answer_many(store, "site", numbers[1:], refusal("not-now"), "cy")
    assert all(answered.refused is None for answered in given)
    sound(store)


def test_giving_it_once_tells_the_first_approver_why(store: Store, numbers: list[int]) -> None:
    answer = Answer(ProposalApproved, numbers[0])

    def give() -> list[str]:
        return commands.approve(store, "site", numbers[0], "ann")

    assert give_once(store, "site", "ann", answer, give) == []
    with pytest.raises(SecondApproverNeeded, match="approved by you first"):
        give_once(store, "site", "ann", answer, give)
    with store.reading() as connection:
        trail = answers_by_proposal(connection, store.key(connection, "site"))[numbers[0]]
    assert len(trail) == 1


def test_it_is_off_by_default_and_checked(store: Store) -> None:
    assert "second_approver" not in config().to_json()
    site_with_proposals(store, "site")
    before = contents(store)
    with pytest.raises(InvalidInput, match="second_approver"):
        commands.change_site(store, "site", {"second_approver": "maybe"}, "ann")
    assert contents(store) == before
    commands.approve(store, "site", proposed(store)[0], "ann")
    assert types_of(store)[-1] == "proposal-approved"
    assert state_of(store).open_proposals(PROPOSED)


@pytest.mark.parametrize("spelling", ["ANN", "Ann ", "ann\u200b", "\uff41nn"])
def test_another_spelling_is_nobody_else(store: Store, numbers: list[int], spelling: str) -> None:
    commands.approve(store, "site", numbers[0], "ann")
    with pytest.raises(SecondApproverNeeded, match="approved by you first"):
        commands.approve(store, "site", numbers[0], spelling)
    commands.approve(store, "site", numbers[0], "anna")
    assert state_of(store).proposals[numbers[0]].status == APPROVED
