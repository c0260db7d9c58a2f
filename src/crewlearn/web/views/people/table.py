"""The table of team and pool: every worker with estimate, station, notes and pending replacement."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from crewlearn.advisor.ledger.site import LEFT, POOL, UNDER_WAY, Proposal, Site, Worker
from crewlearn.advisor.wording.explain import Member, is_overdue
from crewlearn.advisor.wording.learned import person_notes
from crewlearn.advisor.wording.names import place
from crewlearn.advisor.wording.remarks import blocked_words, pinned_words
from crewlearn.language import _, noted
from crewlearn.problem.arrays import NOBODY
from crewlearn.web.views.charts import Scale, interval_bar, scale_over
from crewlearn.web.views.proposals import STATUS_WORDS, expected
from crewlearn.web.views.reading import Reading

ROWS = 100
"""Workers listed at first; a page of a thousand is slow to render and to scroll."""


@dataclass(frozen=True)
class Search:
    """A search of the table: letters in name or id; team, pool or pending only; the order; the first rows or all."""

    q: str = ""
    show: str = ""
    everybody: bool = False
    sort: str = ""

    def address(self, url: str, **changes: str) -> str:
        """Return the URL of the same search with some changes."""
        asked = {"q": self.q, "show": self.show, "sort": self.sort, "everybody": "true" if self.everybody else ""}
        query = {name: value for name, value in {**asked, **changes}.items() if value}
        return f"{url}{'?' if query else ''}{urlencode(query)}#people"


def matching(reading: Reading, search: Search) -> list[Member]:
    """Return the workers that match a search; unless it names an order, the team by station and then the best."""
    wanted, show = search.q.strip().casefold(), search.show
    pending = {number for proposal in reading.site.open_proposals() for number in (proposal.out, proposal.into)}
    listed = [
        member
        for member in reading.snapshot.members
        if (not wanted or wanted in member.label.casefold())
        and (show != "team" or member.station is not None)
        and (show != "pool" or member.station is None)
        and (show != "pending" or member.number in pending)
        and (show != "noted" or _is_noted(reading.site, member.number))
        and (show != "changing" or bool(person_notes(member.learned)))
    ]
    by = search.sort.removeprefix("-")
    if by not in HEADS:
        return sorted(
            listed, key=lambda member: member.station is None and reading.site.workers[member.number].status == LEFT
        )
    nowhere = [member for member in listed if member.station is None] if by == "station" else []
    known = [member for member in listed if member.station is not None] if by == "station" else listed
    back = _downwards(reading, by) != search.sort.startswith("-")
    return sorted(known, key=lambda member: _by(reading, member, by), reverse=back) + nowhere


def _is_noted(site: Site, number: int) -> bool:
    """Return whether somebody said something of a worker that holds now."""
    return bool(site.notes_on(number)) or site.is_pinned(number) or bool(blocked_words(site, number))


HEADS = {
    "name": noted("Worker"),
    "station": noted("Station"),
    "estimate": noted("Estimate, 95%"),
    "days": noted("Days"),
}
"""Sortable columns with their headings."""

LEVEL = noted("Level, 95%")
"""The heading of estimates where the policy learns ramp-up."""


def _downwards(reading: Reading, by: str) -> bool:
    """Return whether an order begins with the highest value, as estimates and days do."""
    return by == "days" or (by == "estimate" and not reading.site.config.units.lower_is_better)


def _by(reading: Reading, member: Member, by: str) -> tuple[float, str]:
    """Return the sort key of a worker."""
    numbers = {"station": member.station or 0, "estimate": member.level.mean, "days": member.estimate.days}
    return float(numbers.get(by, 0.0)), reading.name_of(member.number).casefold() if by == "name" else ""


@dataclass(frozen=True)
class Head:
    """A column heading: the URL that sorts by it, the current order, and the order at the first click."""

    words: str
    url: str
    now: str
    first: str


def heads(reading: Reading, search: Search, url: str = "") -> dict[str, Head]:
    """Return the column headings of the page at a URL, by default Today; a second click reverses the order."""
    made, url = {}, url or reading.url()
    for by, words in HEADS.items():
        ways = ("descending", "ascending") if _downwards(reading, by) else ("ascending", "descending")
        now = ways[search.sort.startswith("-")] if search.sort.removeprefix("-") == by else ""
        then = f"-{by}" if search.sort == by else by
        heading = LEVEL if by == "estimate" and reading.snapshot.learned is not None else words
        made[by] = Head(_(heading), search.address(url, sort=then), now, ways[0])
    return made


def common_scale(members: Sequence[Member]) -> Scale:
    """Return a common scale for all intervals."""
    return scale_over([end for member in members for end in (member.level.low, member.level.high)], 6)


@dataclass(frozen=True)
class PersonRow:
    """A row of the table of team and pool."""

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


def worker_rows(reading: Reading, members: Sequence[Member], scale: Scale) -> list[PersonRow]:
    """Return a row for each worker, with pending replacements."""
    site, people = reading.site, reading.people
    coming: dict[int, Proposal] = {}
    going: dict[int, Proposal] = {}
    for proposal in site.open_proposals():
        coming[proposal.into] = proposal
        if proposal.out != NOBODY:
            going[proposal.out] = proposal
    rows = []
    for member in members:
        number, seated = member.number, member.station is not None
        pending, direction = "", ""
        if number in going:
            other = going[number]
            pending, direction = f"{reading.name_of(other.into)}{_when(reading, other)}", "out"
        elif number in coming:
            other = coming[number]
            pending, direction = _("for {place}{when}", place=_place(reading, other), when=_when(reading, other)), "in"
        rows.append(
            PersonRow(
                number=number,
                name=reading.name_of(number),
                identifier=people.identifier_beside_name(number),
                url=reading.url("workers", number),
                station=None if member.station is None else member.station + 1,
                days=member.estimate.days,
                estimate=reading.output(member.level.mean),
                interval=f"{reading.output(member.level.low)} – {reading.output(member.level.high)}",
                bar=interval_bar(
                    scale, member.level.low, member.level.mean, member.level.high, "team" if seated else "pool"
                ),
                notes=worker_notes(reading, number),
                pending=pending,
                direction=direction,
                mean=member.level.mean,
            )
        )
    return rows


def _kept_to(site: Site, worker: Worker) -> int:
    """Return the period until which a worker stays for the least tenure."""
    calendar = site.config.calendar
    return calendar.period_at(calendar.order_of(worker.since) + site.config.least_tenure)


def worker_notes(reading: Reading, number: int) -> tuple[str, ...]:
    """Return short notes about a worker."""
    site, worker = reading.site, reading.site.workers[number]
    seated = int(site.roster.arrays.station_of[number]) >= 0
    notes = []
    if pinned := pinned_words(site, number, reading.written):
        notes.append(pinned)
    if blocked := blocked_words(site, number, reading.written):
        notes.append(blocked)
    elif worker.status != POOL:
        notes.append(_(worker.status))
    if worker.status == POOL and worker.barred_until > site.period and not seated:
        notes.append(_("not proposed before {barred_until}", barred_until=reading.day(worker.barred_until)))
    if seated and not pinned and site.tenure(number) < site.config.least_tenure:
        notes.append(_("stays until {kept_to} at least", kept_to=reading.day(_kept_to(site, worker))))
    if worker.fee is not None and worker.fee != site.config.fee:
        notes.append(_("own fee {fee}", fee=reading.money(worker.fee)))
    learned = reading.snapshot.learned
    return (*notes, *(() if learned is None else person_notes(learned.people[number], reading.written)))


def _place(reading: Reading, proposal: Proposal) -> str:
    """Return whose place is taken, by name alone where there is one."""
    leaver = proposal.makes_room
    return place(reading.people, proposal) if leaver == NOBODY else reading.name_of(leaver)


def _when(reading: Reading, proposal: Proposal) -> str:
    if proposal.status not in UNDER_WAY:
        return ""
    if is_overdue(reading.site, proposal):
        return _(", {status} and overdue", status=_(STATUS_WORDS[proposal.status]))
    return f", {expected(reading, proposal)}"
