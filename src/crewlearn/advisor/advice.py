"""Advice for the coming period: what the policy says, given the facts; derived once, then stored.

The policy is asked once for each coming period. Within the period it is asked again only if facts changed that bear on
it: somebody declined or was rejected, joined, left, was pinned or blocked, the setting or the record of output changed.
As long as nobody has acted on this period's proposals it is then asked afresh, as if for the first time.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crewlearn.advisor.reasons import in_full, reasons_of, too_dear, waiting_of
from crewlearn.advisor.site import FAILURES, LEFT, PROPOSED, REJECTED, UNDER_WAY, WITHDRAWN, Proposal, Site
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.team_policy import NOT_INTERVIEWED
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.transitions import LEGAL, request_fault

WAIT, PROPOSE = "wait", "propose"


def is_due(site: Site) -> bool:
    """Say whether advice must be derived: for a new period, or because facts changed within it."""
    return bool(site.workers) and (site.decided < site.period or site.changed or site.revised)


def derive(site: Site) -> dict[str, Any]:
    """Ask the policy about the coming period; give what is put on record. Changes nothing.

    `pairs` are all replacements that the policy wants and that are not under way; of those that `most_a_week` does not
    allow, `held_back` says which. `memory` and `after` are the policy's memory before and after it was asked.
    """
    policy = site.policy
    interview = policy.interview(site.setting()) if site.memory is None else None
    situation = site.situation()
    memory = _memory_before(site, policy, situation)
    situation, wanted, after, dear = _asked(site, policy, memory, situation)
    room = _room_this_week(site)
    proposed = wanted if room is None else wanted[:room]
    return {
        "period": site.period,
        "kind": PROPOSE if proposed else WAIT,
        "pairs": [list(pair) for pair in proposed],
        "held_back": [list(pair) for pair in wanted[len(proposed) :]],
        "reasons": reasons_of(site, policy, after, situation, proposed),
        "waiting": {**waiting_of(policy, after, situation), "too_dear": sorted(dear)},
        "interviews": 0.0 if interview is None else site.config.units.money(interview.fee),
        "memory": policy.state_to_json(memory),
        "after": policy.state_to_json(after),
    }


def _asked(
    site: Site, policy: Policy[Any], memory: Any, situation: Situation
) -> tuple[Situation, list[Pair], Any, set[int]]:
    """Ask the policy, which knows the site's fee alone, and ask again without those whose own fee is too dear."""
    dear = set[int]()
    while True:
        pairs, after = policy.decide(memory, situation)
        wanted = [pair for pair in pairs if request_fault(site.roster.arrays, *pair) == LEGAL]
        news: set[int] = set()
        if any(site.fee_of(into) > site.config.fee for _, into in wanted):
            news = too_dear(site, wanted, reasons_of(site, policy, after, situation, wanted))
        if not news:
            return situation, wanted, after, dear
        dear |= news
        may_enter = situation.may_enter.copy()
        may_enter[list(news)] = False
        situation = replace(situation, may_enter=may_enter)


def _memory_before(site: Site, policy: Policy[Any], situation: Situation) -> Any:
    """Give what the policy remembers when it is asked, having heard of all that happened since it was last asked."""
    if site.memory is None or site.after is None:
        return policy.start(situation, site.config.stream_key, _interview_scores(site, policy))
    afresh = site.decided == site.period and not _acted_on(site)
    memory = policy.state_from_json(site.memory if afresh else site.after)
    if not afresh:
        report = Report(
            period=site.period - 1 if site.decided < site.period else site.period,
            output=site.last_output if site.decided < site.period else {},
            completed=tuple(site.completed),
            failed=(*site.failed, *lapsed(site)),
        )
        memory = policy.observe(memory, report)
    if site.revised:
        memory = policy.revise(memory, situation)
    return memory


def lapsed(site: Site) -> list[Pair]:
    """Give the pairs of an earlier period that nobody answered or that were held back: to the policy, they failed."""
    if site.decided == site.period:
        return []
    unanswered = [(one.out, one.into) for one in site.open_proposals(PROPOSED) if one.period < site.period]
    return [*unanswered, *site.held_back]


def _acted_on(site: Site) -> bool:
    """Say whether a person has answered any proposal of this period."""
    return bool(site.completed or site.failed) or any(
        one.status in UNDER_WAY and one.decided_in == site.period for one in site.proposals.values()
    )


def _interview_scores(site: Site, policy: Policy[Any]) -> Any:
    if policy.interview(site.setting()) is None:
        return None
    missing = not_interviewed(site)
    if missing:
        remedy = f"policy {policy.name} ranks by interview scores; worker {missing[0]} has none, so import one"
        raise InvalidInput("interview", None, remedy)
    scores = [NOT_INTERVIEWED if worker.interview is None else worker.interview for worker in site.workers]
    return np.array(scores, dtype=np.float64)


def not_interviewed(site: Site) -> list[int]:
    """Give who has no interview score and may need one: who left or was erased comes last if they ever return."""
    return [number for number, worker in enumerate(site.workers) if worker.interview is None and worker.status != LEFT]


def _room_this_week(site: Site) -> int | None:
    """Give how many more replacements may be proposed this week; None if there is no limit."""
    most = site.config.most_a_week
    if most is None:
        return None
    week = site.config.calendar.week_of(site.period)
    begun = sum(
        one.decided_in > 0 and site.config.calendar.week_of(one.decided_in) == week
        for one in site.proposals.values()
        if one.status not in (PROPOSED, REJECTED, WITHDRAWN, *FAILURES)  # a decline brings the next candidate
    )
    return max(0, most - begun)


def take_up(site: Site, payload: Mapping[str, Any]) -> None:
    """Put derived advice into the state: proposals that stand keep their number, others are withdrawn or made."""
    wanted: list[Pair] = [(out, into) for out, into in payload["pairs"]]
    standing = {(one.out, one.into): one.id for one in site.open_proposals(PROPOSED)}
    for pair, number in standing.items():
        if pair not in wanted:
            site.set_proposal(number, status=WITHDRAWN)
    ids = []
    for (out, into), why in zip(wanted, payload["reasons"], strict=True):
        number = standing.get((out, into), site.next_proposal)
        site.next_proposal += number == site.next_proposal
        site.proposals[number] = Proposal(number, site.period, out, into, why=in_full(why, out, site))
        ids.append(number)
    site.held_back = [(out, into) for out, into in payload["held_back"]]
    site.memory, site.after = dict(payload["memory"]), dict(payload["after"])
    site.decided, site.changed, site.revised = site.period, False, False
    site.completed, site.failed = [], []
    interviews = payload.get("interviews", 0.0)  # rules 1 did not charge them
    site.interviews += interviews
    site.fees += interviews
    first, because = _first_said(site.advice, site.period)
    because, site.because = [*because, *site.because], []
    site.advice = {
        "period": payload["period"],
        "kind": payload["kind"],
        "proposals": ids,
        "held_back": payload["held_back"],
        "waiting": payload["waiting"],
        "before": first,
        "because": because,
    }


def _first_said(advice: Mapping[str, Any], period: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give what was first said of a period, and what happened since; nothing, if this is the first."""
    if advice.get("period") != period:
        return {}, []
    if advice["before"]:
        return advice["before"], advice["because"]
    return {key: advice[key] for key in ("period", "kind", "proposals")}, []
