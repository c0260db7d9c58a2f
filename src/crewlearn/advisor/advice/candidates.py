"""Who could come in instead of the worker proposed, best first, with what each is expected to bring."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.advice.facts import ProposalFacts, facts
from crewlearn.advisor.advice.reasons import Knowledge, beliefs_of, knowledge, reasons_of
from crewlearn.advisor.ledger.site import PROPOSED, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import Reasons
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.explanations import Readings
from crewlearn.problem.arrays import NOBODY

SHOWN = 5
"""Candidates listed for a proposal."""

LISTED = 10
"""Proposals for which candidates are listed together; others are asked for one by one."""


@dataclass(frozen=True)
class Candidate:
    """Somebody who could come in, and the numbers behind it.

    Of `alike` people nothing is known that would tell them apart; the worker is the first of them to have joined.
    """

    worker: int
    alike: int
    unseen: bool
    facts: ProposalFacts

    @property
    def value(self) -> float:
        """The expected gain net of the fee, in money, as for a proposal."""
        return self.facts.value


def state_now(site: Site, learned: Any) -> Any:
    """Return the policy's state after the last advice, or None; `learned` is that of a policy that learns by day."""
    if site.memory is None or site.policy.learns_by_day:
        return learned
    return site.policy.state_from_json(site.memory if site.after is None else site.after)


def candidates_of(
    site: Site, state: Any, proposals: Sequence[Proposal], readings: Readings | None = None
) -> dict[int, tuple[Candidate, ...]]:
    """Return the candidates for open proposals, by their number; `state` is the policy's after the last advice.

    Everybody outside who may come in is ranked by the policy's level, those unseen and alike as one. The policy gives
    its reasons for the best of them, and what it expects decides about the order; ties are by who joined first.
    """
    waiting = [proposal for proposal in proposals if proposal.status == PROPOSED]
    if state is None or not waiting:
        return {proposal.id: () for proposal in waiting}
    policy, situation = site.policy, site.situation()
    ranked = _ranked(site, policy, state, situation)
    asked = {
        proposal.id: [group for group in ranked if not site.is_set_aside(proposal.out, group.worker)][: SHOWN + 1]
        for proposal in waiting
    }
    known = knowledge(site, policy, state, situation, readings)
    reasons = _reasons(site, policy, state, situation, asked, known)
    listed = {}
    for proposal in waiting:
        found = [
            Candidate(group.worker, group.alike, group.unseen, _facts(site, proposal, group.worker, reasons))
            for group in asked[proposal.id]
        ]
        listed[proposal.id] = _best(found)
    return listed


def _best(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the best candidates, with at least one group of unseen people if there is one."""
    ordered = sorted(found, key=lambda candidate: (-candidate.value, candidate.worker))
    shown = ordered[:SHOWN]
    new = next((candidate for candidate in ordered if candidate.unseen), None)
    if new is not None and new not in shown:
        shown[-1] = new
    return tuple(shown)


@dataclass(frozen=True)
class _Group:
    """A worker, or several unseen ones with the same fee and level, by the first of them."""

    worker: int
    alike: int
    unseen: bool
    level: float
    fee: float


def _ranked(site: Site, policy: Policy[Any], state: Any, situation: Situation) -> list[_Group]:
    """Return the best who may come in and are neither proposed nor on their way, by level, fee and who joined first.

    The best group of unseen people is among them, whatever its level: to try somebody new may pay all the same.
    """
    levels = policy.levels(state, situation)
    means = beliefs_of(site).means.tolist() if levels is None else [level.mean or 0.0 for level in levels]
    taken = {proposal.into for proposal in site.open_proposals()}
    seen, unseen = list[_Group](), dict[tuple[float, float, float | None], _Group]()
    for worker in site.roster.outside:
        if worker in taken or not situation.may_enter[worker]:
            continue
        fee = site.fee_of(worker)
        if site.estimates.counts[worker]:
            seen.append(_Group(worker, 1, False, means[worker], fee))
            continue
        key = (means[worker], fee, site.workers[worker].interview)
        before = unseen.get(key)
        first = worker if before is None else before.worker
        unseen[key] = _Group(first, 1 if before is None else before.alike + 1, True, means[worker], fee)
    groups = list(unseen.values())
    best = heapq.nsmallest(2 * SHOWN, [*seen, *groups], key=_rank)
    new = heapq.nsmallest(1, groups, key=_rank)
    return best if not new or new[0] in best else [*best[:SHOWN], *new]


def _rank(group: _Group) -> tuple[float, float, int]:
    return -group.level, group.fee, group.worker


def _reasons(
    site: Site,
    policy: Policy[Any],
    state: Any,
    situation: Situation,
    asked: Mapping[int, Sequence[_Group]],
    known: Knowledge,
) -> dict[tuple[int, int], Reasons]:
    """Return the reasons for each proposal with each worker asked about in place of the one proposed.

    They are judged among the other proposals, as the proposal was. Those with somebody going out are asked about at
    once; for empty stations, which are all alike, each worker is asked about in the place of the first of them.
    """
    proposals = _together(site)
    reasons: dict[tuple[int, int], Reasons] = {}
    pairs, keys = list[Pair](), list[tuple[int, int]]()
    for proposal in proposals:
        pairs.append((proposal.out, proposal.into))
        keys.append((proposal.id, proposal.into))
        if proposal.out != NOBODY:
            groups = asked.get(proposal.id, ())
            pairs += [(proposal.out, group.worker) for group in groups]
            keys += [(proposal.id, group.worker) for group in groups]
    told = reasons_of(site, policy, state, situation, pairs, known=known, with_break_even=False)
    reasons.update(zip(keys, map(Reasons.from_json, told), strict=True))
    open_hires = [proposal for proposal in proposals if proposal.out == NOBODY and proposal.id in asked]
    empty = [proposal for proposal in open_hires if proposal.filled_empty_station]
    for proposal in open_hires:
        place = empty[0] if proposal in empty else proposal
        for worker in (group.worker for group in asked[proposal.id]):
            if (place.id, worker) not in reasons:
                pair = (NOBODY, worker)
                reasons[place.id, worker] = reasons_in_place(site, policy, state, situation, place, pair, known)
            reasons[proposal.id, worker] = reasons[place.id, worker]
    return reasons


def reasons_in_place(
    site: Site,
    policy: Policy[Any],
    state: Any,
    situation: Situation,
    proposal: Proposal,
    pair: Pair,
    known: Knowledge | None = None,
) -> Reasons:
    """Return the reasons for an exchange in the place of a proposal, among the other proposals.

    Somebody else for the same place is an alternative, with the same reasons as in the list of candidates.
    """
    out, into = pair
    beside = list[Pair]()
    for other in _together(site):
        if other.id == proposal.id:
            chosen_instead = out != NOBODY and out == other.out and into != other.into
            beside += [(out, other.into), pair] if chosen_instead else [pair]
        elif other.into != into and (out == NOBODY or other.out != out):
            beside.append((other.out, other.into))
    told = reasons_of(site, policy, state, situation, beside, known=known, with_break_even=known is None)
    return Reasons.from_json(told[beside.index(pair)])


def _together(site: Site) -> list[Proposal]:
    """Return the proposals that wait for an answer, in the order in which the policy requested them."""
    waiting = {proposal.id: proposal for proposal in site.open_proposals(PROPOSED)}
    return [waiting[number] for number in site.advice.proposals if number in waiting]


def _facts(site: Site, proposal: Proposal, worker: int, reasons: Mapping[tuple[int, int], Reasons]) -> ProposalFacts:
    why = reasons[proposal.id, worker]
    return facts(site, Proposal(proposal.id, site.period, proposal.out, worker, why=why))
