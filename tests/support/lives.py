"""A site, and shorthand for commands on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.readings import state_for_readings
from crewlearn.advisor.evidence.site_record import read_past, read_rows
from crewlearn.advisor.evidence.track_record import TrackRecord, track_record
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, Proposal, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import Stint, read_stints
from crewlearn.advisor.ledger.verify import verify
from support.stores import STATIONARY

WEEKDAYS = WorkCalendar(date(2026, 1, 5))
GOOD, BAD = 0.9, 0.1


class Life:
    """A site, and shorthand for commands on it; the fixture verifies its record at the end of each test."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, workers: int = 6, team: int = 2, active: int | None = None, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "team": team,
            "fee": 1.0,
            "units": Units(0.0, 1.0),
            "calendar": WEEKDAYS,
            "horizon": 200,
            "mean_delay": 2.0,
            **STATIONARY,
            "policy": "value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5",
        }
        commands.create_site(self.store, "s", SiteConfig(**{**settings, **changes}), "ann")
        seats = team if active is None else active
        rows = [WorkerRow(f"w{n}", f"Name {n}", active=n < seats) for n in range(workers)]
        worker_imports.import_workers(self.store, "s", rows, b"file", "ann")

    @property
    def site(self) -> Site:
        with self.store.reading() as connection:
            return self.store.site(connection, "s")[1]

    @property
    def people(self) -> People:
        with self.store.reading() as connection:
            return read_people(connection, self.store.site(connection, "s")[0])

    @property
    def events(self) -> int:
        with self.store.reading() as connection:
            return self.store.site(connection, "s")[2]

    @property
    def stints(self) -> list[Stint]:
        with self.store.reading() as connection:
            return read_stints(connection, self.store.site(connection, "s")[0])

    @property
    def proposals(self) -> list[Proposal]:
        with self.store.reading() as connection:
            return read_proposals(connection, self.store.site(connection, "s")[0])

    @property
    def track_record(self) -> TrackRecord:
        with self.store.reading() as connection:
            key, site, _ = self.store.site(connection, "s")
            past = read_past(connection, key)
            return track_record(site, past, read_rows(connection, key, past), state_for_readings(connection, key, site))

    def open(self) -> list[tuple[int, int]]:
        return [(proposal.out, proposal.into) for proposal in self.site.open_proposals(PROPOSED)]

    def first(self) -> Proposal:
        return self.site.open_proposals(PROPOSED)[0]

    def record(self, period: int | None = None, correct: bool = False, **outputs: Any) -> ImportResult:
        """Import one period's output by worker: a number, or attendance for those who gave none."""
        when = self.site.period if period is None else period
        rows = [
            OutputRow(
                place,
                None,
                when,
                worker,
                value if isinstance(value, float) else None,
                None,
                "worked" if isinstance(value, float) else value,
            )
            for place, (worker, value) in enumerate(outputs.items(), start=2)
        ]
        return output_imports.import_output(self.store, "s", rows, b"file", "ann", correct=correct, accept_unusual=True)

    def days(self, count: int, **outputs: Any) -> None:
        for _ in range(count):
            self.record(**outputs)


@contextmanager
def fresh_life(path: Path) -> Iterator[Life]:
    """Yield a site's shorthand over an empty store in a file; verify the record at the end."""
    store = open_store(f"sqlite:///{path}", clock=lambda: datetime(2027, 6, 1, tzinfo=UTC))
    life = Life(store)
    yield life
    if store.names():
        checked = verify(store, "s")
        assert checked.sound, checked.faults
    store.engine.dispose()


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """Yield a site's shorthand over an empty store; verify the record at the end."""
    with fresh_life(tmp_path / "s.db") as life:
        yield life
