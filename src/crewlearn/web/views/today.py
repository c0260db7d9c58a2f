"""A site today, and as a card: the advice, open tasks, money so far, and the phase of learning."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor.ledger.site import PROPOSED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.wording import explain
from crewlearn.advisor.wording.doubt import rounded
from crewlearn.advisor.wording.explain import is_overdue
from crewlearn.advisor.wording.learned import judged_words, ramp_line, unusual_lines
from crewlearn.advisor.wording.limits import held_back_words, use_lines
from crewlearn.advisor.wording.past.track_record import short_record
from crewlearn.language import _, localized, plural
from crewlearn.web import formats
from crewlearn.web.views.charts import axis
from crewlearn.web.views.people.table import ROWS, Head, PersonRow, Search, common_scale, heads, matching, worker_rows
from crewlearn.web.views.proposals import NOBODY_ASKING, Answerable, Asking, OfferCard, answerable, offers
from crewlearn.web.views.reading import Reading

SHOWN = 5
"""Proposals shown on the Today page, so that they fit a screen; the others have a page."""

OFFERS = 3
"""Offers shown on the Today page; the others have a page."""


@dataclass(frozen=True)
class Task:
    """Something that waits for a person, with the page where it is done."""

    text: str
    url: str
    urgent: bool = False


def waiting(reading: Reading, may_manage: bool) -> list[Task]:
    """List what waits for a person at a site."""
    site = reading.site
    if not site.workers:
        return [Task(_("Workers to import"), _importing(reading, may_manage))]
    proposed = len(site.open_proposals(PROPOSED))
    first = (
        [
            Task(
                _("{proposed} to answer", proposed=plural("{n} proposal", "{n} proposals", proposed)),
                reading.url(),
                True,
            )
        ]
        if proposed
        else []
    )
    return first + waiting_beside(reading, may_manage)


def waiting_beside(reading: Reading, may_manage: bool) -> list[Task]:
    """List what waits for a person, besides proposals."""
    site, tasks = reading.site, []
    under_way = site.open_proposals(*UNDER_WAY)
    late = sum(is_overdue(site, offer) for offer in under_way)
    if under_way:
        text = _("{under_way} under way", under_way=plural("{n} offer", "{n} offers", len(under_way)))
        tasks.append(
            Task(
                _("{text}, {late} overdue", text=text, late=late) if late else text, reading.url() + "#offers", late > 0
            )
        )
    missing = reading.missing
    if missing:
        first, last = missing
        days = plural("{n} day", "{n} days", last - first + 1)
        tasks.append(Task(_("Output of {days} to import", days=days), _importing(reading, may_manage)))
    return tasks


def _importing(reading: Reading, may_manage: bool) -> str:
    return reading.url("import") if may_manage else reading.url()


@dataclass(frozen=True)
class LearningPhase:
    """What the policy is doing, until when, and what it waits for."""

    title: str
    lines: tuple[str, ...]


def cycle(reading: Reading) -> LearningPhase:
    """Return what the policy is doing now."""
    site = reading.site
    waiting = site.advice.waiting
    lines = []
    awaited = site.open_proposals(*UNDER_WAY)
    if not site.workers:
        return LearningPhase(_("Not started"), ())
    if awaited:
        lines.append(
            _(
                "Waiting for {names} to start.",
                names=some_of([reading.name_of(proposal.into) for proposal in awaited], 3),
            )
        )
    proposed = len(site.open_proposals(PROPOSED))
    if proposed:
        lines.append(plural("{n} proposal waits for an answer.", "{n} proposals wait for an answer.", proposed))
    if "phase" in waiting:
        bringing = waiting["phase"] == "transition"
        title = (
            _("Cycle {cycle}: bringing the team together", cycle=waiting["cycle"])
            if bringing
            else _("Cycle {cycle}: learning", cycle=waiting["cycle"])
        )
        needed = int(waiting.get("still_needed", 0))
        if needed:
            name = reading.name_of(waiting["least_observed"])
            lines.append(
                _("{name} needs {needed} of output.", name=name, needed=plural("{n} more day", "{n} more days", needed))
            )
        lines.append(
            _("The next decision comes when the whole proposed team is at work, each with enough days of output.")
        )
        return LearningPhase(title, tuple(lines))
    lines += learned_lines(reading)
    look_again = waiting.get("look_again")
    if look_again is not None and int(look_again) > site.period + 1 and not proposed:
        days = int(look_again) - site.period
        lines.append(
            _(
                "The next review is on {number}, in {days}, unless something changes.",
                number=reading.day(int(look_again)),
                days=plural("{n} day", "{n} days", days),
            )
        )
        return LearningPhase(_("Holding"), tuple(lines))
    lines.append(_("The advice is updated with every day's output."))
    title = (
        _("Waiting for an answer") if proposed else _("Waiting for an arrival") if awaited else _("Looking every day")
    )
    return LearningPhase(title, tuple(lines))


def learned_lines(reading: Reading) -> list[str]:
    """Return who is judged when, recent days that were unusual for everybody, and how newcomers start."""
    learned, judged = reading.snapshot.learned, judged_words(reading.site, reading.people, reading.name_of)
    lines = [f"{judged}."] if judged else []
    if learned is not None:
        lines += [*unusual_lines(reading.site, learned, reading.written), ramp_line(learned)]
    return [line for line in lines if line]


@dataclass(frozen=True)
class Money:
    """Money so far, the gain over the same site without the advised replacements, and how many of these did well."""

    earned: str
    fees: str
    gain: str
    short: str
    tone: str
    words: str
    record: str


def money_so_far(reading: Reading) -> Money:
    """Return money so far, and what the advised replacements have brought."""
    site, gain = reading.site, reading.snapshot.gain
    expected, low, high = rounded(gain.low, gain.high, gain.expected, gain.low, gain.high)
    spread, shown = reading.money_span(low, high), reading.money(expected, sign=True)
    short = _("95%: {spread}", spread=spread)
    if gain.low == gain.high == 0.0:
        short, shown, words = _("nobody replaced yet"), "–", _("Nobody has been replaced yet.")
    elif gain.low > 0.0:
        words = _("95% interval {spread}, net of fees (estimate).", spread=spread)
    elif gain.high < 0.0:
        words = _(
            "95% interval {spread}, net of fees (estimate): a loss so far; fees come first, gains later.", spread=spread
        )
    else:
        words = _(
            "95% interval {spread}, net of fees (estimate): too early to call it a gain or a loss.", spread=spread
        )
    return Money(
        earned=reading.money(site.earned),
        fees=reading.money(site.fees),
        gain=shown,
        short=short,
        tone="bad" if gain.high < 0.0 else "",
        words=words,
        record=short_record(reading.snapshot.track_record),
    )


@dataclass(frozen=True)
class Card:
    """A site on the Sites page."""

    name: str
    url: str
    advice: str
    day: str
    filled: int
    team: int
    workers: int
    money: Money
    waiting: tuple[Task, ...]


def card(reading: Reading, may_manage: bool) -> Card:
    """Return a site as a card."""
    site = reading.site
    return Card(
        name=reading.name,
        url=reading.url(),
        advice=saying(reading),
        day=reading.day(site.period),
        filled=site.config.team - site.roster.empty,
        team=site.config.team,
        workers=len(site.workers),
        money=money_so_far(reading),
        waiting=tuple(waiting(reading, may_manage)),
    )


def saying(reading: Reading, beside: bool = False) -> str:
    """Return the advice in a short sentence, without the day, which is shown beside it.

    `beside`: the proposals are shown beside it too, so the sentence only counts them.
    """
    open_now = reading.site.open_proposals(PROPOSED)
    if not reading.site.workers:
        return _("No workers yet.")
    if not open_now:
        return _("Wait: {waits}", waits=explain.waits(reading.site, reading.people, reading.written))
    if beside:
        return _("{open_now} proposed", open_now=plural("{n} replacement", "{n} replacements", len(open_now)))
    if len(open_now) > OFFERS:
        first = explain.proposed(reading.people, open_now[0])
        return _(
            "{open_now} replacements proposed: first of all, {first}.",
            open_now=localized(f"{len(open_now):,}"),
            first=first,
        )
    words = "; ".join(explain.proposed(reading.people, proposal) for proposal in open_now)
    return f"{words[0].upper()}{words[1:]}."


@dataclass(frozen=True)
class Today:
    """The Today page of a site."""

    advice: str
    changed: str
    day: str
    period: int
    left: str
    proposals: tuple[Answerable, ...]
    proposed: tuple[int, ...]
    unshown: int
    held_back: str
    offers: tuple[OfferCard, ...]
    under_way: tuple[int, ...]
    undo: str
    undo_number: int
    cycle: LearningPhase
    limits: tuple[str, ...]
    money: Money
    waiting: tuple[Task, ...]
    rows: tuple[PersonRow, ...]
    heads: dict[str, Head]
    unlisted: int
    everybody: str
    axis: Markup
    filled: int
    team: int
    pool: int
    people: int
    better: str
    unit: str
    judged_by: str


def shown_proposals(reading: Reading, kept: Sequence[int], first: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals that keep their place on a page, answered or not, or else the `first` of those open."""
    known = reading.site.proposals
    return [known[number] for number in kept if number in known] or list(first)


def today(
    reading: Reading,
    undo: str,
    may_manage: bool,
    search: Search,
    kept: Sequence[int] = (),
    asking: Asking = NOBODY_ASKING,
) -> Today:
    """Return a site as of today; `undo` names the answer that can be undone.

    `kept` are the proposals that keep their place while a page of them is answered.
    """
    site = reading.site
    members = reading.snapshot.members
    scale = common_scale(members)
    proposed = site.open_proposals(PROPOSED)
    under_way = site.open_proposals(*UNDER_WAY)
    listed = matching(reading, search)
    rows = worker_rows(reading, listed if search.everybody else listed[:ROWS], scale)
    filled = site.config.team - site.roster.empty
    shown = shown_proposals(reading, kept, proposed[:SHOWN])
    return Today(
        advice=saying(reading, beside=True),
        changed=explain.what_changed(site, reading.people),
        day=reading.day(site.period),
        period=site.period,
        left=_left(site),
        proposals=answerable(reading, shown, asking=asking),
        proposed=tuple(proposal.id for proposal in proposed),
        unshown=len({proposal.id for proposal in proposed} - {proposal.id for proposal in shown}),
        held_back=held_back_words(site, reading.figures),
        offers=tuple(offers(reading, under_way[:OFFERS])),
        under_way=tuple(offer.id for offer in under_way),
        undo=undo,
        undo_number=0 if site.undo is None else site.undo.number,
        cycle=cycle(reading),
        limits=tuple(use_lines(site, reading.figures)),
        money=money_so_far(reading),
        waiting=tuple(waiting_beside(reading, may_manage)) if members else (),
        rows=tuple(rows),
        heads=heads(reading, search),
        unlisted=len(listed) - len(rows),
        everybody=search.address(reading.url(), everybody="true"),
        axis=axis(scale, [formats.number(tick, scale.digits) for tick in scale.ticks]),
        filled=filled,
        team=site.config.team,
        pool=len(members) - filled,
        people=len(members),
        better=_("less is better") if site.config.units.lower_is_better else _("more is better"),
        unit=reading.unit,
        judged_by=_("Expected output") if reading.snapshot.learned is None else _("Level after ramp-up"),
    )


def _left(site: Site) -> str:
    if site.config.rolling:
        return _("looking {horizon} ahead", horizon=plural("{n} day", "{n} days", site.config.horizon))
    left = max(0, site.config.horizon - site.period + 1)
    return _(
        "{left} left of {horizon}",
        left=plural("{n} day", "{n} days", left),
        horizon=localized(f"{site.config.horizon:,}"),
    )
