"""A person's own sheet: what is recorded about them, how they are judged, and what was proposed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.ledger.events import AWAY, RecordedRow
from crewlearn.advisor.ledger.site import OPEN, PROPOSED, Proposal
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.advisor.wording.learned import ramp_words, trend_words
from crewlearn.language import _, localized, plural
from crewlearn.web import formats
from crewlearn.web.views.people.remarks import RemarkView, remarks
from crewlearn.web.views.proposals import STATUS_WORDS
from crewlearn.web.views.reading import Reading


@dataclass(frozen=True)
class Month:
    """A month of a person: days at work, mean output, days away."""

    name: str
    worked: int
    mean: str
    away: int


@dataclass(frozen=True)
class Proposed:
    """A proposal about a person: when, what, what became of it, and how they were judged then."""

    day: str
    what: str
    outcome: str
    judged: str


@dataclass(frozen=True)
class PersonSheet:
    """A person's own sheet."""

    label: str
    today: str
    period: str
    stints: tuple[tuple[str, str], ...]
    months: tuple[Month, ...]
    days: tuple[tuple[str, str, str, str], ...]
    estimate: str
    interval: str
    lines: tuple[str, ...]
    proposals: tuple[Proposed, ...]
    remarks: tuple[RemarkView, ...]
    unit: str


def person_sheet(
    reading: Reading, number: int, rows: Sequence[RecordedRow], stints: Sequence[Stint], proposals: Sequence[Proposal]
) -> PersonSheet:
    """Return what is recorded and was proposed about a person, and how they are judged."""
    ordered = sorted(rows, key=lambda row: reading.place(row.period))
    member = next(member for member in reading.snapshot.members if member.number == number)
    level = member.level
    began = ""
    if ordered:
        began = _("{period} to {last}", period=reading.day(ordered[0].period), last=reading.day(ordered[-1].period))
    return PersonSheet(
        label=reading.label(number),
        today=f"{formats.day(reading.today)} {reading.today.year}",
        period=began,
        stints=tuple(
            (reading.day(stint.since), _("now") if stint.until is None else reading.day(stint.until))
            for stint in stints
        ),
        months=tuple(_months(reading, ordered)),
        days=tuple(_day(reading, row) for row in reversed(ordered)),
        estimate=reading.output(level.mean),
        interval=_("{low} to {high}", low=reading.output(level.low), high=reading.output(level.high)),
        lines=tuple(_how(reading, number)),
        proposals=tuple(_proposed(reading, number, proposal) for proposal in proposals),
        remarks=tuple(remarks(reading, number)),
        unit=reading.unit,
    )


def _output(reading: Reading, row: RecordedRow) -> float | None:
    """Return a day's output in the site's unit; None for a day away."""
    if row.units is None or row.attendance in AWAY:
        return None
    hours = reading.site.config.units.hours_per_period
    return row.units if hours is None else row.units / (row.hours or hours)


def _months(reading: Reading, rows: Sequence[RecordedRow]) -> list[Month]:
    calendar = reading.site.config.calendar
    listed = []
    for (year, month), several in groupby(rows, key=lambda row: calendar.month_of(row.period)):
        days = list(several)
        made = [output for row in days if (output := _output(reading, row)) is not None]
        mean = reading.output(fmean(made)) if made else "–"
        listed.append(Month(f"{formats.month(month)} {year}", len(made), mean, len(days) - len(made)))
    return listed


def _day(reading: Reading, row: RecordedRow) -> tuple[str, str, str, str]:
    output = _output(reading, row)
    hours = "" if row.hours is None else localized(f"{row.hours:g}")
    return reading.marked_day(row.period), "–" if output is None else reading.output(output), hours, _(row.attendance)


def _how(reading: Reading, number: int) -> list[str]:
    """Return how the level is estimated, in sentences."""
    site = reading.site
    member = next(member for member in reading.snapshot.members if member.number == number)
    days, worker = member.estimate.days, site.workers[number]
    lines = []
    if days:
        lines.append(
            plural(
                "It follows from {n} day of output here. Few days say little, so the estimate starts from "
                "what is usual for everybody, and the more days there are, the more it follows one's own "
                "output.",
                "It follows from {n} days of output here. Few days say little, so the estimate starts from "
                "what is usual for everybody, and the more days there are, the more it follows one's own "
                "output.",
                days,
            )
        )
    else:
        lines.append(_("There is no output here yet, so it is what is usual for everybody."))
    if worker.prior_n:
        lines.append(
            _(
                "{prior_n} from before this site count too.",
                prior_n=plural("{n} earlier day", "{n} earlier days", worker.prior_n),
            )
        )
    lines.append(
        _("The level lies in the interval with a probability of about 95%; absences and days off do not count.")
    )
    if member.learned is not None:
        ramp, trend = ramp_words(member.learned.ramp_up), trend_words(member.learned.trend, reading.written)
        lines.append(_("Ramp-up is taken into account, and so are days that were good or bad for everybody."))
        if ramp:
            lines.append(_("Now on {ramp}.", ramp=ramp))
        lines.append(_("The level went {trend}.", trend=trend) if trend else _("No lasting change of the level shows."))
    return lines


def _proposed(reading: Reading, number: int, proposal: Proposal) -> Proposed:
    reasons = facts(reading.site, proposal)
    comes = proposal.into == number
    own = reasons.into if comes else reasons.out
    judged = (
        "" if own is None else f"{reading.output(own.mean)} ({reading.output(own.low)} – {reading.output(own.high)})"
    )
    outcome = _(STATUS_WORDS.get(proposal.status, proposal.status))
    if proposal.status in OPEN and proposal.status != PROPOSED:
        outcome += _(", under way")
    what = _("to bring them in") if comes else _("to give their place to somebody else")
    return Proposed(reading.day(proposal.period), what, outcome, judged)
