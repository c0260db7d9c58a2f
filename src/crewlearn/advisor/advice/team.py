"""Commands that record the team as it is: who took, left or held a station outside advice, on any date so far.

Each is one transaction. A date may lie before the site was set up, and need not be a working day.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from crewlearn.advisor.advice.commands import unknown_worker
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events.people.team import FROM_FILE, LEAVING, NAMED, TOOK
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import EARLIEST
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.recording import TeamRow, record_spans
from crewlearn.advisor.ledger.team.stints import Held, Stint, painted
from crewlearn.advisor.ledger.text import counted, some_of
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, whole


@dataclass(frozen=True)
class TeamResult:
    """How many spans of time at a station were recorded; 0 if everything was on record already."""

    recorded: int = 0


def set_team(
    store: Store,
    name: str,
    members: Sequence[str],
    actor: str,
    *,
    on: date | None = None,
    expected: int | None = None,
) -> TeamResult:
    """Record who the team is from a day on. Who has a station keeps it; others of the team leave theirs."""
    with store.writing(name, actor, expected) as work:
        edit = _TeamEdit.begin(work, [on])
        numbers = [edit.number(member) for member in members]
        if len(set(numbers)) != len(numbers):
            raise InvalidInput("members", some_of(list(members)), "names somebody twice; name each person once")
        if len(numbers) > work.site.config.team:
            stations = counted(work.site.config.team, "station")
            raise InvalidInput("members", len(numbers), f"the site has {stations}; name no more people than that")
        since = edit.since(on)
        for stint in edit.holders(since):
            if stint.worker not in numbers:
                edit.vacate(stint, since)
        for number in numbers:
            if edit.stint_of(number, since) is None:
                edit.seat(number, edit.empty_station(since), since)
        return edit.record(NAMED)


def add_to_team(
    store: Store,
    name: str,
    worker_id: str,
    actor: str,
    *,
    station: int | None = None,
    on: date | None = None,
    expected: int | None = None,
) -> TeamResult:
    """Record that somebody took a station on a day; whoever held it leaves it. By default it is an empty one."""
    with store.writing(name, actor, expected) as work:
        edit = _TeamEdit.begin(work, [on])
        number, since = edit.number(worker_id), edit.since(on)
        held = edit.stint_of(number, since)
        chosen = edit.station(station)
        if held is not None and chosen in (None, held.station):
            return edit.record(TOOK)
        edit.seat(number, edit.empty_station(since) if chosen is None else chosen, since)
        return edit.record(TOOK)


def remove_from_team(
    store: Store, name: str, worker_id: str, actor: str, *, on: date | None = None, expected: int | None = None
) -> TeamResult:
    """Record that somebody left their station: it is empty from a day on, and they stay in the pool."""
    with store.writing(name, actor, expected) as work:
        edit = _TeamEdit.begin(work, [on])
        number, since = edit.number(worker_id), edit.since(on)
        held = edit.stint_of(number, since)
        if held is None:
            there = some_of(edit.names(stint.worker for stint in edit.holders(since))) or "nobody"
            day = edit.calendar.date_of(since)
            raise Conflict("worker", worker_id, f"holds no station on {day}, as far as is on record; there: {there}")
        edit.vacate(held, since)
        return edit.record(LEAVING)


def record_stints(
    store: Store, name: str, rows: Sequence[TeamRow], actor: str, *, expected: int | None = None
) -> TeamResult:
    """Record, or correct, who was at which station from when to when; the same rows again change nothing.

    For its time, a row replaces whatever was recorded of its station and of its person.
    """
    with store.writing(name, actor, expected) as work:
        after_last = [None if row.last is None else row.last + timedelta(days=1) for row in rows]
        edit = _TeamEdit.begin(work, [*(row.first for row in rows), *after_last])
        in_order = sorted(zip(rows, after_last, strict=True), key=lambda pair: pair[0].first)
        for row, end in in_order:
            if end is not None and end <= row.first:
                raise InvalidInput("until", str(row.last), f"must not be before the first day, {row.first}")
            number, since = edit.number(row.worker_id), edit.since(row.first)
            until = None if end is None else edit.since(end)
            station, held = edit.station(row.station), edit.stint_of(number, since)
            if station is None:
                station = edit.empty_station(since) if held is None else held.station
            edit.lay(Held(station, number, since, until))
        return edit.record(FROM_FILE)


@dataclass
class _TeamEdit:
    """Spans that are collected for one event, with the stints as they will be."""

    work: SiteTransaction
    calendar: WorkCalendar
    opened: Mapping[date, tuple[int, ...]]
    stints: list[Stint]
    spans: list[Held]
    ids: Mapping[str, int]

    @classmethod
    def begin(cls, work: SiteTransaction, dates: Iterable[date | None]) -> "_TeamEdit":
        """Begin to edit; dates without a number get one."""
        calendar = work.site.config.calendar
        today = max(work.site.config.day_of(work.clock()), calendar.date_of(work.site.period))
        named = {day for day in dates if day is not None}
        for day in sorted(named):
            if day.year < EARLIEST:
                raise InvalidInput("on", str(day), f"must be a day from {EARLIEST} on")
            if day > today + timedelta(days=1):
                raise InvalidInput("on", str(day), f"must not be in the future; today is {today}")
        opened = calendar.numbers_for(day for day in named if calendar.mark_of(day) is None)
        if opened:
            calendar = calendar.with_opened(opened, worked=False)
        return cls(work, calendar, opened, list(work.stints()), [], work.identities())

    def number(self, worker_id: str) -> int:
        """Return a worker's number."""
        if worker_id not in self.ids:
            raise unknown_worker(worker_id, len(self.ids))
        return self.ids[worker_id]

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the firm's ids of workers."""
        ids = {number: external for external, number in self.ids.items()}
        return [ids.get(number, "somebody erased") for number in numbers]

    def since(self, day: date | None) -> int:
        """Return the period from which a change of a day counts; without a day the coming one."""
        mark = None if day is None else self.calendar.mark_of(day)
        return self.work.site.period if mark is None else mark

    def station(self, counted_from_1: int | None) -> int | None:
        """Return a station's index."""
        if counted_from_1 is None:
            return None
        return whole("station", counted_from_1, 1, self.work.site.config.team) - 1

    def holders(self, period: int) -> list[Stint]:
        """Return the stints of a moment, by station."""
        moment = self.calendar.moment_of
        return [
            stint
            for stint in self.stints
            if moment(stint.since) <= moment(period) and (stint.until is None or moment(period) < moment(stint.until))
        ]

    def stint_of(self, worker: int, period: int) -> Stint | None:
        """Return a worker's stint at a moment."""
        return next((stint for stint in self.holders(period) if stint.worker == worker), None)

    def empty_station(self, period: int) -> int:
        """Return the first station that nobody held at a moment; one that stayed empty, if there is one."""
        held = {stint.station for stint in self.holders(period)}
        empty = [station for station in range(self.work.site.config.team) if station not in held]
        if not empty:
            there = some_of(self.names(stint.worker for stint in self.holders(period)))
            remedy = f"no station is empty then ({there}); name one with `station`, or record who left first"
            raise Conflict("station", str(self.calendar.date_of(period)), remedy)
        return min(empty, key=lambda station: (self._next_at(station, period) is not None, station))

    def seat(self, worker: int, station: int, since: int) -> None:
        """Lay a span from a moment on, until somebody else is recorded there or the worker elsewhere."""
        moment = self.calendar.moment_of
        ends = [
            stint.since
            for stint in self.stints
            if moment(stint.since) > moment(since)
            and (stint.worker != worker if stint.station == station else stint.worker == worker)
        ]
        self.lay(Held(station, worker, since, min(ends, key=moment, default=None)))

    def _next_at(self, station: int, period: int) -> int | None:
        moment = self.calendar.moment_of
        later = [stint.since for stint in self.stints if stint.station == station]
        return min((since for since in later if moment(since) > moment(period)), key=moment, default=None)

    def vacate(self, stint: Stint, since: int) -> None:
        """Lay an empty span from a moment to the end of a stint."""
        self.lay(Held(stint.station, NOBODY, since, stint.until))

    def lay(self, span: Held) -> None:
        """Lay a span over the stints, unless it changes nothing."""
        after = painted(self.stints, [span], self.calendar)
        if set(after) != set(self.stints):
            self.spans.append(span)
            self.stints = after

    def record(self, source: str) -> TeamResult:
        """Record the spans, if there are any."""
        if self.spans:
            record_spans(self.work, self.spans, source, self.opened)
        return TeamResult(len(self.spans))
