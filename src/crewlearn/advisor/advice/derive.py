"""Advice for the coming period: the policy's decision given the facts, derived once and then stored.

The policy is asked once for each coming period. Within the period it is asked again only after a relevant change:
somebody declined, was rejected, joined, left, was pinned or blocked, or the settings or the recorded output changed.
A pin or block with an end ends by itself: the policy is told so with the first advice for that day or a later one.
Until a person has answered one of this period's proposals, asking again starts from the memory before the period.
"""

import math
from dataclasses import replace
from typing import Any

from crewlearn.advisor.advice.limits import outside_pilot, within_limits
from crewlearn.advisor.advice.reasons import reasons_of, too_dear, waiting_of
from crewlearn.advisor.ledger.events import LIMIT_ON_REFILLS, RULE_VERSION, WHOLE_MEMORY, Advised, canonical
from crewlearn.advisor.ledger.learned.learning import NO_DAYS, DayRecord, interview_scores, learn
from crewlearn.advisor.ledger.site import PROPOSED, UNDER_WAY, Site
from crewlearn.advisor.ledger.site.advice_record import Reasons
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.transitions import LEGAL, request_fault

WAIT, PROPOSE = "wait", "propose"


def derive(site: Site, rules: str = RULE_VERSION, days: DayRecord = NO_DAYS) -> Advised:
    """Ask the policy about the coming period and return the advice; the site is not changed.

    A policy that learns by day is first told of the recorded `days` that it has not learned from yet. It is asked with
    what it has learned, whatever it was asked before.

    Of the replacements that the policy wants and that are not under way, those beyond the site's limits a week and
    month are held back. Filling an empty station is exempt, except under version 2 of the `rules`. During a pilot,
    hires for empty stations in usual practice are held back too.
    """
    policy = site.policy
    interview = policy.interview(site.setting()) if site.memory is None else None
    situation = site.situation()
    learned = None
    if policy.learns_by_day:
        memory, learned = _learned(site, policy, situation, days)
    else:
        memory = _memory_before(site, policy, situation)
    situation, wanted, after, dear = _asked(site, policy, memory, situation)
    wanted, left_to_usual = outside_pilot(site, wanted)
    proposed, held_back = within_limits(site, wanted, exempts=rules != LIMIT_ON_REFILLS)
    reasons = reasons_of(site, policy, after, situation, proposed)
    before, since = (None, None) if learned is not None else _told_once(site, policy, memory, after, rules)
    return Advised(
        period=site.period,
        kind=PROPOSE if proposed else WAIT,
        pairs=tuple(proposed),
        held_back=(*held_back, *left_to_usual),
        reasons=tuple(Reasons.from_json(reason) for reason in reasons),
        waiting={**waiting_of(policy, after, situation), "too_dear": sorted(dear)},
        interviews=0.0 if interview is None else site.config.units.money(interview.fee),
        memory=before,
        after=since,
        learned=learned,
    )


def _asked(
    site: Site, policy: Policy[Any], memory: Any, situation: Situation
) -> tuple[Situation, list[Pair], Any, set[int]]:
    """Ask the policy, which knows only the site's fee; ask again without workers whose own fee is too high."""
    dear = set[int]()
    while True:
        situation, wanted, after = _decided(site, policy, memory, situation)
        news: set[int] = set()
        if any(site.fee_of(into) > site.config.fee for _, into in wanted):
            news = too_dear(site, wanted, reasons_of(site, policy, after, situation, wanted))
        if not news:
            return situation, wanted, after, dear
        dear |= news
        situation = _without(situation, "may_enter", *news)


Decided = tuple[Situation, list[Pair], Any]
"""The situation that a policy was asked in, the replacements it wants, and its state since."""


def _decided(site: Site, policy: Policy[Any], memory: Any, situation: Situation) -> Decided:
    """Ask the policy, which knows nothing of exchanges set aside; ask again until it wants none of them.

    It is asked without those coming in and without those leaving, and the better answer counts. So each of them stays
    available for other exchanges.
    """
    decided = _asked_once(site, policy, memory, situation)
    while True:
        situation, wanted, _ = decided
        aside = [pair for pair in wanted if site.is_set_aside(*pair)]
        if not aside:
            return decided
        fewer = [_without(situation, "may_enter", *(into for _, into in aside))]
        if all(out != NOBODY for out, _ in aside):
            fewer.append(_without(situation, "may_leave", *(out for out, _ in aside)))
        others = [_asked_once(site, policy, memory, without) for without in fewer]
        decided = max(others, key=lambda other: _worth(site, policy, other))


def _asked_once(site: Site, policy: Policy[Any], memory: Any, situation: Situation) -> Decided:
    pairs, after = policy.decide(memory, situation)
    return situation, [pair for pair in pairs if request_fault(site.roster.arrays, *pair) == LEGAL], after


def _without(situation: Situation, which: str, *workers: int) -> Situation:
    """Return the situation in which these workers may not enter, or may not leave."""
    may = getattr(situation, which).copy()
    may[list(workers)] = False
    return replace(situation, **{which: may})


def _worth(site: Site, policy: Policy[Any], decided: Decided) -> tuple[float, int]:
    """Return the expected gain of what a policy wants, net of fees, as far as it says; and how many it wants.

    Exchanges set aside do not count.
    """
    situation, pairs, after = decided
    wanted = [pair for pair in pairs if not site.is_set_aside(*pair)]
    reasons = (policy.reasons(after, situation, wanted) if wanted else None) or ()
    fees = [site.config.units.policy_cost(site.fee_of(into)) for _, into in wanted]
    gains = [reason.gain - fee for reason, fee in zip(reasons, fees, strict=False) if reason.gain is not None]
    return math.fsum(gains), len(wanted)


def _told_once(site: Site, policy: Policy[Any], memory: Any, after: Any, rules: str) -> tuple[Any, Any]:
    """Return the policy's state before and after it was asked as plain data, each None if nothing changed it."""
    before, since = policy.state_to_json(memory), policy.state_to_json(after)
    if rules in (LIMIT_ON_REFILLS, WHOLE_MEMORY):
        return before, since
    text = canonical(before)
    return None if text == canonical(site.after) else before, None if text == canonical(since) else since


def _learned(site: Site, policy: Policy[Any], situation: Situation, days: DayRecord) -> tuple[Any, str]:
    """Return the state of a policy that learns by day before it is asked, and the digest of what it has learned."""
    learned, digest = learn(site, policy, days)
    if site.revised or site.remarks_ended or site.pilot_turned or learned.workers < len(site.workers):
        return policy.revise(learned.state, situation), digest
    return learned.state, digest


def _memory_before(site: Site, policy: Policy[Any], situation: Situation) -> Any:
    """Return the policy's state before it is asked, updated with everything that happened since it was last asked."""
    if site.memory is None or site.after is None:
        return policy.start(situation, site.config.stream_key, interview_scores(site, policy))
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
    if site.revised or site.remarks_ended or site.pilot_turned:
        memory = policy.revise(memory, situation)
    return memory


def lapsed(site: Site) -> list[Pair]:
    """Return an earlier period's pairs that were unanswered or held back; the policy is told that they failed."""
    if site.decided == site.period:
        return []
    unanswered = [
        (proposal.out, proposal.into) for proposal in site.open_proposals(PROPOSED) if proposal.period < site.period
    ]
    return [*unanswered, *site.held_back]


def _acted_on(site: Site) -> bool:
    """Return whether a person has answered any proposal of this period."""
    return bool(site.completed or site.failed) or any(
        proposal.status in UNDER_WAY and proposal.decided_in == site.period for proposal in site.proposals.values()
    )
