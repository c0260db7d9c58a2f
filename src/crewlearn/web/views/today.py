"""A site this morning, and in short: the advice, what waits for a person, money so far, and where learning stands."""

from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor import explain
from crewlearn.advisor.explain import is_overdue
from crewlearn.advisor.site import PROPOSED, UNDER_WAY, Site
from crewlearn.advisor.text import some_of
from crewlearn.web import wording
from crewlearn.web.charts import axis
from crewlearn.web.views.people import Head, Row, Search, common_scale, found, heads, worker_rows
from crewlearn.web.views.proposals import Answerable, Offer, answerable, offers
from crewlearn.web.views.reading import Reading

SHOWN = 3
"""So many proposals and offers are shown on the page of today, so that the team is in sight; the others have a page."""

ROWS = 100
"""So many workers are listed at first; a page of a thousand takes long to make and to scroll through."""


@dataclass(frozen=True)
class Waiting:
    """Something that waits for a person, with where it is done."""

    text: str
    url: str
    urgent: bool = False


def waiting(reading: Reading, may_manage: bool) -> list[Waiting]:
    """List what waits for a person at a site, with where it is done if the reader may do it."""
    site = reading.site
    if not site.workers:
        return [Waiting("Workers to import", _importing(reading, may_manage))]
    proposed = len(site.open_proposals(PROPOSED))
    first = [Waiting(f"{wording.count(proposed, 'proposal')} to answer", reading.url(), True)] if proposed else []
    return first + waiting_beside(reading, may_manage)


def waiting_beside(reading: Reading, may_manage: bool) -> list[Waiting]:
    """List what waits for a person besides proposals."""
    site, said = reading.site, []
    under_way = site.open_proposals(*UNDER_WAY)
    late = sum(is_overdue(site, one) for one in under_way)
    if under_way:
        text = f"{wording.count(len(under_way), 'offer')} under way"
        said.append(Waiting(f"{text}, {late} overdue" if late else text, reading.url() + "#offers", late > 0))
    missing = reading.missing
    if missing:
        first, last = missing
        days = wording.count(last - first + 1, "day")
        said.append(Waiting(f"Output of {days} to import", _importing(reading, may_manage)))
    return said


def _importing(reading: Reading, may_manage: bool) -> str:
    return reading.url("import") if may_manage else reading.url()


@dataclass(frozen=True)
class Cycle:
    """Where the learning stands: what the policy is doing, until when, and what it waits for."""

    title: str
    lines: tuple[str, ...]


def cycle(reading: Reading) -> Cycle:
    """Say where the learning stands."""
    site = reading.site
    said = site.advice.get("waiting", {})
    lines = []
    awaited = site.open_proposals(*UNDER_WAY)
    if not site.workers:
        return Cycle("Not begun", ())
    if awaited:
        lines.append(f"Waiting for {some_of([reading.name_of(one.into) for one in awaited], 3)} to start.")
    proposed = len(site.open_proposals(PROPOSED))
    if proposed:
        verb = "waits" if proposed == 1 else "wait"
        lines.append(f"{wording.count(proposed, 'proposal')} {verb} for an answer.")
    if "phase" in said:
        title = f"Cycle {said['cycle']}: " + (
            "bringing the team together" if said["phase"] == "transition" else "learning"
        )
        needed = int(said.get("still_needed", 0))
        if needed:
            who = reading.name_of(said["least_observed"])
            lines.append(f"{who} is to be seen on {wording.count(needed, 'more day', 'more days')}.")
        lines.append(
            "The next decision comes when the whole team proposed is at work and each of them has been seen enough."
        )
        return Cycle(title, tuple(lines))
    look_again = said.get("look_again")
    if look_again is not None and int(look_again) > site.period + 1 and not proposed:
        days = int(look_again) - site.period
        lines.append(
            f"The next look is due on {reading.day(int(look_again))}, in {wording.count(days, 'day')}, "
            "unless facts change."
        )
        return Cycle("Holding", tuple(lines))
    lines.append("The advice is worked out again with every day's output.")
    title = "Waiting for an answer" if proposed else "Waiting for an arrival" if awaited else "Looking every day"
    return Cycle(title, tuple(lines))


@dataclass(frozen=True)
class Money:
    """Money so far, and what replacing gained against keeping the first team."""

    earned: str
    fees: str
    gain: str
    short: str
    tone: str
    words: str


def money_so_far(reading: Reading) -> Money:
    """Give money so far, with what was gained against keeping the first team."""
    site, gain = reading.site, reading.snapshot.gain
    spread, shown = wording.money_span(gain.low, gain.high), wording.money(gain.expected, sign=True)
    short = f"95%: {spread}"
    if gain.low == gain.high == 0.0:
        short, shown, words = "nobody replaced yet", "–", "Nobody was replaced yet, so nothing is gained or lost."
    elif gain.low > 0.0:
        words = f"95% interval {spread}, all fees taken off: a gain, as far as can be told."
    elif gain.high < 0.0:
        words = f"95% interval {spread}, all fees taken off: a loss so far; fees come first, gains later."
    else:
        words = f"95% interval {spread}, all fees taken off: too early to call it a gain or a loss."
    return Money(
        earned=wording.money(site.earned),
        fees=wording.money(site.fees),
        gain=shown,
        short=short,
        tone="bad" if gain.high < 0.0 else "",
        words=words,
    )


@dataclass(frozen=True)
class Card:
    """A site on the page of sites."""

    name: str
    url: str
    advice: str
    day: str
    filled: int
    team: int
    workers: int
    money: Money
    waiting: tuple[Waiting, ...]


def card(reading: Reading, may_manage: bool) -> Card:
    """Show a site in short."""
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
    """Say the advice in a sentence that stays short however much is proposed; the day stands beside it.

    `beside` says that the first of them stand beside it too.
    """
    open_now = reading.site.open_proposals(PROPOSED)
    if not reading.site.workers:
        return "Nobody is known here yet."
    if not open_now:
        return f"Wait: {explain.waits(reading.site, reading.people, reading.written)}"
    if len(open_now) > SHOWN:
        if beside:
            return f"{len(open_now):,} replacements are proposed, these first."
        first = explain.proposed(reading.people, open_now[0])
        return f"{len(open_now):,} replacements are proposed: first of all, {first}."
    words = "; ".join(explain.proposed(reading.people, one) for one in open_now)
    return f"{words[0].upper()}{words[1:]}."


@dataclass(frozen=True)
class Today:
    """A site today."""

    advice: str
    changed: str
    day: str
    period: int
    left: str
    proposals: tuple[Answerable, ...]
    proposed: int
    held_back: str
    offers: tuple[Offer, ...]
    under_way: int
    undo: str
    undo_number: int
    cycle: Cycle
    money: Money
    waiting: tuple[Waiting, ...]
    rows: tuple[Row, ...]
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


def today(reading: Reading, undo: str, may_manage: bool, search: Search) -> Today:
    """Show a site as it stands this morning; `undo` says what can be taken back."""
    site = reading.site
    members = reading.snapshot.members
    scale = common_scale(members)
    proposed = site.open_proposals(PROPOSED)
    under_way = site.open_proposals(*UNDER_WAY)
    listed = found(reading, search)
    rows = worker_rows(reading, listed if search.everybody else listed[:ROWS], scale)
    filled = site.config.team - site.roster.empty
    return Today(
        advice=saying(reading, beside=True),
        changed=explain.what_changed(site, reading.people),
        day=reading.day(site.period),
        period=site.period,
        left=_left(site),
        proposals=answerable(reading, proposed[:SHOWN]),
        proposed=len(proposed),
        held_back=_held_back(site),
        offers=tuple(offers(reading, under_way[:SHOWN])),
        under_way=len(under_way),
        undo=undo,
        undo_number=0 if site.undo is None else int(site.undo["number"]),
        cycle=cycle(reading),
        money=money_so_far(reading),
        waiting=tuple(waiting_beside(reading, may_manage)) if members else (),
        rows=tuple(rows),
        heads=heads(reading, search),
        unlisted=len(listed) - len(rows),
        everybody=search.address(reading.url(), everybody="true"),
        axis=axis(scale, [wording.number(tick, scale.digits) for tick in scale.ticks]),
        filled=filled,
        team=site.config.team,
        pool=len(members) - filled,
        people=len(members),
        better="less is better" if site.config.units.lower_is_better else "more is better",
        unit=reading.unit,
    )


def _left(site: Site) -> str:
    if site.config.rolling:
        return f"looking {wording.count(site.config.horizon, 'day')} ahead"
    left = max(0, site.config.horizon - site.period + 1)
    return f"{wording.count(left, 'day')} left of {site.config.horizon:,}"


def _held_back(site: Site) -> str:
    if not site.held_back:
        return ""
    return f"{len(site.held_back)} more held back by the limit of {site.config.most_a_week} a week."
