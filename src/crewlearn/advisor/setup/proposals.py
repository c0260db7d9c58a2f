"""What the settings of a new site may be, judging by a file of its output; each with the reason in a sentence.

What no file can tell is asked: what a replacement costs, and what a unit is worth.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from statistics import median, quantiles
from typing import Any

from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.detection.sentences import measure_words
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.recording.team_inference import GAP
from crewlearn.advisor.ledger.events import AWAY
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import MOST, Units
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.setup.first_reading import LESS_IS_BETTER, FirstReading, read_first
from crewlearn.language import _, localized, noted, plural

ASKED = {
    "fee": noted("No file can tell this: the full cost of one replacement, with agency, induction and paperwork."),
    "value_per_unit": noted("No file can tell this: what one more unit brings, in the same currency as the cost."),
}
"""What has to be asked, with the reason."""

HORIZON, MEAN_DELAY = 250, 5.0
"""The planning horizon of a new site, a year of working days, and the first guess of how long an offer takes."""

USUAL_HOURS = 8.0
"""The hours of a working day where output is a rate and nothing says how long people work."""

_TOP, _SPARE = 0.99, 1.1
"""The best output is taken to be so much above what all but one in a hundred days of people reach."""
_FAR = 4.0
"""An output so many times the usual one is left out of account: it is more likely an error."""
_TIMED, _STEADY = 0.8, 0.9
"""Hours count if most rows have them, and if short days have less than this share of long ones."""
_CLOSED = 0.1
"""More days without output than this share are no closures: the file has a gap."""
_MOST, _LEAST = MOST / 10.0, 1e-6
"""Output beyond these is an error of the file, which the import tells."""
_DAYS = (noted("Mon"), noted("Tue"), noted("Wed"), noted("Thu"), noted("Fri"), noted("Sat"), noted("Sun"))


@dataclass(frozen=True)
class ProposedSetting:
    """A setting as it is proposed, and why."""

    value: Any
    why: str


@dataclass(frozen=True)
class SiteProposal:
    """The settings proposed for a new site, by name, and the file that they follow from.

    Names are those of `SiteConfig`, `Units` and `WorkCalendar`. `digest` is that of the file.
    """

    settings: Mapping[str, ProposedSetting]
    reading: FirstReading
    digest: str

    @property
    def people(self) -> int:
        """How many people have a row."""
        return len({row.worker_id for row in self.reading.rows})

    @property
    def days(self) -> tuple[date, date, int]:
        """The first and the last day with output, and how many there are."""
        days = _days_of(_observed(self.reading.rows))
        return days[0], days[-1], len(days)

    def config(self, chosen: Mapping[str, Any]) -> SiteConfig:
        """Return the settings as proposed, but for those chosen; the fee and the value of a unit must be among these.

        A setting that is None is chosen too. The policy's random stream follows from the file, so that the first advice
        is the same whenever the same settings are tried.
        """
        known = {"horizon": HORIZON, "mean_delay": MEAN_DELAY, "rolling": True, "learn_delay": True}
        values = {**known, **{name: setting.value for name, setting in self.settings.items()}, **chosen}
        units = Units(**{name: values.pop(name) for name in ("low", "high", "value_per_unit", "hours_per_period")})
        names = ("start", "weekdays", "closures", "shifts_per_day", "cutoff_hour")
        calendar = WorkCalendar(**{name: values.pop(name) for name in names})
        values.setdefault("stream_key", stream_of(self.digest))
        return SiteConfig(units=units, calendar=calendar, **values)

    def to_json(self) -> dict[str, Any]:
        """Describe the proposals as plain data."""
        first, last, days = self.days
        return {
            "rows": len(self.reading.rows),
            "people": self.people,
            "days": days,
            "first_day": first.isoformat(),
            "last_day": last.isoformat(),
            "reading": list(self.reading.read.sentences),
            "notes": list(self.reading.read.notices),
            "settings": {
                name: {"value": _plain(setting.value), "why": setting.why} for name, setting in self.settings.items()
            },
            "asked": dict(ASKED),
        }


def stream_of(digest: str) -> int:
    """Return the key of a policy's random stream for a file's digest."""
    return int(digest[:15], 16)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value


def propose_site(file: ImportFile, today: date, hours: float | None = None) -> SiteProposal:
    """Return the settings that a file of output suggests; a file that cannot be read raises `CsvErrors`.

    With `hours` of a working day, output counts by the hour.
    """
    reading = read_first(file, today)
    rows = _observed(reading.rows)
    by_hour = _hours(rows, reading) if hours is None else ProposedSetting(hours, _("Output counts by the hour."))
    settings = {
        "team": _team(rows),
        **_range(rows, reading, by_hour.value),
        "hours_per_period": by_hour,
        **_calendar(rows, reading),
    }
    return SiteProposal(settings, reading, hashlib.sha256(file.data).hexdigest())


def _observed(rows: Sequence[OutputRow]) -> list[OutputRow]:
    """Return the rows with output; where there is none at all, every row."""
    observed = [row for row in rows if row.units is not None and row.attendance not in AWAY]
    return observed or list(rows)


def _days_of(rows: Sequence[OutputRow]) -> list[date]:
    return sorted({row.day for row in rows if row.day is not None})


# --- the team


def _team(rows: Sequence[OutputRow]) -> ProposedSetting:
    """Propose the number of stations: the people at work on a usual day, counting those who are back soon."""
    periods = sorted({(row.day or date.min, row.shift or 1) for row in rows})
    index = {period: at for at, period in enumerate(periods)}
    there: dict[str, list[int]] = {}
    for row in rows:
        there.setdefault(row.worker_id, []).append(index[row.day or date.min, row.shift or 1])
    at_work, on_staff = [0] * len(periods), [0] * len(periods)
    for seen in there.values():
        places = sorted(set(seen))
        for place in places:
            at_work[place] += 1
        for before, after in zip(places, [*places[1:], len(periods) + GAP + 1], strict=True):
            for place in range(before, after if after - before <= GAP + 1 else before + 1):
                on_staff[place] += 1
    most, usual = max(at_work), round(median(on_staff))
    team = max(1, min(most, usual))
    counted_too = _(" counting those away for a day or two") if usual > median(at_work) else ""
    others = len(there) - team
    rest = (
        _("; {others} came and went", others=plural("{n} other person", "{n} other people", others))
        if others > 0
        else ""
    )
    comma = "," if counted_too else ""
    return ProposedSetting(
        team,
        _(
            "{team} on a usual day{comma}{counted_too}{rest}.",
            team=plural("{n} person", "{n} people", team),
            comma=comma,
            counted_too=counted_too,
            rest=rest,
        ),
    )


# --- the output


def _hours(rows: Sequence[OutputRow], reading: FirstReading) -> ProposedSetting:
    """Propose the hours of a working day if output is to count by the hour."""
    hours = sorted(row.hours for row in rows if row.hours)
    usual = round(median(hours), 2) if hours else USUAL_HOURS
    if reading.kind == "rate" and reading.measure.is_level:
        known = (
            _("a usual day has {usual}", usual=localized(f"{usual:g}"))
            if hours
            else _("taken as {usual}, as the file has none", usual=localized(f"{usual:g}"))
        )
        return ProposedSetting(usual, _("The output is a rate by the hour; of hours, {known}.", known=known))
    if reading.measure.is_level:
        return ProposedSetting(None, _("The output is a level and not a number of pieces, so hours do not matter."))
    if len(hours) < _TIMED * len(rows):
        return ProposedSetting(None, _("The file does not tell how long people worked, so output counts by the day."))
    low, high = hours[len(hours) // 10], hours[-1 - len(hours) // 10]
    if low >= _STEADY * high:
        return ProposedSetting(
            None,
            _("Everybody works about {usual} hours a day, so output counts by the day.", usual=localized(f"{usual:g}")),
        )
    why = _(
        "Days have from {low} to {high} hours, so output counts by the hour and short days are judged fairly.",
        low=localized(f"{low:g}"),
        high=localized(f"{high:g}"),
    )
    return ProposedSetting(usual, why)


def _range(rows: Sequence[OutputRow], reading: FirstReading, hours: float | None) -> dict[str, ProposedSetting]:
    """Propose the range of output: what counts as nothing, and what is the best."""
    made = sorted(_outputs(rows, reading, hours))
    words = measure_words(reading.measure) + (_(" by the hour") if hours is not None else "")
    usual = median(made)
    sound = [value for value in made if abs(value) <= _FAR * max(abs(usual), 1e-9)] or made
    top = quantiles(sound, n=100, method="inclusive")[98] if len(sound) > 1 else sound[0]
    ceiling = nice_above(_SPARE * max(top, 0.0)) or 1.0
    beyond = sum(value > ceiling for value in made)
    left = plural(" {n} lies above and counts as this.", " {n} lie above and count as this.", beyond) if beyond else ""
    if reading.kind in LESS_IS_BETTER:
        reached = _(
            "99 of 100 outputs are at most {shown} ({words}); a tenth is added for worse days.",
            shown=_shown(top),
            words=words,
        )
    else:
        reached = _(
            "99 of 100 outputs are at most {shown} ({words}); a tenth is added for better days.",
            shown=_shown(top),
            words=words,
        )
    floor = 0.0 if made[0] >= 0.0 else -nice_above(_SPARE * -made[0])
    least = _("Output is never below 0.") if floor == 0.0 else _("The least output is {shown}.", shown=_shown(made[0]))
    if reading.kind in LESS_IS_BETTER:
        return {
            "low": ProposedSetting(
                ceiling,
                _(
                    "Less is better, by the words “{measured}”. {worse}{left}",
                    measured=reading.measured,
                    worse=reached,
                    left=left,
                ),
            ),
            "high": ProposedSetting(floor, _("Less is better, so the best is the least. {least}", least=least)),
        }
    return {
        "low": ProposedSetting(floor, least),
        "high": ProposedSetting(ceiling, f"{reached}{left}"),
    }


def _outputs(rows: Sequence[OutputRow], reading: FirstReading, hours: float | None) -> list[float]:
    """Return the output of each row, by the hour if there are `hours`; a level stays what it is."""
    by_hour = hours is not None and not reading.measure.is_level
    made = [row.units / (row.hours or hours or 1.0) if by_hour else row.units for row in rows if row.units is not None]
    return [min(max(value, -_MOST), _MOST) for value in made] or [0.0]


def nice_above(value: float) -> float:
    """Return a round number that is not below a value.

    >>> [nice_above(value) for value in (113.3, 83.0, 0.83, 251.0, 0.0)]
    [115.0, 85.0, 0.85, 300.0, 0.0]
    """
    if value <= 0.0:
        return 0.0
    value = max(value, _LEAST)
    size = 10.0 ** math.floor(math.log10(value))
    step = size / (20.0 if value < 2.0 * size else 2.0)
    return float(f"{math.ceil(value / step - 1e-9) * step:.12g}")


def _shown(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


# --- the calendar


def _calendar(rows: Sequence[OutputRow], reading: FirstReading) -> dict[str, ProposedSetting]:
    """Propose first day, working days, closures, shifts and the hour at which days change."""
    days = _days_of(rows)
    heads = Counter(row.day for row in rows)
    usual = median(heads.values())
    weeks: dict[int, int] = Counter(day.weekday() for day in days if heads[day] >= usual / 2.0)
    spanned = Counter((days[0] + timedelta(days=at)).weekday() for at in range((days[-1] - days[0]).days + 1))
    weekdays = tuple(weekday for weekday in range(7) if spanned[weekday] and 2 * weeks[weekday] >= spanned[weekday])
    weekdays = weekdays or tuple(sorted({day.weekday() for day in days}))
    short = tuple(range(5)) if len(days) < 5 and set(weekdays) <= set(range(5)) else weekdays
    overtime = sum(day.weekday() not in short for day in days)
    more = (
        _(" Output on {overtime} counts as overtime.", overtime=plural("{n} other day", "{n} other days", overtime))
        if overtime
        else ""
    )
    why = _("Output on most {named}.{more}", named=_named(weekdays), more=more)
    if short != weekdays:
        why = _(
            "The file has {days} only, all from Monday to Friday; change what is different.",
            days=plural("{n} day", "{n} days", len(days)),
        )
    worked = set(days)
    planned = [days[0] + timedelta(days=at) for at in range((days[-1] - days[0]).days + 1)]
    planned = [day for day in planned if day.weekday() in short]
    closed = tuple(day for day in planned if day not in worked)
    gap = len(closed) > max(1.0, _CLOSED * len(planned))
    shifts = max((row.shift or 1 for row in rows), default=1)
    cutoff = reading.cutoff_hour
    return {
        "start": ProposedSetting(days[0], _("The first day with output.")),
        "weekdays": ProposedSetting(short, why),
        "closures": ProposedSetting(() if gap else closed, _closed_words(closed, gap)),
        "shifts_per_day": ProposedSetting(
            shifts, _("The file has {shifts} a day.", shifts=plural("{n} shift", "{n} shifts", shifts))
        ),
        "cutoff_hour": ProposedSetting(
            cutoff,
            _("Work goes on over midnight and rests at {cutoff}:00.", cutoff=cutoff)
            if cutoff
            else _("Days change at midnight."),
        ),
    }


def _named(weekdays: Sequence[int]) -> str:
    """Name weekdays, those in a row as a range.

    >>> _named((0, 1, 2, 3, 4)), _named((0, 2, 3, 4, 6))
    ('days from Mon to Fri', 'days of Mon, Wed to Fri and Sun')
    """
    runs = [
        [weekday for _place, weekday in run]
        for _first, run in groupby(enumerate(weekdays), key=lambda placed: placed[1] - placed[0])
    ]
    parts = [
        _(_DAYS[run[0]]) if len(run) == 1 else _("{first} to {last}", first=_(_DAYS[run[0]]), last=_(_DAYS[run[-1]]))
        for run in runs
    ]
    return (
        _("days from {days}", days=parts[0])
        if len(runs) == 1 and len(runs[0]) > 1
        else _("days of {days}", days=some_of(parts, 7))
    )


def _closed_words(closed: Sequence[date], gap: bool) -> str:
    if not closed:
        return _("There is output on every working day.")
    if gap:
        return _(
            "{closed} without output: too many for closures, so none is proposed.",
            closed=plural("{n} working day", "{n} working days", len(closed)),
        )
    return _("Nobody had output on {days}.", days=some_of([str(day) for day in closed], 3))
