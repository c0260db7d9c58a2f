"""Choosing who comes in: candidates with what each is expected to bring, and approving one of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.advisor.advice import commands, remarks
from crewlearn.advisor.advice.candidates import SHOWN, Candidate, candidates_of
from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.advice.remarks import Term
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.site import PROPOSED, Proposal
from crewlearn.policies.registry import live_policies, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from support import holds
from support.lives import BAD, GOOD, Life


def listed(life: Life, *numbers: int) -> dict[int, tuple[Candidate, ...]]:
    with life.store.reading() as connection:
        key, site, _ = life.store.site(connection, "s")
        state = policy_state(connection, key, site)
    open_now = site.open_proposals(PROPOSED)
    return candidates_of(site, state, [p for p in open_now if not numbers or p.id in numbers])


def with_known(life: Life, **changes: Any) -> Proposal:
    """Return the proposal to replace w1, at a site where some others brought earlier days along."""
    life.create(workers=12, team=2, **changes)
    known = [WorkerRow(f"w{n}", prior_n=10, prior_mean=0.3 + n / 20) for n in (2, 3, 4, 5)]
    worker_imports.import_workers(life.store, "s", known, b"more", "ann")
    life.days(9, w0=GOOD, w1=BAD)
    return life.first()


def test_candidates_are_ranked_by_what_they_bring_and_the_unseen_are_one(life: Life) -> None:
    proposal = with_known(life)
    found = listed(life)[proposal.id]
    assert len(found) == SHOWN
    assert [c.value for c in found] == sorted((c.value for c in found), reverse=True)
    seen = [candidate.worker for candidate in found if not candidate.unseen]
    assert seen == sorted(seen, reverse=True), "the better they were, the earlier"
    (new,) = (candidate for candidate in found if candidate.unseen)
    unseen = [number for number in range(6, 12) if number != proposal.into]
    assert (new.worker, new.alike) == (unseen[0], len(unseen))
    assert proposal.into not in [candidate.worker for candidate in found]


POLICIES = [name for name in live_policies() if make_policy(name).interview(Setting(9, 3, 200, 1.0, 2.0)) is None]

FALLING_BACK = ("value-of-replacement", "value-of-replacement-evolving")
"""Policies whose reasons count who comes in after a failed trial."""


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_candidate_brings_is_their_own(life: Life, policy: str) -> None:
    """Each is judged as if requested in the place of the proposal, but with nobody else to come after them.

    To a policy with a price of stations, nobody else outside would change that price, so its gain is only bounded.
    """
    life.create(workers=9, team=3, policy=policy)
    known = [WorkerRow(f"w{n}", prior_n=10, prior_mean=0.3 + n / 20) for n in (3, 4, 5)]
    worker_imports.import_workers(life.store, "s", known, b"more", "ann")
    for _ in range(12):
        outputs: dict[str, Any] = {f"w{n}": (BAD, 0.2, GOOD)[n % 3] for n in life.site.roster.active}
        life.record(**outputs)
        if life.open():
            break
    with life.store.reading() as connection:
        key, site, _ = life.store.site(connection, "s")
        state = policy_state(connection, key, site)
    proposals = [site.proposals[number] for number in site.advice.proposals]
    assert sorted(proposal.id for proposal in proposals) == [p.id for p in site.open_proposals(PROPOSED)]
    situation = site.situation()
    for proposal, found in ((p, listed(life)[p.id]) for p in proposals):
        for candidate in found:
            pairs = [(p.out, candidate.worker if p is proposal else p.into) for p in proposals]
            reasons = site.policy.reasons(state, situation, pairs, [1.0] * len(pairs))
            if reasons is not None and (in_place := reasons[proposals.index(proposal)].gain) is not None:
                coming = np.isin(np.arange(9), [into for _, into in pairs])
                alone = replace(situation, may_enter=coming & situation.may_enter)
                nobody_after = site.policy.reasons(state, alone, pairs, [1.0] * len(pairs))
                assert nobody_after is not None
                own = candidate.facts.trial_value
                assert own == (nobody_after if policy in FALLING_BACK else reasons)[proposals.index(proposal)].gain or (
                    policy == "value-of-replacement-2" and own is not None and own <= in_place
                )
            assert candidate.value == (candidate.facts.trial_value or candidate.facts.gain) - candidate.facts.fee
        assert listed(life, proposal.id)[proposal.id] == found, "however many are asked for"


def test_a_poor_candidate_is_not_praised_for_who_could_follow(life: Life) -> None:
    proposal = with_known(life)
    seen = [candidate for candidate in listed(life)[proposal.id] if not candidate.unseen]
    best, worst = seen[0].facts, seen[-1].facts
    levels = best.into.mean - worst.into.mean
    assert best.trial_value is not None
    assert worst.trial_value is not None
    assert best.trial_value - worst.trial_value == pytest.approx(best.periods * levels, rel=0.1)


def test_those_who_may_not_come_are_no_candidates(life: Life) -> None:
    proposal = with_known(life)
    holds.block(life.store, "s", "w5", "ann", term=Term(days=9))
    commands.change_worker(life.store, "s", "w4", "ann", status="left")
    found = listed(life)[life.first().id]
    assert {4, 5, proposal.into}.isdisjoint(candidate.worker for candidate in found)
    turned = life.first()
    remarks.turn_down(life.store, "s", turned.id, "bo", "not-now")
    again = life.first()
    assert again.out == turned.out
    assert turned.into not in [candidate.worker for candidate in listed(life)[again.id]]


def test_somebody_else_comes_in_and_the_one_proposed_stays_available(life: Life) -> None:
    proposal = with_known(life)
    other = next(candidate for candidate in listed(life)[proposal.id] if not candidate.unseen)
    assert commands.approve(life.store, "s", proposal.id, "bo", into=f"w{other.worker}") == []
    site = life.site
    approved = site.proposals[proposal.id]
    assert (approved.status, approved.out, approved.into) == ("approved", proposal.out, other.worker)
    assert [hire.into for hire in site.roster.pending] == [other.worker]
    assert facts(site, approved).value == pytest.approx(other.value), "the reasons are those of the exchange approved"
    assert site.may_enter(proposal.into)
    assert site.fees == 1.0
    commands.record_offer(life.store, "s", proposal.id, "started", "bo")
    assert set(life.site.roster.active) == {0, other.worker}


def test_undo_brings_the_proposal_back_as_it_was(life: Life) -> None:
    proposal = with_known(life)
    commands.approve(life.store, "s", proposal.id, "bo", into="w2")
    commands.undo(life.store, "s", "bo")
    assert life.site.proposals[proposal.id] == proposal
    assert life.site.roster.pending == ()


def test_choosing_who_was_proposed_elsewhere_withdraws_that_proposal(life: Life) -> None:
    life.create(workers=8, team=3)
    life.days(9, w0=GOOD, w1=BAD, w2=BAD)
    first, second = life.site.open_proposals(PROPOSED)
    commands.approve(life.store, "s", first.id, "bo", into=f"w{second.into}")
    assert second.into not in [into for _, into in life.open()]
    assert [out for out, _ in life.open()] == [second.out], "who was to leave still is, for somebody else"


def test_both_may_be_chosen_and_doubts_are_told(life: Life) -> None:
    proposal = with_known(life, budget_a_week=5.0)
    commands.change_worker(life.store, "s", "w2", "ann", fee=7.0)
    holds.block(life.store, "s", "w2", "ann", "late twice", term=Term(days=30))
    until = life.site.block_on(2)
    assert until is not None
    warnings = commands.approve(life.store, "s", proposal.id, "bo", out="w0", into="w2")
    assert warnings == [
        f"w2 is blocked until {until.until}, and comes in by your decision",
        "the fee of w2, 7.00, exceeds what is left a week",
    ]
    assert life.site.proposals[proposal.id].fee == 7.0
    assert life.site.roster.pending[0].out == 0


@pytest.mark.parametrize(("worker", "message"), [("w0", "in the team"), ("w7", "has left"), ("w99", "not known")])
def test_who_cannot_come_is_refused(life: Life, worker: str, message: str) -> None:
    with_known(life)
    commands.change_worker(life.store, "s", "w7", "ann", status="left")
    before = life.events
    with pytest.raises(InvalidInput, match=message):
        commands.approve(life.store, "s", life.first().id, "bo", into=worker)
    assert life.events == before
