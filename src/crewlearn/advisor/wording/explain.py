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
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.wording.candidates import candidate_lines
from crewlearn.advisor.wording.doubt import chance
from crewlearn.advisor.wording.figures import Figures, to_the_cent
from crewlearn.advisor.wording.learned import judged_words, person_notes, ramp_words, trend_words
from crewlearn.advisor.wording.limits import reached_words
from crewlearn.advisor.wording.names import RecordNames, place
from crewlearn.advisor.wording.past.narration import cause_told
from crewlearn.advisor.wording.remarks import blocked_words, pinned_words
from crewlearn.language import _, localized, noted, plural
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.arrays import NOBODY


def sentence(site: Site, people: People) -> str:
    """Return the advice in one sentence."""
    open_now = site.open_proposals(PROPOSED)
    if open_now:
        pairs = "; ".join(proposed(people, proposal) for proposal in open_now)
        return _("Proposed for {day}: {pairs}.", day=day(site), pairs=pairs)
    return _("Wait ({day}): {waits}", day=day(site), waits=waits(site, people))


def proposed(people: People, proposal: Proposal) -> str:
    """Return what a proposal asks for, as the end of a sentence."""
    into = people.label(proposal.into)
    if proposal.out != NOBODY:
        return _("replace {out} by {into}", out=people.label(proposal.out), into=into)
    if proposal.why.leaver == NOBODY:
        return _("bring in {into} to fill an empty station", into=into)
    return _(
        "bring in {into}; who makes room is settled on arrival, now {leaver}",
        into=into,
        leaver=people.label(proposal.why.leaver),
    )


def what_changed(site: Site, people: People) -> str:
    """Return how the advice differs from the first advice for the period, and why; empty if it does not."""
    before = site.advice.before
    if before is None or before.period != site.period:
        return ""
    at_first, now = set(before.proposals), {proposal.id for proposal in site.open_proposals(PROPOSED)}
    gone = [site.proposals[number] for number in sorted(at_first - now) if number in site.proposals]
    became: dict[str, list[str]] = {}
    for proposal in gone:
        became.setdefault(proposal.status, []).append(
            _("{into} for {place}", into=people.label(proposal.into), place=place(people, proposal))
        )
    for number in sorted(now - at_first):
        became.setdefault(noted("new"), []).append(people.label(site.proposals[number].into))
    if not became:
        return ""
    parts = (
        plural("{names} is {status}", "{names} are {status}", len(who), names=some_of(who, 3), status=_(status))
        for status, who in became.items()
    )
    names = RecordNames(people, site.proposals, site.config.calendar)
    facts_behind = [words for cause in site.advice.because if (words := cause_told(cause, names))]
    since = f" ({'; '.join(dict.fromkeys(facts_behind))})" if facts_behind else ""
    return _("Changed since the first advice{since}: {parts}.", since=since, parts="; ".join(parts))


def day(site: Site, period: int | None = None) -> str:
    """Return a period's date and number; the coming period if left out."""
    when = site.period if period is None else period
    return _("{day}, period {period}", day=site.config.calendar.date_of(when), period=when)


def waits(site: Site, people: People, written: Callable[[date], str] = str) -> str:
    """Return what the site waits for, or why nothing is proposed; `written` formats dates."""
    waiting = site.advice.waiting
    if not site.workers:
        return _("import workers first.")
    awaited = [people.label(proposal.into) for proposal in site.open_proposals(*UNDER_WAY)]
    if awaited:
        return plural("{names} is on the way.", "{names} are on the way.", len(awaited), names=some_of(awaited, 3))
    if site.held_back:
        return _(
            "{held_back} more would be proposed, but {limits}.",
            held_back=len(site.held_back),
            limits=reached_words(site),
        )
    if waiting.get("too_dear"):
        dear = some_of([people.label(number) for number in waiting["too_dear"]], 3)
        return _("{names} would be proposed, but not at the fee that they cost.", names=dear)
    if waiting.get("still_needed") and not has_readings(site.policy):
        who, times = people.label(waiting["least_observed"]), waiting["still_needed"]
        return plural(
            "{who} must be seen on {n} more day before the next decision.",
            "{who} must be seen on {n} more days before the next decision.",
            times,
            who=who,
        )
    outside = [number for number in site.roster.outside if site.may_enter(number)]
    if not outside:
        empty = site.roster.empty
        if empty:
            return plural(
                "{n} station is empty, and nobody outside the team may come in now; import workers, or wait until "
                "somebody is free.",
                "{n} stations are empty, and nobody outside the team may come in now; import workers, or wait until "
                "somebody is free.",
                empty,
            )
        return _("nobody outside the team may come in now; import workers, or wait until somebody is free.")
    if site.period > site.setting().horizon:
        return _("the planned periods are over; set a longer horizon, or make it rolling.")
    staying, most = _staying(site, written)
    if most:
        return _("nobody in the team may be replaced now: {staying}.", staying=staying)
    verdict = _("no replacement is worth its fee now")
    if not site.policy.weighs_fees:
        verdict = _("policy {policy} asks for nothing now", policy=site.config.policy.partition(":")[0])
    judged = judged_words(site, people)
    rest = f"; {judged}" if judged else _looks_again(site, waiting, written)
    return f"{verdict}{f' ({staying})' if staying else ''}{rest}."


def _staying(site: Site, written: Callable[[date], str]) -> tuple[str, bool]:
    """Describe who in the team may not be let go, and return whether that is everybody."""
    pinned = [number for number in site.roster.active if site.is_pinned(number)]
    new = [number for number in site.roster.active if number not in pinned and not site.may_leave(number)]
    parts = []
    if pinned:
        parts.append(plural("{n} is pinned", "{n} are pinned", len(pinned)))
    if new:
        calendar = site.config.calendar
        earliest = min(calendar.order_of(site.workers[number].since) for number in new)
        first = calendar.period_at(earliest + site.config.least_tenure)
        until = written(site.config.calendar.date_of(first))
        parts.append(
            plural(
                "{n} stays for the least tenure, the first to {until}",
                "{n} stay for the least tenure, the first to {until}",
                len(new),
                until=until,
            )
        )
    everybody = bool(site.roster.active) and len(pinned) + len(new) == len(site.roster.active) and not site.roster.empty
    return some_of(parts), everybody


def _looks_again(site: Site, waiting: Mapping[str, Any], written: Callable[[date], str]) -> str:
    """Return when a policy that pauses looks again, as the end of a sentence."""
    when = waiting.get("look_again", 0)
    if when <= site.period + 1:
        return ""
    if when > site.setting().horizon:
        return _(", nor before the end as things stand")
    return _(
        "; it is looked at again on {when}, or when facts change", when=written(site.config.calendar.date_of(when))
    )


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
    lines = [
        _(
            "{status}: {into} in the place of {place} ({id}).",
            status=_(proposal.status).capitalize(),
            into=into,
            place=place(people, proposal),
            id=proposal.id,
        )
    ]
    if numbers.out is None:
        lines.append(_("The station is empty, so all output there is a gain."))
    else:
        if proposal.status in OPEN:
            where = _("who would make room now") if numbers.settled_on_arrival else _("in the team now")
        else:
            where = _("who would make room then") if numbers.settled_on_arrival else _("in the team then")
        lines.append(_about(people.label(numbers.leaver), numbers.out, where, figures))
    lines.append(_about(into, numbers.into, _("coming in"), figures))
    if numbers.out is not None:
        lines.append(
            _("Chance that {into} does better: {chance}.", into=into, chance=chance(numbers.chance_better or 0.0))
        )
    lines.append(_gain(numbers, figures))
    if proposal.reason:
        lines.append(_("Reason given for the answer: {reason}", reason=proposal.reason))
    others = [_("Next best: {line}.", line=line) for line in candidate_lines(people, candidates, figures)]
    return [*lines, *_policy_lines(proposal, numbers, figures), *others]


def _about(who: str, estimate: PeopleEstimate, where: str, figures: Figures) -> str:
    ramped = _(" after ramp-up") if estimate.after_ramp_up else ""
    mean, low, high = (figures.output(value) for value in (estimate.mean, estimate.low, estimate.high))
    between = _("{mean}{ramped} (95% between {low} and {high})", mean=mean, ramped=ramped, low=low, high=high)
    if estimate.days == estimate.prior == 0:
        return _(
            "{who}, {where}: never seen here; judged by the pool, {between}.", who=who, where=where, between=between
        )
    earlier = _(" and {prior} before", prior=estimate.prior) if estimate.prior else ""
    notes = "".join(f"; {note}" for note in (ramp_words(estimate.ramp_up), trend_words(estimate.trend)) if note)
    return plural(
        "{who}, {where}: {between} after {n} day here{earlier}{notes}.",
        "{who}, {where}: {between} after {n} days here{earlier}{notes}.",
        estimate.days,
        who=who,
        where=where,
        between=between,
        earlier=earlier,
        notes=notes,
    )


def _gain(numbers: ProposalFacts, figures: Figures) -> str:
    left, lasting = round(numbers.periods_left), round(numbers.periods)
    over = _(
        "Over the {left} left after a wait of about {mean_delay}",
        left=plural("{n} period", "{n} periods", left),
        mean_delay=localized(f"{numbers.mean_delay:.1f}"),
    )
    if lasting < left:
        over += _(", of which {lasting} count as people quit", lasting=lasting)
    if numbers.gain >= 0.0:
        gain = _("a permanent replacement is expected to gain {gain}", gain=figures.money(numbers.gain))
    else:
        loss = figures.money(-numbers.gain)
        gain = _("a permanent replacement is expected to lose {loss}, but trying it out may still pay", loss=loss)
    return _("{over}, {gain}; the fee is {fee}.", over=over, gain=gain, fee=figures.money(numbers.fee))


def _policy_lines(proposal: Proposal, numbers: ProposalFacts, figures: Figures) -> list[str]:
    """Return the policy's own reasons, and what would change the advice."""
    name = proposal.why.by.partition(":")[0]
    if numbers.trial_value is not None and numbers.trial_periods is not None:
        return [
            _(
                "With the option to go back after about {trial_periods} if it does not work out, replacing "
                "is worth {trial_value} in expectation before fees.",
                trial_periods=plural("{n} period", "{n} periods", round(numbers.trial_periods)),
                trial_value=figures.money(numbers.trial_value),
            ),
            _(
                "{asked_for}the advice would change if the fee were above about {amount}, or if more days "
                "brought them closer.",
                asked_for=_asked_for(numbers),
                amount=figures.money(numbers.break_even or 0.0),
            ),
        ]
    if numbers.needed_gain is not None:
        at_best = (
            _("without limit, as one of them was never seen")
            if numbers.optimistic_gain is None
            else _("{optimistic_gain} a period", optimistic_gain=figures.money(numbers.optimistic_gain))
        )
        return [
            _(
                "In the best case that fits the data, the exchange gains {at_best}; to pay its fee it must "
                "gain {needed_gain}.",
                at_best=at_best,
                needed_gain=figures.money(numbers.needed_gain),
            ),
            _("The advice would change if that best case fell below what the fee needs."),
        ]
    line = _(REGISTRY[name].line) if name in REGISTRY else _("a policy of your own")
    if numbers.break_even is not None:
        return [
            _("The policy is {name}: {line}.", name=name, line=line),
            _(
                "The advice would change if the fee were above {break_even}, or with more days.",
                break_even=figures.money(numbers.break_even),
            ),
        ]
    return [
        _(
            "The policy is {name}: {line}. It weighs no money, so the numbers above are for you to judge by.",
            name=name,
            line=line,
        ),
        _("The advice would change with the policy's own dates and scores, or with another policy."),
    ]


def _asked_for(numbers: ProposalFacts) -> str:
    """Return how many times the fee a replacement must be worth, as the beginning of a sentence."""
    times = numbers.trial_value / numbers.break_even if numbers.trial_value and numbers.break_even else 1.0
    return _("The policy asks for a gain of {times} times the fee: ", times=localized(f"{times:.3g}"))


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
        everybody = estimates_of(site)[0]
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
            blocked_words(site, number) or ("" if worker.status == POOL else _(worker.status)),
            _("not before {barred_until}", barred_until=site.config.calendar.date_of(worker.barred_until))
            if barred
            else "",
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
    late = _(", overdue") if is_overdue(site, proposal) else ""
    yield (
        proposal.into,
        _("{status} for {place}{late}", status=proposal.status, place=place(people, proposal), late=late),
    )
    if proposal.out != NOBODY:
        yield proposal.out, _("to be replaced by {into}", into=people.label(proposal.into))


def is_overdue(site: Site, proposal: Proposal) -> bool:
    """Return whether an offer is overdue by the days on record; it is only flagged."""
    return takes_too_long(site, proposal, site.period - proposal.decided_in)
