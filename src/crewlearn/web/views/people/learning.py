"""A worker's learning curve: output over time, and how the estimate narrows with it."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from crewlearn.advisor.advice.facts import SURE
from crewlearn.advisor.advice.reasons import beliefs_of
from crewlearn.advisor.ledger.events import RecordedRow, observation
from crewlearn.advisor.wording.learned import person_notes
from crewlearn.beliefs.posterior import BETWEEN, CENTRE, CENTRE_DOUBT, NOISE
from crewlearn.language import _, plural
from crewlearn.web import formats
from crewlearn.web.views.charts import Band, ChartLine, chart, scale_over
from crewlearn.web.views.history import Window, days_of, first_place, last_place, marked_days, marks
from crewlearn.web.views.reading import Reading


@dataclass(frozen=True)
class Learning:
    """A worker's learning curve as the page shows it; a row of the table begins with its position in the chart.

    `notes` say how far they are in ramp-up, and what trend shows; if there are any, rows end with the output expected.
    `days` are the first and the last day shown; None if there is no output at all.
    """

    picture: Markup | None
    rows: tuple[tuple[float, str, str, str, str], ...]
    absent: str
    notes: tuple[str, ...] = ()
    unusual: bool = False
    days: tuple[date, date] | None = None


def learning(
    reading: Reading,
    number: int,
    rows: Sequence[RecordedRow],
    since: date | None = None,
    until: date | None = None,
) -> Learning:
    """Return a worker's output over time, or on the days of a range, and how the estimate narrowed with it.

    The band is the estimate from their own days up to each day, given the current estimates of pool and noise.
    """
    site, units = reading.site, reading.site.config.units
    seen = [
        (reading.place(row.period), value) for row in rows if (value := observation(site.config.units, row)) is not None
    ]
    away = [row for row in rows if row.attendance not in ("worked", "partial")]
    absent = plural("Not at work on {n} recorded day.", "Not at work on {n} recorded days.", len(away)) if away else ""
    if not seen:
        return Learning(None, (), absent)
    own = days_of(reading, Window(seen[0][0], seen[-1][0]))
    begin = seen[0][0] if since is None else max(seen[0][0], first_place(reading, since))
    end = seen[-1][0] if until is None else min(seen[-1][0], last_place(reading, until))
    kept = slice(bisect_left(seen, (begin,)), bisect_left(seen, (end + 1,)))
    days = (since or own[0], until or own[1])
    if not seen[kept]:
        return Learning(None, (), absent, days=days)
    window = Window(begin, max(end, begin + 1))
    learned = reading.snapshot.learned
    path = narrowing(reading, number, [value for _place, value in seen])[kept]
    people = [(mean, low, high) for mean, low, high in (_in_units(reading, mean, sd) for mean, sd in path)]
    expected = _expected(reading, number, [place for place, _value in seen])[kept]
    seen = seen[kept]
    shown = [units.people_output(value) for _, value in seen]
    marked = marked_days(reading, window)
    notes = person_notes(None if learned is None else learned.people[number], reading.written)
    scale = scale_over(
        [*shown, *expected, *(low for _mean, low, _high in people), *(high for _mean, _low, high in people)], 4
    )
    places = [window.middle(place) for place, _value in seen]
    mean, low, high = people[-1]
    ends = {"mean": reading.output(mean), "low": reading.output(low), "high": reading.output(high)}
    if learned is None:
        level = (
            _("The estimate is now {mean}, with a 95% interval from {low} to {high}.", **ends)
            if until is None
            else _("The estimate was then {mean}, with a 95% interval from {low} to {high}.", **ends)
        )
    else:
        level = (
            _("The average of these days is now {mean}, with a 95% interval from {low} to {high}.", **ends)
            if until is None
            else _("The average of these days was then {mean}, with a 95% interval from {low} to {high}.", **ends)
        )
    picture = chart(
        "learning",
        _("Output and estimate over time"),
        plural("{n} day of output. {level}", "{n} days of output. {level}", len(seen), level=level),
        scale,
        [formats.number(tick, scale.digits) for tick in scale.ticks],
        marks(reading, window),
        bands=[Band([(at, low, high) for at, (_mean, low, high) in zip(places, people, strict=True)], "")],
        lines=[
            ChartLine([(at, mean) for at, (mean, _low, _high) in zip(places, people, strict=True)], ""),
            *([ChartLine(list(zip(places, expected, strict=True)), "second")] if expected else []),
        ],
        marked=marked,
        dots=[(at, value, "dot") for at, value in zip(places, shown, strict=True)],
        height=260,
    )
    table = tuple(
        (
            at,
            reading.marked_day(reading.period(place)),
            reading.output(value),
            f"{reading.output(mean)} ({reading.output(low)} – {reading.output(high)})",
            reading.output(expected[day]) if expected else "",
        )
        for day, (at, (place, _value), value, (mean, low, high)) in reversed(
            list(enumerate(zip(places, seen, shown, people, strict=True)))
        )
    )
    told = tuple(f"{note[0].upper()}{note[1:]}." for note in notes)
    return Learning(picture, table, absent, told, bool(marked), days)


def _expected(reading: Reading, number: int, places: Sequence[int]) -> list[float]:
    """Return the output expected of a worker on each of their days, in ramp-up and with their trend; empty if neither.

    In ramp-up, what is lacking now was greater before by a factor e for each ramp length. A trend is drawn straight,
    from the level before it to the level now.
    """
    known = reading.snapshot.readings
    if known is None or known.people[number].level.mean is None:
        return []
    person, units = known.people[number], reading.site.config.units
    level, trend, last = known.people[number].level.mean or 0.0, person.trend, places[-1]
    if person.ramp_days is None and trend is None:
        return []
    lacking, length = 0.0 if person.ramp_days is None else 1.0 - person.share, max(known.ramp_days.mean, 1e-9)
    path = []
    for day, place in enumerate(places):
        then = level
        if trend is not None:
            before, since = level / (1.0 + trend.change), reading.place(trend.since)
            passed = min(1.0, max(0.0, (place - since) / max(1, last - since)))
            then = before + passed * (level - before)
        short = min(1.0, lacking * math.exp((len(places) - 1 - day) / length))
        path.append(units.people_output(min(1.0, max(0.0, then * (1.0 - short)))))
    return path


def _in_units(reading: Reading, mean: float, sd: float) -> tuple[float, float, float]:
    units = reading.site.config.units
    ends = [units.people_output(min(1.0, max(0.0, mean + side * SURE * sd))) for side in (-1.0, 1.0)]
    return units.people_output(mean), min(ends), max(ends)


def narrowing(reading: Reading, number: int, values: Sequence[float]) -> list[tuple[float, float]]:
    """Return mean and standard deviation after each of a worker's days; the last is the estimate shown elsewhere."""
    pool, worker = beliefs_of(reading.site).pool, reading.site.workers[number]
    noise, weight = float(pool[NOISE]), float(pool[NOISE] / pool[BETWEEN])
    count, total, path = float(worker.prior_n), worker.prior_n * worker.prior_mean, []
    for value in values:
        count, total = count + 1.0, total + value
        share = weight / (count + weight)
        mean = (total + weight * float(pool[CENTRE])) / (count + weight)
        path.append((mean, math.sqrt(noise / (count + weight) + float(pool[CENTRE_DOUBT]) * share * share)))
    return path
