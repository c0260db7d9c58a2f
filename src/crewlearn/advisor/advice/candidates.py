"""Who could come in instead of the worker proposed, best first, with what each is expected to bring."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.advice.facts import ProposalFacts, facts
from crewlearn.advisor.advice.reasons import beliefs_of, knowledge, reasons_of
from crewlearn.advisor.ledger.advice_record import Reasons
from crewlearn.advisor.ledger.site import PROPOSED, Proposal, Site
from crewlearn.policies.contract import Pair, Policy, Situation
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


def candidates_of(site: Site, state: Any, proposals: Sequence[Proposal]) -> dict[int, tuple[Candidate, ...]]:
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
    pairs = [(proposal.out, group.worker) for proposal in waiting for group in asked[proposal.id]]
    reasons = _reasons(site, policy, state, situation, list(dict.fromkeys(pairs)))
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
    site: Site, policy: Policy[Any], state: Any, situation: Situation, pairs: Sequence[Pair]
) -> dict[Pair, Reasons]:
    """Return the reasons for each pair, each judged as if it was requested alone.

    Pairs with the same worker going out are alternatives, which policies judge together. A pair that is alone, or for
    an empty station, is asked for by itself.
    """
    times = Counter(out for out, _ in pairs if out != NOBODY)
    batches = [[pair for pair in pairs if times[pair[0]] > 1], *([pair] for pair in pairs if times[pair[0]] <= 1)]
    known = knowledge(site, policy, state, situation)
    reasons: dict[Pair, Reasons] = {}
    for batch in batches:
        told = reasons_of(site, policy, state, situation, batch, known=known, with_break_even=False)
        reasons.update(zip(batch, map(Reasons.from_json, told), strict=True))
    return reasons


def _facts(site: Site, proposal: Proposal, worker: int, reasons: Mapping[Pair, Reasons]) -> ProposalFacts:
    why = reasons[proposal.out, worker]
    return facts(site, Proposal(proposal.id, site.period, proposal.out, worker, why=why))
