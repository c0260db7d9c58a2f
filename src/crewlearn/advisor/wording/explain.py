"""Advice in plain words and the site's units: what to do or wait for, why, and what would change it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from crewlearn.advisor.advice.candidates import Candidate
from crewlearn.advisor.advice.facts import PeopleEstimate, ProposalFacts, facts, people_estimate
from crewlearn.advisor.advice.readings import PeopleLevel, PersonLearned, SiteLearned, has_readings
from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.notices.sources import takes_too_long
from crewlearn.advisor.ledger.site import OPEN, POOL, PROPOSED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.text import counted, some_of
from crewlearn.advisor.wording.candidates import candidate_lines
from crewlearn.advisor.wording.doubt import chance
from crewlearn.advisor.wording.figures import Figures, to_the_cent
from crewlearn.advisor.wording.learned import judged_words, person_notes, ramp_words, trend_words
from crewlearn.advisor.wording.limits import reached_words
from crewlearn.advisor.wording.names import RecordNames, place
from crewlearn.advisor.wording.past.narration import cause_told
from crewlearn.advisor.wording.remarks import blocked_words, pinned_words
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.arrays import NOBODY


def sentence(site: Site, people: People) -> str:
    """Return the advice in one sentence."""
    open_now = site.open_proposals(PROPOSED)
    if open_now:
        pairs = "; ".join(proposed(people, proposal) for proposal in open_now)
        return f"Proposed for {day(site)}: {pairs}."
    return f"Wait ({day(site)}): {waits(site, people)}"


def proposed(people: People, proposal: Proposal) -> str:
    """Return what a proposal asks for, as the end of a sentence."""
    into = people.label(proposal.into)
    if proposal.out != NOBODY:
        return f"replace {people.label(proposal.out)} by {into}"
    if proposal.why.leaver == NOBODY:
        return f"bring in {into} to fill an empty station"
    return f"bring in {into}; who makes room is settled on arrival, now {people.label(proposal.why.leaver)}"


def what_changed(site: Site, people: People) -> str:
    """Return how the advice differs from the first advice for the period, and why; empty if it does not."""
    before = site.advice.before
    if before is None or before.period != site.period:
        return ""
    at_first, now = set(before.proposals), {proposal.id for proposal in site.open_proposals(PROPOSED)}
    gone = [site.proposals[number] for number in sorted(at_first - now) if number in site.proposals]
    became: dict[str, list[str]] = {}
    for proposal in gone:
        became.setdefault(proposal.status, []).append(f"{people.label(proposal.into)} for {place(people, proposal)}")
    for number in sorted(now - at_first):
        became.setdefault("new", []).append(people.label(site.proposals[number].into))
    if not became:
        return ""
    parts = (f"{some_of(who, 3)} {'is' if len(who) == 1 else 'are'} {what}" for what, who in became.items())
    names = RecordNames(people, site.proposals, site.config.calendar)
    facts_behind = [words for cause in site.advice.because if (words := cause_told(cause, names))]
    since = f" ({'; '.join(dict.fromkeys(facts_behind))})" if facts_behind else ""
    return f"Changed since the first advice{since}: {'; '.join(parts)}."


def day(site: Site, period: int | None = None) -> str:
    """Return a period's date and number; the coming period if left out."""
    when = site.period if period is None else period
    return f"{site.config.calendar.date_of(when)}, period {when}"


def waits(site: Site, people: People, written: Callable[[date], str] = str) -> str:
    """Return what the site waits for, or why nothing is proposed; `written` formats dates."""
    waiting = site.advice.waiting
    if not site.workers:
        return "import workers first."
    awaited = [people.label(proposal.into) for proposal in site.open_proposals(*UNDER_WAY)]
    if awaited:
        return f"{some_of(awaited, 3)} {'is' if len(awaited) == 1 else 'are'} on the way."
    if site.held_back:
        return f"{len(site.held_back)} more would be proposed, but {reached_words(site)}."
    if waiting.get("too_dear"):
        dear = some_of([people.label(number) for number in waiting["too_dear"]], 3)
        return f"{dear} would be proposed, but not at the fee that they cost."
    if waiting.get("still_needed") and not has_readings(site.policy):
        who, times = people.label(waiting["least_observed"]), waiting["still_needed"]
        return f"{who} must be seen on {times} more {'day' if times == 1 else 'days'} before the next decision."
    outside = [number for number in site.roster.outside if site.may_enter(number)]
    if not outside:
        empty = site.roster.empty
        stations = f"{empty} {'station is' if empty == 1 else 'stations are'} empty, and " if empty else ""
        return f"{stations}nobody outside the team may come in now; import workers, or wait until somebody is free."
    if site.period > site.setting().horizon:
        return "the planned periods are over; set a longer horizon, or make it rolling."
    staying, most = _staying(site, written)
    if most:
        return f"nobody in the team may be replaced now: {staying}."
    verdict = "no replacement is worth its fee now"
    if not site.policy.weighs_fees:
        verdict = f"policy {site.config.policy.partition(':')[0]} asks for nothing now"
    judged = judged_words(site, people)
    rest = f"; {judged}" if judged else _looks_again(site, waiting, written)
    return f"{verdict}{f' ({staying})' if staying else ''}{rest}."


def _staying(site: Site, written: Callable[[date], str]) -> tuple[str, bool]:
    """Describe who in the team may not be let go, and return whether that is everybody."""
    pinned = [number for number in site.roster.active if site.is_pinned(number)]
    new = [number for number in site.roster.active if number not in pinned and not site.may_leave(number)]
    parts = []
    if pinned:
        parts.append(f"{len(pinned)} {'is' if len(pinned) == 1 else 'are'} pinned")
    if new:
        calendar = site.config.calendar
        earliest = min(calendar.order_of(site.workers[number].since) for number in new)
        first = calendar.period_at(earliest + site.config.least_tenure)
        stay = "stays" if len(new) == 1 else "stay"
        until = written(site.config.calendar.date_of(first))
        parts.append(f"{len(new)} {stay} for the least tenure, the first to {until}")
    everybody = bool(site.roster.active) and len(pinned) + len(new) == len(site.roster.active) and not site.roster.empty
    return " and ".join(parts), everybody


def _looks_again(site: Site, waiting: Mapping[str, Any], written: Callable[[date], str]) -> str:
    """Return when a policy that pauses looks again, as the end of a sentence."""
    when = waiting.get("look_again", 0)
    if when <= site.period + 1:
        return ""
    if when > site.setting().horizon:
        return ", nor before the end as things stand"
    return f"; it is looked at again on {written(site.config.calendar.date_of(when))}, or when facts change"


def explain(
    site: Site,
    people: People,
    proposal: Proposal,
    candidates: Sequence[Candidate] = (),
    figures: Figures | None = None,
) -> list[str]:
    """Explain a proposal as of the time it was made, line by line; `candidates` are who could come in instead now."""
    numbers, into = facts(site, proposal), people.label(proposal.into)
    figures = figures or to_the_cent(site.config.currency)
    lines = [f"{proposal.status.capitalize()}: {into} in the place of {place(people, proposal)} ({proposal.id})."]
    if numbers.out is None:
        lines.append("The station is empty, so all output there is a gain.")
    else:
        when = "now" if proposal.status in OPEN else "then"
        where = f"who would make room {when}" if numbers.settled_on_arrival else f"in the team {when}"
        lines.append(_about(people.label(numbers.leaver), numbers.out, where, figures))
    lines.append(_about(into, numbers.into, "coming in", figures))
    if numbers.out is not None:
        lines.append(f"Chance that {into} does better: {chance(numbers.chance_better or 0.0)}.")
    lines.append(_gain(numbers, figures))
    if proposal.reason:
        lines.append(f"Reason given for the answer: {proposal.reason}")
    others = [f"Next best: {line}." for line in candidate_lines(people, candidates, figures)]
    return [*lines, *_policy_lines(proposal, numbers, figures), *others]


def _about(who: str, estimate: PeopleEstimate, where: str, figures: Figures) -> str:
    ramped = " after ramp-up" if estimate.after_ramp_up else ""
    mean, low, high = (figures.output(value) for value in (estimate.mean, estimate.low, estimate.high))
    between = f"{mean}{ramped} (95% between {low} and {high})"
    if estimate.days == estimate.prior == 0:
        return f"{who}, {where}: never seen here; judged by the pool, {between}."
    earlier = f" and {estimate.prior} before" if estimate.prior else ""
    notes = "".join(f"; {note}" for note in (ramp_words(estimate.ramp_up), trend_words(estimate.trend)) if note)
    return f"{who}, {where}: {between} after {counted(estimate.days, 'day')} here{earlier}{notes}."


def _gain(numbers: ProposalFacts, figures: Figures) -> str:
    left, lasting = round(numbers.periods_left), round(numbers.periods)
    over = f"Over the {counted(left, 'period')} left after a wait of about {numbers.mean_delay:.1f}"
    if lasting < left:
        over += f", of which {lasting} count as people quit"
    if numbers.gain >= 0.0:
        gain = f"a permanent replacement is expected to gain {figures.money(numbers.gain)}"
    else:
        loss = figures.money(-numbers.gain)
        gain = f"a permanent replacement is expected to lose {loss}, but trying it out may still pay"
    return f"{over}, {gain}; the fee is {figures.money(numbers.fee)}."


def _policy_lines(proposal: Proposal, numbers: ProposalFacts, figures: Figures) -> list[str]:
    """Return the policy's own reasons, and what would change the advice."""
    name = proposal.why.by.partition(":")[0]
    if numbers.trial_value is not None and numbers.trial_periods is not None:
        return [
            f"With the option to go back after about {counted(round(numbers.trial_periods), 'period')} if it does not "
            f"work out, replacing is worth {figures.money(numbers.trial_value)} in expectation before fees.",
            f"{_asked_for(numbers)}the advice would change if the fee were above about "
            f"{figures.money(numbers.break_even or 0.0)}, or if more days brought them closer.",
        ]
    if numbers.needed_gain is not None:
        at_best = (
            "without limit, as one of them was never seen"
            if numbers.optimistic_gain is None
            else f"{figures.money(numbers.optimistic_gain)} a period"
        )
        return [
            f"In the best case that fits the data, the exchange gains {at_best}; to pay its fee it must gain "
            f"{figures.money(numbers.needed_gain)}.",
            "The advice would change if that best case fell below what the fee needs.",
        ]
    line = REGISTRY[name].line if name in REGISTRY else "a policy of your own"
    if numbers.break_even is not None:
        return [
            f"The policy is {name}: {line}.",
            f"The advice would change if the fee were above {figures.money(numbers.break_even)}, or with more days.",
        ]
    return [
        f"The policy is {name}: {line}. It weighs no money, so the numbers above are for you to judge by.",
        "The advice would change with the policy's own dates and scores, or with another policy.",
    ]


def _asked_for(numbers: ProposalFacts) -> str:
    """Return how many times the fee a replacement must be worth, as the beginning of a sentence."""
    times = numbers.trial_value / numbers.break_even if numbers.trial_value and numbers.break_even else 1.0
    return f"The policy asks for a gain of {times:.3g} times the fee: "


@dataclass(frozen=True)
class Member:
    """A worker in the status; `learned` is what the policy has learned about them, if it offers readings."""

    number: int
    label: str
    station: int | None
    estimate: PeopleEstimate
    note: str
    learned: PersonLearned | None = None

    @property
    def level(self) -> PeopleEstimate | PeopleLevel:
        """What to judge them by: the level after ramp-up if the policy learns it, else the estimate."""
        return self.estimate if self.learned is None else self.learned.level

    def notes(self, written: Callable[[date], str] = str) -> tuple[str, ...]:
        """Return the note, and what was learned; `written` formats dates."""
        return (*([self.note] if self.note else ()), *person_notes(self.learned, written))


def members(
    site: Site,
    people: People,
    everybody: Sequence[Mapping[str, float]] | None = None,
    learned: SiteLearned | None = None,
) -> list[Member]:
    """Return all workers: the team by station, then the others, best first.

    `everybody` are their estimates, `learned` is what the policy has learned, by which they are then ranked.
    """
    if everybody is None:
        everybody, _ = estimates_of(site)
    under_way: dict[int, list[str]] = {}
    for proposal in site.open_proposals():
        for number, words in _under_way(site, people, proposal):
            under_way.setdefault(number, []).append(words)
    listed = []
    for number, (record, worker, station) in enumerate(
        zip(everybody, site.workers, site.roster.arrays.station_of.tolist(), strict=True)
    ):
        barred = worker.status == POOL and worker.barred_until > site.period and station < 0
        notes = [
            pinned_words(site, number),
            blocked_words(site, number) or ("" if worker.status == POOL else worker.status),
            f"not before {site.config.calendar.date_of(worker.barred_until)}" if barred else "",
            *under_way.get(number, ()),
        ]
        note = ", ".join(note for note in notes if note)
        estimate = people_estimate(site.config.units, record)
        own = None if learned is None else learned.people[number]
        listed.append(Member(number, people.label(number), None if station < 0 else station, estimate, note, own))
    better = 1.0 if site.config.units.lower_is_better else -1.0
    return sorted(
        listed,
        key=lambda member: (
            member.station is None,
            member.station or 0,
            better * member.level.mean if member.station is None else 0.0,
        ),
    )


def _under_way(site: Site, people: People, proposal: Proposal) -> Iterator[tuple[int, str]]:
    """Yield the number of each worker in a proposal, and what it means for them."""
    late = ", overdue" if is_overdue(site, proposal) else ""
    yield proposal.into, f"{proposal.status} for {place(people, proposal)}{late}"
    if proposal.out != NOBODY:
        yield proposal.out, f"to be replaced by {people.label(proposal.into)}"


def is_overdue(site: Site, proposal: Proposal) -> bool:
    """Return whether an offer is overdue by the days on record; it is only flagged."""
    return takes_too_long(site, proposal, site.period - proposal.decided_in)
