"""The table of team and pool: everybody with what is thought of them, where they are, and who leaves and comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from crewlearn.advisor import explain
from crewlearn.advisor.explain import Member, is_overdue
from crewlearn.advisor.site import LEFT, POOL, UNDER_WAY, Proposal
from crewlearn.problem.arrays import NOBODY
from crewlearn.web import wording
from crewlearn.web.charts import Scale, interval_bar, scale_over
from crewlearn.web.views.proposals import STATUS_WORDS, expected
from crewlearn.web.views.reading import Reading


@dataclass(frozen=True)
class Search:
    """Whom to list: with these letters in name or id; team, pool or pending only; in which order; the first, or all."""

    q: str = ""
    show: str = ""
    everybody: bool = False
    sort: str = ""

    def address(self, url: str, **changes: str) -> str:
        """Give where the same is asked for with some changes."""
        asked = {"q": self.q, "show": self.show, "sort": self.sort, "everybody": "true" if self.everybody else ""}
        given = {name: value for name, value in {**asked, **changes}.items() if value}
        return f"{url}{'?' if given else ''}{urlencode(given)}#people"


def found(reading: Reading, search: Search) -> list[Member]:
    """Give the workers that a search asks for: the team by station and then the best, or as it says."""
    wanted, show = search.q.strip().casefold(), search.show
    pending = {number for one in reading.site.open_proposals() for number in (one.out, one.into)}
    listed = [
        one
        for one in reading.snapshot.members
        if (not wanted or wanted in one.label.casefold())
        and (show != "team" or one.station is not None)
        and (show != "pool" or one.station is None)
        and (show != "pending" or one.number in pending)
    ]
    by = search.sort.removeprefix("-")
    if by not in HEADS:
        return sorted(listed, key=lambda one: one.station is None and reading.site.workers[one.number].status == LEFT)
    nowhere = [one for one in listed if one.station is None] if by == "station" else []
    known = [one for one in listed if one.station is not None] if by == "station" else listed
    back = _downwards(reading, by) != search.sort.startswith("-")
    return sorted(known, key=lambda one: _by(reading, one, by), reverse=back) + nowhere


HEADS = {"name": "Worker", "station": "Station", "estimate": "Estimate, 95%", "days": "Days seen"}
"""By what the table can be sorted, with the words at its head."""


def _downwards(reading: Reading, by: str) -> bool:
    """Say whether an order begins with what is highest: the best, and who was seen most."""
    return by == "days" or (by == "estimate" and not reading.site.config.units.lower_is_better)


def _by(reading: Reading, member: Member, by: str) -> tuple[float, str]:
    """Give what a worker is sorted by."""
    numbers = {"station": member.station or 0, "estimate": member.estimate.mean, "days": member.estimate.days}
    return float(numbers.get(by, 0.0)), reading.name_of(member.number).casefold() if by == "name" else ""


@dataclass(frozen=True)
class Head:
    """A head of the table: where it is sorted by that, how it is sorted now, and how it is at the first click."""

    words: str
    url: str
    now: str
    first: str


def heads(reading: Reading, search: Search) -> dict[str, Head]:
    """Give the heads of the table; a second click turns the order around."""
    made = {}
    for by, words in HEADS.items():
        ways = ("descending", "ascending") if _downwards(reading, by) else ("ascending", "descending")
        now = ways[search.sort.startswith("-")] if search.sort.removeprefix("-") == by else ""
        then = f"-{by}" if search.sort == by else by
        made[by] = Head(words, search.address(reading.url(), sort=then), now, ways[0])
    return made


def common_scale(members: Sequence[Member]) -> Scale:
    """Give one scale for everybody's interval."""
    return scale_over([end for one in members for end in (one.estimate.low, one.estimate.high)], 6)


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
            pending, direction = f"{reading.name_of(other.into)}{_when(reading, other)}", "out"
        elif number in coming:
            other = coming[number]
            pending, direction = f"for {_place(reading, other)}{_when(reading, other)}", "in"
        rows.append(
            Row(
                number=number,
                name=reading.name_of(number),
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


def _place(reading: Reading, proposal: Proposal) -> str:
    """Give whose place is taken, by name alone where there is one."""
    who = proposal.makes_room
    return explain.place(reading.people, proposal) if who == NOBODY else reading.name_of(who)


def _when(reading: Reading, proposal: Proposal) -> str:
    if proposal.status not in UNDER_WAY:
        return ""
    if is_overdue(reading.site, proposal):
        return f", {STATUS_WORDS[proposal.status]} and overdue"
    return f", {expected(reading, proposal)}"
