"""Recording who was at which station when, as commands and imports find it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from crewlearn.advisor.ledger.events import TeamRecorded
from crewlearn.advisor.ledger.events.people.team import settlements
from crewlearn.advisor.ledger.settings.opened_days import DayNumbers
from crewlearn.advisor.ledger.team.stints import Held, painted, seats_of
from crewlearn.advisor.ledger.transaction import SiteTransaction


@dataclass(frozen=True, slots=True)
class TeamRow:
    """Somebody at a station from their first day through their last one; None: to this day.

    `station` counts from 1; None takes the one they held, or the first that is empty.
    """

    worker_id: str
    first: date
    last: date | None = None
    station: int | None = None


def record_spans(work: SiteTransaction, spans: Sequence[Held], source: str, opened: DayNumbers) -> None:
    """Record spans as one event, with the dates that they need and what becomes of offers under way."""
    site = work.site
    calendar = site.config.calendar.with_opened(opened, worked=False) if opened else site.config.calendar
    named = {number for span in spans for number in (span.since, span.until) if number is not None}
    used = {day: numbers for day, numbers in opened.items() if named.intersection(numbers)}
    dated = replace(site, config=replace(site.config, calendar=calendar))
    seats = seats_of(painted(work.stints(), spans, calendar), dated)
    work.add(TeamRecorded(tuple(spans), source, used, settlements(dated, seats)))
