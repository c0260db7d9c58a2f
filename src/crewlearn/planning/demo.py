"""The demo site: half a year of a warehouse's order picking, invented but plausible.

Everything goes through the ordinary commands, dated on the mornings people would have used them, so the record can be
verified, explained and planned with. Nobody in it knows the floor: advice errs and is followed all the same, and the
gain is what it is.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import LEFT, PROPOSED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.planning.demo_floor import BEST_RATE, DAYS, PEOPLE, QUITS, TEAM, DemoFloor
from crewlearn.problem.arrays import NOBODY

HOURS = 7.5
FIRST_FILE = 15
"""Days in the first spreadsheet; after them, output is recorded every morning."""

NEWCOMER_JOINS, MISTYPED, MANAGER_AWAY = 60, 95, 114
"""The days on which a newcomer joins, a value is mistyped (and corrected two days later), and the manager goes on
leave: from then on proposals stay unanswered."""

FORMER_DAYS = 12
"""Days that the newcomer worked at another site, whose mean is known."""

PARTIAL, SENT_HOME, NO_SHOW = 40, 52, 57
"""The days on which somebody works half a shift, is sent home for lack of work, and does not come without a word."""

MANAGER, CLERK = "Ines Aubert", "shift office"

_PEOPLE, _DESK = 6, 5
"""Random streams: who is there at first, and people's decisions."""

NAMES = (
    "Amira Haddad",
    "Bogdan Ilić",
    "Chiara Fontana",
    "Daniel Okafor",
    "Elif Yıldız",
    "Femi Adeyemi",
    "Greta Lindqvist",
    "Hugo Marchand",
    "Ioana Petrescu",
    "Jamal Rahimi",
    "Katarzyna Wrona",
    "Luca Steiner",
    "Mei Tanaka",
    "Nikhil Deshpande",
    "Olga Sidorenko",
    "Pedro Vasconcelos",
    "Quynh Tran",
    "Rosa Delgado",
    "Samuel Mensah",
    "Tomáš Novotný",
    "Ulla Virtanen",
    "Viktor Horvat",
    "Wanjiru Kamau",
    "Yusuf Demir",
)
"""The site's workers; the last one joins later."""


def make_demo(store: Store, name: str = "demo", seed: int = 7, today: date | None = None) -> Site:
    """Create a site with half a year of history up to the last working day before `today`; return its state.

    The same seed and day give the same events, whose hashes differ only by the salts of who is who.
    """
    day = store.clock().date() if today is None else today
    calendar = _calendar(day)
    clock = _Clock()
    rng = np.random.default_rng((seed, _PEOPLE))
    ids = tuple(str(1000 + int(step)) for step in np.cumsum(rng.integers(3, 40, PEOPLE)))
    team = tuple(int(worker) for worker in rng.choice(PEOPLE - 1, TEAM, replace=False))
    desk = _Desk(
        replace(store, clock=clock), name, DemoFloor(seed, team), calendar, ids, np.random.default_rng((seed, _DESK))
    )
    clock.set(calendar.date_of(FIRST_FILE + 1))
    desk.set_up(seed, team)
    for period in range(FIRST_FILE + 1, DAYS + 1):
        desk.morning(period)
        active = desk.site().roster.active
        clock.set(min(calendar.date_of(period + 1), day))
        desk.record(period, active)
    desk.last_morning()
    return desk.site()


def _calendar(today: date) -> WorkCalendar:
    """Return a calendar whose day 125 is the last working day before today, with one closure on the way."""
    days: list[date] = []
    day = today
    while len(days) < DAYS + 1:
        day -= timedelta(days=1)
        if day.weekday() < 5:
            days.append(day)
    return WorkCalendar(start=days[-1], closures=(days[DAYS // 2],))


class _Clock:
    """A clock that is set to each morning and advances a little on every call."""

    def __init__(self) -> None:
        self.now = datetime.min.replace(tzinfo=UTC)

    def set(self, day: date) -> None:
        """Advance to the morning of a day; the clock never goes back."""
        self.now = max(self.now, datetime.combine(day, time(6, 40), tzinfo=UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=20)
        return self.now


@dataclass
class _Desk:
    """The office: records output, answers proposals and follows up offers, morning by morning."""

    store: Store
    name: str
    floor: DemoFloor
    calendar: WorkCalendar
    ids: tuple[str, ...]
    rng: np.random.Generator
    due: dict[int, int] = field(default_factory=dict)
    rejected: bool = False
    declined: bool = False
    correction: OutputRow | None = None

    def site(self) -> Site:
        """Read the site."""
        with self.store.reading() as connection:
            return self.store.site(connection, self.name)[1]

    def set_up(self, seed: int, team: Sequence[int]) -> None:
        """Set up the site, its workers and the output of its first days."""
        config = SiteConfig(
            team=TEAM,
            fee=400.0,
            units=Units(low=0.0, high=BEST_RATE, value_per_unit=0.22, hours_per_period=HOURS),
            calendar=self.calendar,
            horizon=120,
            mean_delay=3.0,
            rolling=True,
            learn_delay=True,
            stream_key=seed,
        )
        commands.create_site(self.store, self.name, config, MANAGER)
        people = [WorkerRow(self.ids[worker], NAMES[worker], active=worker in team) for worker in range(PEOPLE - 1)]
        worker_imports.import_workers(self.store, self.name, people, _file(people), MANAGER)
        rows = [row for period in range(1, FIRST_FILE + 1) for row in self._day(period, sorted(team))]
        output_imports.import_output(self.store, self.name, rows, _file(rows), CLERK, accept_unusual=True)

    def record(self, period: int, active: Sequence[int]) -> None:
        """Record the output of a day, on some days with an irregularity."""
        rows = self._day(period, active)
        if period == MISTYPED:
            self.correction, rows[0] = rows[0], _mistyped(rows[0])
        output_imports.import_output(self.store, self.name, rows, _file(rows), CLERK, accept_unusual=True)
        if period == MISTYPED + 2 and self.correction is not None:
            right = [self.correction]
            output_imports.import_output(
                self.store, self.name, right, _file(right), MANAGER, correct=True, accept_unusual=True
            )

    def _day(self, period: int, active: Sequence[int]) -> list[OutputRow]:
        """Let people work for a day, and return its rows; some days hold an irregularity for the first of them."""
        irregular = {PARTIAL: "partial", SENT_HOME: "sent-home", NO_SHOW: "no-show", MISTYPED: "worked"}
        rows, day = [], self.calendar.date_of(period)
        for worker in active:
            absent, early = self.floor.is_absent(period, worker), self.floor.leaves_early(period, worker)
            attendance = "absent" if absent else "partial" if early else "worked"
            if worker == active[0]:
                attendance = irregular.get(period, attendance)
            hours = {"worked": HOURS, "partial": 4.0, "sent-home": 2.0}.get(attendance)
            units = None if hours is None else float(round(self.floor.rate(period, worker) * hours))
            rows.append(OutputRow(1, day, None, self.ids[worker], units, hours, attendance))
            if hours is not None:
                self.floor.worked([worker])
        return rows

    def morning(self, period: int) -> None:
        """Follow up offers, record who joins and leaves, and answer proposals."""
        self._see_offers_through(period)
        if period == NEWCOMER_JOINS:
            rate = self.floor.former_rate(PEOPLE - 1, FORMER_DAYS)
            newcomer = [WorkerRow(self.ids[-1], NAMES[-1], prior_n=FORMER_DAYS, prior_mean=rate)]
            worker_imports.import_workers(self.store, self.name, newcomer, _file(newcomer), MANAGER)
        if period in QUITS:
            self._somebody_quits(period)
        while period < MANAGER_AWAY and (proposals := self.site().open_proposals(PROPOSED)):
            self._answer(proposals[0], period)

    def last_morning(self) -> None:
        """Leave today's proposals open for the reader; if there are none, record that somebody left."""
        if not self.site().open_proposals(PROPOSED):
            self._somebody_quits(DAYS + 1)

    def _see_offers_through(self, period: int) -> None:
        """Record who declined and who starts today."""
        for proposal in self.site().open_proposals(*UNDER_WAY):
            if proposal.out == NOBODY and not self.declined:
                self.declined = True
                commands.record_offer(self.store, self.name, proposal.id, "declined", CLERK)
            elif proposal.status == "approved" and self.due[proposal.id] > period:
                commands.record_offer(self.store, self.name, proposal.id, "accepted", CLERK)
            elif self.due[proposal.id] <= period:
                commands.record_offer(self.store, self.name, proposal.id, "started", CLERK)

    def _answer(self, proposal: Proposal, period: int) -> None:
        """Reject the first replacement proposed, with a reason; approve all others."""
        if proposal.out != NOBODY and not self.rejected:
            self.rejected = True
            reason = f"{NAMES[proposal.into]} works for another site until the end of next week"
            commands.reject(self.store, self.name, proposal.id, MANAGER, reason)
        else:
            self.due[proposal.id] = period + int(self.rng.integers(2, 6))
            commands.approve(self.store, self.name, proposal.id, MANAGER)

    def _somebody_quits(self, period: int) -> None:
        """Record that one of those who were not about to be replaced quit."""
        site = self.site()
        going = {pending.out for pending in site.roster.pending}
        staying = [worker for worker in site.roster.active if worker not in going]
        quitter = self.floor.quitter(period, staying)
        commands.change_worker(self.store, self.name, self.ids[quitter], CLERK, status=LEFT)


def _mistyped(row: OutputRow) -> OutputRow:
    """Return a number without its last digit, as if mistyped."""
    return replace(row, units=None if row.units is None else row.units // 10.0)


def _file(rows: Sequence[WorkerRow] | Sequence[OutputRow]) -> bytes:
    """Return rows as an imported file; the record keeps its digest."""
    table = [{key: value for key, value in asdict(row).items() if key != "line"} for row in rows]
    lines = [
        ",".join(table[0]),
        *(",".join("" if value is None else str(value) for value in row.values()) for row in table),
    ]
    return ("\n".join(lines) + "\n").encode()
