"""A site's past: who was where, output against what was expected, and money."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor.events import Row
from crewlearn.advisor.facts import SURE
from crewlearn.advisor.fold import observation
from crewlearn.advisor.gain import gain_by_period
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import STARTED, UNDER_WAY, Proposal
from crewlearn.advisor.stints import Stint
from crewlearn.problem.arrays import NOBODY
from crewlearn.web import wording
from crewlearn.web.charts import TRANSITION, Band, Line, Mark, Span, chart, gantt, scale_over, spread_marks
from crewlearn.web.views.reading import Reading

WINDOW = 130
"""Periods shown at once."""
STATIONS = 40
"""Stations shown at once."""

_FEW = 10


@dataclass(frozen=True)
class Window:
    """The periods a page shows, first and last."""

    first: int
    last: int

    def at(self, period: float) -> float:
        """Give where a period begins, from 0 to 1."""
        return min(1.0, max(0.0, (period - self.first) / max(1, self.last - self.first + 1)))

    def middle(self, period: int) -> float:
        """Give where the middle of a period lies."""
        return self.at(period + 0.5)


def window_of(reading: Reading, last: int | None) -> Window:
    """Give the periods to show: the last ones on record, or those up to `last`."""
    newest = max(1, reading.site.period - 1)
    end = newest if last is None else min(max(1, last), newest)
    return Window(max(1, end - WINDOW + 1), max(end, 1))


@dataclass(frozen=True)
class Station:
    """Who held a station when, in words."""

    name: str
    stints: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class History:
    """The past of a site as the page shows it."""

    gantt: Markup | None
    stations: tuple[Station, ...]
    output: Markup | None
    output_rows: tuple[tuple[str, str, str], ...]
    money: Markup | None
    money_rows: tuple[tuple[str, str, str, str], ...]
    span: str
    unit: str


def history(
    reading: Reading,
    stints: Sequence[Stint],
    proposals: Sequence[Proposal],
    rows: Sequence[Row],
    window: Window,
    first_station: int,
) -> History:
    """Show a site's past over a window of periods; `proposals` are those that were acted on."""
    shown = [one for one in stints if first_station <= one.station < first_station + STATIONS]
    stations = sorted({one.station for one in shown})
    span = f"{reading.day(window.first)} to {reading.day(window.last)}"
    recorded = reading.site.period > 1
    output, output_rows = _output(reading, rows, window) if recorded else (None, ())
    money, money_rows = _money(reading, stints, proposals, window) if recorded and proposals else (None, ())
    return History(
        gantt=_gantt(reading, shown, stations, proposals, window, span) if stations and recorded else None,
        stations=tuple(_station(reading, station, shown) for station in stations),
        output=output,
        output_rows=output_rows,
        money=money,
        money_rows=money_rows,
        span=span,
        unit="units",
    )


def marks(reading: Reading, window: Window, within: float = 0.5) -> list[Mark]:
    """Mark a few days below a chart, in the middle of each, where its output stands, or `within` it from 0 to 1."""
    calendar = reading.site.config.calendar
    words = [wording.short_day(calendar.date_of(period)) for period in range(window.first, window.last + 1)]
    many = window.last - window.first + 1
    return [Mark((mark.at * (many - 1) + within) / many, mark.text) for mark in spread_marks(0, many - 1, words, 4)]


def _gantt(
    reading: Reading,
    stints: Sequence[Stint],
    stations: Sequence[int],
    proposals: Sequence[Proposal],
    window: Window,
    span: str,
) -> Markup:
    people, rows = reading.people, []
    first_team = {
        min((one for one in stints if one.station == station), key=lambda one: one.since) for station in stations
    }
    for station in stations:
        own = [one for one in stints if one.station == station]
        spans = []
        for one in own:
            until = reading.site.period if one.until is None else one.until
            if until <= window.first or one.since > window.last:
                continue
            name = reading.name_of(one.worker)
            ends = "now" if one.until is None else reading.day(max(one.since, one.until - 1))
            title = f"Station {station + 1}: {people.label(one.worker)}, {reading.day(one.since)} to {ends}"
            kind = "first" if one in first_team else "later"
            spans.append(Span(window.at(one.since), window.at(until), name, title, kind))
        for begun, ended, title in _transitions(reading, own, proposals):
            if ended > window.first and begun <= window.last:
                spans.append(Span(window.at(begun), window.at(ended), "", title, TRANSITION))
        rows.append(spans)
    description = (
        f"One row a station, {span}. Grey spans are the first team, green ones came later; hatched is the time from an "
        "approval to the first day, or to the end of the offer. The same stands below as a table."
    )
    return gantt("who-when", "Who worked where", description, rows, marks(reading, window, 0.0))


def _transitions(reading: Reading, own: Sequence[Stint], proposals: Sequence[Proposal]) -> list[tuple[int, int, str]]:
    """Give the times from an approval to its end at one station."""
    found = []
    for one in proposals:
        ended = one.settled_in or reading.site.period
        leaving = one.leaver if one.leaver != NOBODY else one.out
        here = any(
            (
                stint.worker == leaving
                and stint.since <= one.decided_in
                and (stint.until is None or stint.until >= one.decided_in)
            )
            or (leaving == NOBODY and one.status == STARTED and stint.worker == one.into and stint.since == ended)
            for stint in own
        )
        if here and ended > one.decided_in:
            words = "on the way" if one.status in UNDER_WAY else one.status
            found.append(
                (
                    one.decided_in,
                    ended,
                    f"{reading.label(one.into)}: approved for {reading.day(one.decided_in)}, "
                    f"{words} {reading.day(ended)}",
                )
            )
    return found


def _station(reading: Reading, station: int, stints: Sequence[Stint]) -> Station:
    own = [one for one in stints if one.station == station]
    listed = tuple(
        (
            reading.label(one.worker),
            reading.day(one.since),
            "now" if one.until is None else reading.day(max(one.since, one.until - 1)),
        )
        for one in own
    )
    return Station(f"Station {station + 1}", listed)


def _output(
    reading: Reading, rows: Sequence[Row], window: Window
) -> tuple[Markup | None, tuple[tuple[str, str, str], ...]]:
    """Draw each period's output against what was to be expected of those who worked, by what is known of them now."""
    site, units = reading.site, reading.site.config.units
    everybody, noise = estimates_of(site)
    made: dict[int, float] = {}
    hoped: dict[int, float] = {}
    doubt: dict[int, float] = {}
    size = abs(units.high - units.low)
    for row in rows:
        if row.units is None or observation(site, row) is None:
            continue
        hours = 1.0
        if units.hours_per_period is not None:
            hours = units.hours_per_period if row.hours is None else row.hours
        thought = everybody[row.worker]
        made[row.period] = made.get(row.period, 0.0) + row.units
        hoped[row.period] = hoped.get(row.period, 0.0) + hours * units.people_output(thought["mean"])
        spread = hours * size * math.hypot(thought["sd"], noise)
        doubt[row.period] = doubt.get(row.period, 0.0) + spread * spread
    periods = sorted(period for period in made if window.first <= period <= window.last)
    if not periods:
        return None, ()
    reach = SURE * _shared([(made[p] - hoped[p]) / math.sqrt(doubt[p]) for p in periods])
    lows = {period: hoped[period] - reach * math.sqrt(doubt[period]) for period in periods}
    highs = {period: hoped[period] + reach * math.sqrt(doubt[period]) for period in periods}
    scale = scale_over([*(made[p] for p in periods), *lows.values(), *highs.values()], 4)
    dots = [(window.middle(p), made[p], "dot" if lows[p] <= made[p] <= highs[p] else "odd") for p in periods]
    odd = sum(kind == "odd" for _, _, kind in dots)
    picture = chart(
        "output-by-day",
        "Output by day against what was expected",
        f"{wording.count(len(periods), 'day')}; on {odd} of them the team's output lay outside what was expected of "
        "those who worked.",
        scale,
        [wording.number(tick, scale.digits) for tick in scale.ticks],
        marks(reading, window),
        bands=[Band([(window.middle(p), lows[p], highs[p]) for p in periods], "")],
        lines=[Line([(window.middle(p), hoped[p]) for p in periods], "")],
        dots=dots,
    )
    table = tuple((reading.day(p), reading.output(made[p]), reading.output(hoped[p])) for p in reversed(periods))
    return picture, table


def _shared(standardised: Sequence[float]) -> float:
    """Give how much more days vary than people do: by a bad or good day for all, which no single worker's noise has."""
    if len(standardised) < _FEW:
        return 1.0
    return max(1.0, math.sqrt(sum(one * one for one in standardised) / len(standardised)))


def _money(
    reading: Reading, stints: Sequence[Stint], proposals: Sequence[Proposal], window: Window
) -> tuple[Markup, tuple[tuple[str, str, str, str], ...]]:
    """Draw fees and what was gained up to each period."""
    series = gain_by_period(reading.site, stints, proposals, reading.snapshot.estimates)
    periods = range(window.first, window.last + 1)
    low, high = series.low, series.high
    ends = [
        float(value)
        for name in (series.fees, series.expected, low, high)
        for value in name[window.first - 1 : window.last]
    ]
    scale = scale_over([0.0, *ends], 4)
    gains = [(window.middle(p), float(series.expected[p - 1])) for p in periods]
    picture = chart(
        "money-by-day",
        "Fees and gain up to each day",
        f"Up to {reading.day(window.last)} fees come to {wording.money(float(series.fees[window.last - 1]))}, and the "
        f"gain against keeping the first team, fees taken off, to {wording.money(gains[-1][1], sign=True)}.",
        scale,
        [wording.money(tick) for tick in scale.ticks],
        marks(reading, window),
        bands=[Band([(window.middle(p), float(low[p - 1]), float(high[p - 1])) for p in periods], "")],
        lines=[
            Line([(window.middle(p), float(series.fees[p - 1])) for p in periods], "second", steps=True),
            Line(gains, ""),
        ],
    )
    step = max(1, len(periods) // 12)
    table = tuple(
        (
            reading.day(p),
            wording.money(float(series.fees[p - 1])),
            wording.money(float(series.expected[p - 1]), sign=True),
            wording.money_span(float(low[p - 1]), float(high[p - 1])),
        )
        for p in list(reversed(periods))[::step]
    )
    return picture, table
