"""What the pages show of a site's past: who was where, output against what was expected, money, and every decision."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from markupsafe import Markup

from crewlearn.advisor import events, schema
from crewlearn.advisor.events import Event, Row
from crewlearn.advisor.facts import SURE
from crewlearn.advisor.fold import observation
from crewlearn.advisor.gain import GainByPeriod, gain_by_period
from crewlearn.advisor.reasons import beliefs_of, estimates_of
from crewlearn.advisor.record import read_events
from crewlearn.advisor.site import PROPOSED, STARTED, UNDER_WAY, Proposal
from crewlearn.advisor.stints import Stint
from crewlearn.advisor.store import Store
from crewlearn.policies.posterior import BETWEEN, CENTRE, CENTRE_DOUBT, NOISE
from crewlearn.problem.arrays import NOBODY
from crewlearn.web import wording
from crewlearn.web.charts import Band, Line, Mark, Span, chart, gantt, scale_over, spread_marks
from crewlearn.web.views import STATUS_WORDS, Exchange, Reading, exchange

WINDOW = 130
"""Periods shown at once."""
STATIONS = 40
"""Stations shown at once."""
DECISIONS = 20
"""Decisions on a page."""


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
class Pager:
    """Links to newer and older pages."""

    label: str
    words: str
    newer: str
    older: str
    back: str = "Newer"
    on: str = "Older"


@dataclass(frozen=True)
class Station:
    """Who held a station when, in words."""

    name: str
    stints: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Decision:
    """A proposal with all that was said about it, and by whom."""

    exchange: Exchange
    day: str
    answers: tuple[tuple[str, str], ...]


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
    """Show a site's past over a window of periods."""
    shown = [one for one in stints if first_station <= one.station < first_station + STATIONS]
    stations = sorted({one.station for one in shown})
    span = f"{reading.day(window.first)} to {reading.day(window.last)}"
    recorded = reading.site.period > 1
    output, output_rows = _output(reading, rows, window) if recorded else (None, ())
    replaced = any(one.decided_in for one in proposals)
    money, money_rows = (
        _money(reading, gain_by_period(reading.site, stints, proposals), window)
        if recorded and replaced
        else (None, ())
    )
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


def _marks(reading: Reading, window: Window) -> list[Mark]:
    calendar = reading.site.config.calendar
    words = [wording.short_day(calendar.date_of(period)) for period in range(window.first, window.last + 1)]
    many = window.last - window.first + 1
    return [Mark(mark.at * (many - 1) / many, mark.text) for mark in spread_marks(0, many - 1, words, 4)]


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
            name = people.names.get(one.worker) or people.label(one.worker)
            ends = "now" if one.until is None else reading.day(max(one.since, one.until - 1))
            title = f"Station {station + 1}: {people.label(one.worker)}, {reading.day(one.since)} to {ends}"
            kind = "first" if one in first_team else "later"
            spans.append(Span(window.at(one.since), window.at(until), name, title, kind))
        for begun, ended, title in _transitions(reading, own, proposals):
            if ended > window.first and begun <= window.last:
                spans.append(Span(window.at(begun), window.at(ended), "", title, "transition"))
        rows.append(spans)
    description = (
        f"One row a station, {span}. Grey spans are the first team, green ones came later; hatched is the time from an "
        "approval to the first day, or to the end of the offer. The same stands below as a table."
    )
    return gantt("who-when", "Who worked where", description, rows, _marks(reading, window), None)


def _transitions(reading: Reading, own: Sequence[Stint], proposals: Sequence[Proposal]) -> list[tuple[int, int, str]]:
    """Give the times from an approval to its end at one station."""
    found = []
    for one in proposals:
        if not one.decided_in or one.status in (PROPOSED, "rejected", "withdrawn"):
            continue
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
        f"{len(periods)} days; on {odd} of them the team's output lay outside what was expected of those who worked.",
        scale,
        [wording.number(tick, scale.digits) for tick in scale.ticks],
        _marks(reading, window),
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


_FEW = 10


def _money(
    reading: Reading, series: GainByPeriod, window: Window
) -> tuple[Markup, tuple[tuple[str, str, str, str], ...]]:
    """Draw fees and what was gained up to each period."""
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
        _marks(reading, window),
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


def decisions(
    reading: Reading, proposals: Sequence[Proposal], answers: Mapping[int, Sequence[tuple[Event, bool]]]
) -> list[Decision]:
    """Show proposals with their reasons as they were, and what people said to them."""
    return [
        Decision(
            exchange(reading, one),
            reading.day(one.period),
            tuple(
                (f"{event.actor} {_answer(event)}{' (taken back)' if undone else ''}", wording.moment(event.at))
                for event, undone in answers.get(one.id, ())
            ),
        )
        for one in proposals
    ]


def _answer(event: Event) -> str:
    """Say what somebody answered."""
    if event.type == events.APPROVED:
        return "approved it"
    if event.type == events.REJECTED:
        return f"rejected it: {event.payload['reason']}" if event.payload["reason"] else "rejected it"
    return f"recorded: {STATUS_WORDS[event.payload['outcome']]}"


ANSWERS = (events.APPROVED, events.REJECTED, events.OFFER)


def answers_in(connection: sa.Connection, key: int) -> dict[int, list[tuple[Event, bool]]]:
    """Read all answers by proposal, with whether they were taken back."""
    listed = list(read_events(connection, key, types=(*ANSWERS, events.UNDONE)))
    undone = {event.payload["number"] for event in listed if event.type == events.UNDONE}
    found: dict[int, list[tuple[Event, bool]]] = {}
    for event in listed:
        if event.type in ANSWERS:
            found.setdefault(event.payload["proposal"], []).append((event, event.number in undone))
    return found


def output_of(store: Store, reading: Reading, workers: Sequence[int], window: Window | None = None) -> list[Row]:
    """Read the rows that stand of some workers, in order of period; of a window, or all."""
    table, rows = schema.output_rows, []
    query = sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance).where(
        table.c.site == reading.key, table.c.replaced_in.is_(None)
    )
    if window is not None:
        query = query.where(table.c.period.between(window.first, window.last))
    with store.reading() as connection:
        for start in range(0, len(workers), 500):
            found = connection.execute(query.where(table.c.worker.in_(workers[start : start + 500])))
            rows += [Row(*row) for row in found]
    return sorted(rows)


@dataclass(frozen=True)
class Learning:
    """What is known of a worker over time."""

    picture: Markup | None
    rows: tuple[tuple[str, str, str], ...]
    absent: str


def learning(reading: Reading, number: int, rows: Sequence[Row]) -> Learning:
    """Draw a worker's output over time, and how the estimate narrowed with it.

    The band is what their own days up to then say, given what is known of the pool and of the noise of a day now.
    """
    site, units = reading.site, reading.site.config.units
    seen = [(row.period, value) for row in rows if (value := observation(site, row)) is not None]
    away = [row for row in rows if row.attendance not in ("worked", "partial")]
    absent = f"Not at work on {wording.count(len(away), 'recorded day')}." if away else ""
    if not seen:
        return Learning(None, (), absent)
    window = Window(seen[0][0], max(seen[-1][0], seen[0][0] + 1))
    path = narrowing(reading, number, [value for _, value in seen])
    people = [(mean, low, high) for mean, low, high in (_in_units(reading, mean, sd) for mean, sd in path)]
    shown = [units.people_output(value) for _, value in seen]
    scale = scale_over([*shown, *(low for _, low, _ in people), *(high for _, _, high in people)], 4)
    places = [window.middle(period) for period, _ in seen]
    mean, low, high = people[-1]
    picture = chart(
        "learning",
        "Output and estimate over time",
        f"{wording.count(len(seen), 'day')} of output. The estimate is now {reading.output(mean)}, with a 95% interval "
        f"from {reading.output(low)} to {reading.output(high)}.",
        scale,
        [wording.number(tick, scale.digits) for tick in scale.ticks],
        _marks(reading, window),
        bands=[Band([(at, low, high) for at, (_, low, high) in zip(places, people, strict=True)], "")],
        lines=[Line([(at, mean) for at, (mean, _, _) in zip(places, people, strict=True)], "")],
        dots=[(at, value, "dot") for at, value in zip(places, shown, strict=True)],
        height=260,
    )
    table = tuple(
        (
            reading.day(period),
            reading.output(value),
            f"{reading.output(mean)} ({reading.output(low)} – {reading.output(high)})",
        )
        for (period, _), value, (mean, low, high) in reversed(list(zip(seen, shown, people, strict=True)))
    )
    return Learning(picture, table, absent)


def _in_units(reading: Reading, mean: float, sd: float) -> tuple[float, float, float]:
    units = reading.site.config.units
    ends = [units.people_output(min(1.0, max(0.0, mean + side * SURE * sd))) for side in (-1.0, 1.0)]
    return units.people_output(mean), min(ends), max(ends)


def narrowing(reading: Reading, number: int, values: Sequence[float]) -> list[tuple[float, float]]:
    """Give mean and standard deviation after each of a worker's days; the last is the estimate shown elsewhere."""
    pool, worker = beliefs_of(reading.site).pool, reading.site.workers[number]
    noise, weight = float(pool[NOISE]), float(pool[NOISE] / pool[BETWEEN])
    count, total, path = float(worker.prior_n), worker.prior_n * worker.prior_mean, []
    for value in values:
        count, total = count + 1.0, total + value
        share = weight / (count + weight)
        mean = (total + weight * float(pool[CENTRE])) / (count + weight)
        path.append((mean, math.sqrt(noise / (count + weight) + float(pool[CENTRE_DOUBT]) * share * share)))
    return path
