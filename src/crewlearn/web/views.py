"""What the pages show of a site as it stands: plain values made from its state, in people's words and units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import quote

from markupsafe import Markup

from crewlearn.advisor import explain
from crewlearn.advisor.explain import Estimate, Member, is_overdue
from crewlearn.advisor.facts import facts
from crewlearn.advisor.identities import People
from crewlearn.advisor.site import (
    APPROVED,
    POOL,
    PROPOSED,
    REJECTED,
    STARTED,
    UNDER_WAY,
    Proposal,
    Site,
)
from crewlearn.problem.arrays import NOBODY
from crewlearn.web import wording
from crewlearn.web.charts import Scale, interval_bar, scale_over
from crewlearn.web.reads import Snapshot

STATUS_WORDS = {
    PROPOSED: "to be answered",
    APPROVED: "approved",
    "offered": "offered",
    "accepted": "accepted",
    STARTED: "started",
    "declined": "declined",
    "expired": "expired",
    "no-show": "did not show up",
    "cancelled": "cancelled",
    REJECTED: "rejected",
    "withdrawn": "withdrawn",
}
"""What the states of a proposal are called on the pages."""

TONES = {PROPOSED: "wait", STARTED: "good", "declined": "bad", "expired": "bad", "no-show": "bad", REJECTED: "bad"}
"""Which states stand out, and how."""


def site_url(name: str, *parts: object) -> str:
    """Give the address of a page of a site."""
    return "/".join(["/sites", quote(name, safe=""), *(quote(str(part), safe="") for part in parts)])


@dataclass(frozen=True)
class Reading:
    """A site as it was read for a page, and which day it is there."""

    snapshot: Snapshot
    today: date

    @property
    def name(self) -> str:
        """What the site is called."""
        return self.snapshot.name

    @property
    def key(self) -> int:
        """The site's key in the store."""
        return self.snapshot.key

    @property
    def version(self) -> int:
        """The number of its last event."""
        return self.snapshot.version

    @property
    def site(self) -> Site:
        """How it stands."""
        return self.snapshot.site

    @property
    def people(self) -> People:
        """Who is who there."""
        return self.snapshot.people

    def url(self, *parts: object) -> str:
        """Give the address of one of the site's pages."""
        return site_url(self.name, *parts)

    def day(self, period: int) -> str:
        """Write a period as its day."""
        return wording.period(self.site.config.calendar, period, self.today)

    def written(self, when: date) -> str:
        """Write a date."""
        return wording.day(when, self.today)

    def output(self, value: float) -> str:
        """Write output in the site's unit."""
        return wording.number(value, wording.digits_of(self.site.config.units))

    def label(self, number: int) -> str:
        """Write whom a number stands for."""
        return self.people.label(number)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The periods before today that have no output yet, first and last; None if the record is up to date."""
        calendar = self.site.config.calendar
        first = calendar.date_of(self.site.period)
        behind = calendar.periods_between(first, self.today - timedelta(days=1))
        return (self.site.period, behind[-1]) if behind and behind[-1] >= self.site.period else None

    @property
    def rate(self) -> bool:
        """Whether output is a rate."""
        return self.site.config.units.hours_per_period is not None

    @property
    def unit(self) -> str:
        """What the numbers of output are."""
        return "units an hour" if self.rate else "units a period"


@dataclass(frozen=True)
class Waiting:
    """Something that waits for a person, with where it is done."""

    text: str
    url: str
    urgent: bool = False


def waiting(reading: Reading, may_manage: bool) -> list[Waiting]:
    """List what waits for a person at a site, with where it is done if the reader may do it."""
    site, said = reading.site, []
    importing = reading.url("import") if may_manage else reading.url()
    if not site.workers:
        return [Waiting("Workers to import", importing)]
    proposed = len(site.open_proposals(PROPOSED))
    if proposed:
        said.append(Waiting(f"{wording.count(proposed, 'proposal')} to answer", reading.url(), True))
    under_way = site.open_proposals(*UNDER_WAY)
    late = sum(is_overdue(site, one) for one in under_way)
    if under_way:
        text = f"{wording.count(len(under_way), 'offer')} under way"
        said.append(Waiting(f"{text}, {late} overdue" if late else text, reading.url() + "#offers", late > 0))
    missing = reading.missing
    if missing:
        first, last = missing
        days = wording.count(last - first + 1, "day")
        said.append(Waiting(f"Output of {days} to import", importing))
    return said


def arrival(site: Site, proposal: Proposal) -> int:
    """Give the period in which an offer's worker is expected, the coming one at the earliest."""
    begun = proposal.decided_in or site.period
    return max(site.period, begun + math.ceil(site.mean_delay))


@dataclass(frozen=True)
class Row:
    """A worker in the table of team and pool."""

    number: int
    name: str
    identifier: str
    url: str
    station: int | None
    days: int
    estimate: str
    interval: str
    bar: Markup
    notes: tuple[str, ...]
    pending: str
    direction: str
    mean: float


def worker_rows(reading: Reading, members: Sequence[Member], scale: Scale) -> list[Row]:
    """Give everybody as a row, with who leaves and comes."""
    site, people = reading.site, reading.people
    coming: dict[int, Proposal] = {}
    going: dict[int, Proposal] = {}
    for one in site.open_proposals():
        coming[one.into] = one
        if one.out != NOBODY:
            going[one.out] = one
    rows = []
    for member in members:
        number, seated = member.number, member.station is not None
        pending, direction = "", ""
        if number in going:
            other = going[number]
            pending, direction = f"{_name(people, other.into)}{_when(reading, other)}", "out"
        elif number in coming:
            other = coming[number]
            pending, direction = f"for {_place(people, other)}{_when(reading, other)}", "in"
        rows.append(
            Row(
                number=number,
                name=_name(people, number),
                identifier=(people.ids.get(number) or "") if people.names.get(number) else "",
                url=reading.url("workers", number),
                station=None if member.station is None else member.station + 1,
                days=member.estimate.days,
                estimate=reading.output(member.estimate.mean),
                interval=f"{reading.output(member.estimate.low)} – {reading.output(member.estimate.high)}",
                bar=interval_bar(
                    scale, member.estimate.low, member.estimate.mean, member.estimate.high, "team" if seated else "pool"
                ),
                notes=worker_notes(reading, number),
                pending=pending,
                direction=direction,
                mean=member.estimate.mean,
            )
        )
    return rows


def worker_notes(reading: Reading, number: int) -> tuple[str, ...]:
    """Say in a few words what is special about a worker."""
    site, worker = reading.site, reading.site.workers[number]
    seated = int(site.roster.arrays.station_of[number]) >= 0
    notes = []
    if worker.pinned:
        notes.append("pinned")
    if worker.status != POOL:
        notes.append(worker.status)
    if worker.status == POOL and worker.barred_until > site.period and not seated:
        notes.append(f"not asked before {reading.day(worker.barred_until)}")
    if seated and not worker.pinned and site.period - worker.since < site.config.least_tenure:
        notes.append(f"stays until {reading.day(worker.since + site.config.least_tenure)} at least")
    if worker.fee is not None and worker.fee != site.config.fee:
        notes.append(f"own fee {wording.money(worker.fee)}")
    return tuple(notes)


def _name(people: People, number: int) -> str:
    """Give the name alone where there is one; the id stands beside it."""
    return people.names.get(number) or people.label(number)


def _place(people: People, proposal: Proposal) -> str:
    """Give whose place is taken, by name alone where there is one."""
    who = proposal.makes_room
    return explain.place(people, proposal) if who == NOBODY else _name(people, who)


def _when(reading: Reading, proposal: Proposal) -> str:
    if proposal.status not in UNDER_WAY:
        return ""
    if is_overdue(reading.site, proposal):
        return f", {STATUS_WORDS[proposal.status]} and overdue"
    return f", expected {reading.day(arrival(reading.site, proposal))}"


@dataclass(frozen=True)
class Side:
    """One of the two in a replacement, as they were thought of when it was proposed."""

    name: str
    url: str
    estimate: str
    interval: str
    days: str
    bar: Markup


@dataclass(frozen=True)
class Exchange:
    """A proposal as the pages show it: who for whom, what speaks for it, what became of it."""

    id: int
    title: str
    status: str
    tone: str
    out: Side | None
    on_arrival: bool
    into: Side
    chance: str
    worth: str
    fee: str
    lines: tuple[str, ...]


def exchange(reading: Reading, proposal: Proposal) -> Exchange:
    """Show a proposal with its reasons as they were."""
    said = facts(reading.site, proposal)
    ends = [said.into.low, said.into.high, *([] if said.out is None else [said.out.low, said.out.high])]
    scale = scale_over(ends, 4)
    into = _name(reading.people, proposal.into)
    out = None if said.out is None else _side(reading, said.leaver, said.out, scale, "pool")
    return Exchange(
        id=proposal.id,
        title=f"Bring in {into}" if said.out is None else f"{into} for {_name(reading.people, said.leaver)}",
        status=STATUS_WORDS.get(proposal.status, proposal.status),
        tone=TONES.get(proposal.status, ""),
        out=out,
        on_arrival=said.settled_on_arrival,
        into=_side(reading, proposal.into, said.into, scale, "team"),
        chance="" if said.chance_better is None else wording.share(said.chance_better),
        worth=wording.money(said.gain, sign=True),
        fee=wording.money(said.fee),
        lines=tuple(explain.explain(reading.site, reading.people, proposal)[1:]),
    )


def _side(reading: Reading, number: int, estimate: Estimate, scale: Scale, kind: str) -> Side:
    return Side(
        name=reading.label(number),
        url=reading.url("workers", number),
        estimate=reading.output(estimate.mean),
        interval=f"{reading.output(estimate.low)} – {reading.output(estimate.high)}",
        days=wording.count(estimate.days, "day") if estimate.days else "never seen",
        bar=interval_bar(scale, estimate.low, estimate.mean, estimate.high, kind),
    )


@dataclass(frozen=True)
class Choice:
    """Something to choose in a form."""

    value: str
    text: str
    chosen: bool = False


@dataclass(frozen=True)
class Offer:
    """An offer under way: since when, for when, who may make room, and on which days it may have been settled."""

    id: int
    into: str
    into_url: str
    out: str
    status: str
    since: str
    expected: str
    overdue: bool
    fee: str
    rooms: tuple[Choice, ...]
    first_day: str
    last_day: str
    steps: tuple[str, ...]


def offers(reading: Reading) -> list[Offer]:
    """List the offers under way, oldest first."""
    site, calendar = reading.site, reading.site.config.calendar
    listed = []
    for one in site.open_proposals(*UNDER_WAY):
        listed.append(
            Offer(
                id=one.id,
                into=reading.label(one.into),
                into_url=reading.url("workers", one.into),
                out=explain.place(reading.people, one),
                status=STATUS_WORDS[one.status],
                since=reading.day(one.decided_in),
                expected=reading.day(arrival(site, one)),
                overdue=is_overdue(site, one),
                fee=wording.money(one.fee),
                rooms=rooms(reading, one),
                first_day=calendar.date_of(one.decided_in).isoformat(),
                last_day=calendar.date_of(site.period).isoformat(),
                steps=tuple(step for step in ("offered", "accepted") if _before(one.status, step)),
            )
        )
    return listed


def _before(status: str, step: str) -> bool:
    order = (APPROVED, "offered", "accepted")
    return order.index(status) < order.index(step)


def rooms(reading: Reading, proposal: Proposal) -> tuple[Choice, ...]:
    """List who may make room for the incoming worker: as agreed first, then whoever is not leaving anyway."""
    site = reading.site
    leaving = {one.out for one in site.open_proposals(*UNDER_WAY) if one.id != proposal.id}
    agreed = explain.place(reading.people, proposal)
    others = sorted(
        (reading.label(number), reading.people.ids.get(number))
        for number in site.roster.active
        if number != proposal.out and number not in leaving and reading.people.ids.get(number) is not None
    )
    return (
        Choice("", f"{agreed} (as proposed)", True),
        *(Choice(identifier or "", label) for label, identifier in others),
    )


@dataclass(frozen=True)
class Cycle:
    """Where the learning stands: what the policy is doing, until when, and what it waits for."""

    title: str
    lines: tuple[str, ...]
    left: int | None = None
    of: int | None = None


def cycle(reading: Reading) -> Cycle:
    """Say where the learning stands."""
    site = reading.site
    said = site.advice.get("waiting", {})
    lines = []
    awaited = site.open_proposals(*UNDER_WAY)
    if not site.workers:
        return Cycle("Not begun", ("Import workers, and the first advice is there at once.",))
    if awaited:
        lines.append(f"Waiting for {_listed([_name(reading.people, one.into) for one in awaited])} to start.")
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
            who = _name(reading.people, said["least_observed"])
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
        return Cycle("Holding", tuple(lines), days)
    lines.append("The advice is worked out again with every day's output.")
    title = "Waiting for an answer" if proposed else "Waiting for an arrival" if awaited else "Looking every day"
    return Cycle(title, tuple(lines))


def _listed(words: Sequence[str], most: int = 3) -> str:
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


@dataclass(frozen=True)
class Money:
    """Money so far, and what replacing gained against keeping the first team."""

    earned: str
    fees: str
    gain: str = ""
    interval: str = ""
    tone: str = ""
    words: str = ""


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


@dataclass(frozen=True)
class Today:
    """A site today."""

    advice: str
    changed: str
    day: str
    period: int
    left: str
    proposals: tuple[Exchange, ...]
    more: int
    held_back: str
    offers: tuple[Offer, ...]
    undo: str
    undo_number: int
    cycle: Cycle
    money: Money
    waiting: tuple[Waiting, ...]
    rows: tuple[Row, ...]
    unlisted: int
    axis: tuple[str, ...]
    filled: int
    team: int
    pool: int
    people: int
    better: str
    unit: str
    rooms: dict[int, tuple[Choice, ...]] = field(default_factory=dict)


def saying(reading: Reading) -> str:
    """Say the advice in a sentence that stays short however much is proposed; the day stands beside it."""
    open_now = reading.site.open_proposals(PROPOSED)
    if not open_now:
        return f"Wait: {explain.waits(reading.site, reading.people, reading.written)}"
    if len(open_now) > 3:
        first = explain.proposed(reading.people, open_now[0])
        return f"{len(open_now)} replacements are proposed: first of all, {first}."
    words = "; ".join(explain.proposed(reading.people, one) for one in open_now)
    return f"{words[0].upper()}{words[1:]}."


SHOWN = 12
"""So many proposals are shown in full on the page of today; a site of hundreds of stations may begin with more."""


ROWS = 100
"""So many workers are listed at first; a page of a thousand takes long to make and to scroll through."""


@dataclass(frozen=True)
class Search:
    """Whom to list: with these letters in name or id; team, pool or pending only; the first, or everybody."""

    q: str = ""
    show: str = ""
    everybody: bool = False


def today(reading: Reading, undo: str, may_manage: bool, search: Search) -> Today:
    """Show a site as it stands this morning; `undo` says what can be taken back."""
    site = reading.site
    members = reading.snapshot.members
    scale = common_scale(members)
    proposed = site.open_proposals(PROPOSED)
    shown = proposed[:SHOWN]
    listed = found(reading, search)
    rows = worker_rows(reading, listed if search.everybody else listed[:ROWS], scale)
    filled = site.config.team - site.roster.empty
    return Today(
        advice=saying(reading),
        changed=explain.what_changed(site, reading.people),
        day=reading.day(site.period),
        period=site.period,
        left=_left(site),
        proposals=tuple(exchange(reading, one) for one in shown),
        more=len(proposed) - len(shown),
        held_back=_held_back(site),
        offers=tuple(offers(reading)),
        undo=undo,
        undo_number=0 if site.undo is None else int(site.undo["number"]),
        cycle=cycle(reading),
        money=money_so_far(reading),
        waiting=tuple(waiting(reading, may_manage)),
        rows=tuple(rows),
        unlisted=len(listed) - len(rows),
        axis=tuple(wording.number(tick, scale.digits) for tick in scale.ticks),
        filled=filled,
        team=site.config.team,
        pool=len(members) - filled,
        people=len(members),
        better="less is better" if site.config.units.lower_is_better else "more is better",
        unit=reading.unit,
        rooms={one.id: rooms(reading, one) for one in shown},
    )


def found(reading: Reading, search: Search) -> list[Member]:
    """Give the workers that a search asks for."""
    wanted, show = search.q.strip().casefold(), search.show
    pending = {number for one in reading.site.open_proposals() for number in (one.out, one.into)}
    return [
        one
        for one in reading.snapshot.members
        if (not wanted or wanted in one.label.casefold())
        and (show != "team" or one.station is not None)
        and (show != "pool" or one.station is None)
        and (show != "pending" or one.number in pending)
    ]


def to_answer(reading: Reading) -> list[Exchange]:
    """List every proposal that is to be answered."""
    return [exchange(reading, one) for one in reading.site.open_proposals(PROPOSED)]


def common_scale(members: Sequence[Member]) -> Scale:
    """Give one scale for everybody's interval."""
    return scale_over([end for one in members for end in (one.estimate.low, one.estimate.high)], 6)


def _left(site: Site) -> str:
    if site.config.rolling:
        return f"{wording.count(site.config.horizon, 'day')} ahead, always"
    left = max(0, site.config.horizon - site.period + 1)
    return f"{wording.count(left, 'day')} left of {site.config.horizon:,}"


def _held_back(site: Site) -> str:
    if not site.held_back:
        return ""
    return f"{len(site.held_back)} more held back by the limit of {site.config.most_a_week} a week."


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


def money_so_far(reading: Reading) -> Money:
    """Give money so far, with what was gained against keeping the first team."""
    site, gain = reading.site, reading.snapshot.gain
    spread, shown = wording.money_span(gain.low, gain.high), wording.money(gain.expected, sign=True)
    if gain.low == gain.high == 0.0:
        spread, shown, words = "nobody replaced yet", "–", "Nobody was replaced yet, so nothing is gained or lost."
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
        interval=spread,
        tone="bad" if gain.high < 0.0 else "",
        words=words,
    )
