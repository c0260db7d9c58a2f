"""A site's past: who held which station, output against expectation, and money."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup

from crewlearn.advisor.advice.facts import SURE
from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.events import RecordedRow, observation
from crewlearn.advisor.ledger.site import STARTED, UNDER_WAY, Proposal
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.advisor.wording.learned import effect_words
from crewlearn.language import _, plural
from crewlearn.problem.arrays import NOBODY
from crewlearn.web import formats
from crewlearn.web.views.charts import (
    TRANSITION,
    AxisMark,
    Band,
    ChartLine,
    MarkedDays,
    Span,
    chart,
    gantt,
    scale_over,
    spread_marks,
)
from crewlearn.web.views.proposals import STATUS_WORDS
from crewlearn.web.views.reading import Reading

WINDOW = 130
"""Periods shown at once, unless a range of days is chosen."""
LONGEST = 520
"""The most periods of a chosen range that are shown, the last ones."""
STATIONS = 40
"""Stations shown at once."""

_FEW = 10


@dataclass(frozen=True)
class Window:
    """The periods a page shows, by the places in time of the first and the last; 1 is the first on record."""

    first: int
    last: int

    def at(self, place: float) -> float:
        """Return where the period at a place begins, from 0 to 1."""
        return min(1.0, max(0.0, (place - self.first) / max(1, self.last - self.first + 1)))

    def middle(self, place: int) -> float:
        """Return the position of a period's middle."""
        return self.at(place + 0.5)


def window_of(reading: Reading, last: int | None, since: date | None = None, until: date | None = None) -> Window:
    """Return the periods to show: the last ones on record, those up to place `last`, or those of a range of days."""
    newest = max(1, reading.place(reading.site.period) - 1)
    end = newest if last is None else min(max(1, last), newest)
    if since is None and until is None:
        return Window(max(1, end - WINDOW + 1), max(end, 1))
    end = newest if until is None else min(max(1, last_place(reading, until)), newest)
    begin = max(1, end - LONGEST + 1) if since is None else min(max(1, first_place(reading, since)), end)
    return Window(max(begin, end - LONGEST + 1), end)


def first_place(reading: Reading, day: date) -> int:
    """Return the place in time of the first period on a day or after it."""
    calendar = reading.site.config.calendar
    return calendar.order_on(day) - calendar.first_order + 1


def last_place(reading: Reading, day: date) -> int:
    """Return the place in time of the last period on a day or before it."""
    return first_place(reading, day + timedelta(days=1)) - 1


def days_of(reading: Reading, window: Window) -> tuple[date, date]:
    """Return the first and the last day of a window."""
    calendar = reading.site.config.calendar
    return calendar.date_of(reading.period(window.first)), calendar.date_of(reading.period(window.last))


@dataclass(frozen=True)
class Station:
    """Who held a station when, as text."""

    name: str
    stints: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class History:
    """A site's past as the page shows it; the rows of a chart's table begin with their position in it."""

    gantt: Markup | None
    stations: tuple[Station, ...]
    output: Markup | None
    output_rows: tuple[tuple[float, str, str, str, str], ...]
    unusual: tuple[tuple[str, str], ...]
    money: Markup | None
    money_rows: tuple[tuple[float, str, str, str, str], ...]
    span: str
    since: date
    until: date
    unit: str


def history(
    reading: Reading,
    stints: Sequence[Stint],
    proposals: Sequence[Proposal],
    rows: Sequence[RecordedRow],
    window: Window,
    first_station: int,
) -> History:
    """Return a site's past over a window of periods; `proposals` are those that were acted on."""
    shown = [stint for stint in stints if first_station <= stint.station < first_station + STATIONS]
    stations = sorted({stint.station for stint in shown})
    span = span_of(reading, window)
    recorded = reading.place(reading.site.period) > 1
    output, output_rows = _output(reading, rows, window) if recorded else (None, ())
    money, money_rows = _money(reading, window) if recorded and proposals else (None, ())
    return History(
        gantt=_gantt(reading, shown, stations, proposals, window, span) if stations and recorded else None,
        stations=tuple(_station(reading, station, shown) for station in stations),
        output=output,
        output_rows=output_rows,
        unusual=_unusual(reading, window) if recorded else (),
        money=money,
        money_rows=money_rows,
        span=span,
        since=days_of(reading, window)[0],
        until=days_of(reading, window)[1],
        unit=_("units"),
    )


def span_of(reading: Reading, window: Window) -> str:
    """Return the days of a window as text."""
    return _(
        "{first} to {last}",
        first=reading.day(reading.period(window.first)),
        last=reading.day(reading.period(window.last)),
    )


def marks(reading: Reading, window: Window, within: float = 0.5) -> list[AxisMark]:
    """Return labels for a few days below a chart, at position `within` each day, from 0 to 1."""
    calendar = reading.site.config.calendar
    days = (calendar.date_of(reading.period(place)) for place in range(window.first, window.last + 1))
    words = [formats.short_day(day) for day in days]
    many = window.last - window.first + 1
    return [AxisMark((mark.at * (many - 1) + within) / many, mark.text) for mark in spread_marks(0, many - 1, words, 4)]


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
        min((stint for stint in stints if stint.station == station), key=lambda stint: reading.place(stint.since))
        for station in stations
    }
    for station in stations:
        at_station = [stint for stint in stints if stint.station == station]
        spans = []
        for stint in at_station:
            since = reading.place(stint.since)
            until = reading.place(reading.site.period if stint.until is None else stint.until)
            if until <= window.first or since > window.last:
                continue
            name = reading.name_of(stint.worker)
            begins, ends = _ends(reading, stint)
            title = _(
                "Station {station}: {worker}, {begins} to {ends}",
                station=station + 1,
                worker=people.label(stint.worker),
                begins=begins,
                ends=ends,
            )
            kind = "first" if stint in first_team else "later"
            spans.append(Span(window.at(since), window.at(until), name, title, kind))
        for begun, ended, title in _transitions(reading, at_station, proposals):
            if ended > window.first and begun <= window.last:
                spans.append(Span(window.at(begun), window.at(ended), "", title, TRANSITION))
        rows.append(spans)
    description = _(
        "One row a station, {span}. Grey spans are the first team, green ones came later; hatched is the"
        " time from an approval to the first day, or to the end of the offer. The table below shows the "
        "same.",
        span=span,
    )
    return gantt("who-when", _("Who worked where"), description, rows, marks(reading, window, 0.0))


def _transitions(
    reading: Reading, stints: Sequence[Stint], proposals: Sequence[Proposal]
) -> list[tuple[int, int, str]]:
    """Return the spans from approval to settlement at a station, by place in time, each with a title."""
    transitions, place = [], reading.place
    for proposal in proposals:
        ended = proposal.settled_in or reading.site.period
        leaving = proposal.leaver if proposal.leaver != NOBODY else proposal.out
        here = any(
            (
                stint.worker == leaving
                and place(stint.since) <= place(proposal.decided_in)
                and (stint.until is None or place(stint.until) >= place(proposal.decided_in))
            )
            or (
                leaving == NOBODY
                and proposal.status == STARTED
                and stint.worker == proposal.into
                and stint.since == ended
            )
            for stint in stints
        )
        if here and place(ended) > place(proposal.decided_in):
            words = (
                _("on the way")
                if proposal.status in UNDER_WAY
                else _(STATUS_WORDS.get(proposal.status, proposal.status))
            )
            transitions.append(
                (
                    place(proposal.decided_in),
                    place(ended),
                    _(
                        "{into}: approved for {decided_in}, {words} {ended}",
                        into=reading.label(proposal.into),
                        decided_in=reading.day(proposal.decided_in),
                        words=words,
                        ended=reading.day(ended),
                    ),
                )
            )
    return transitions


def _station(reading: Reading, station: int, stints: Sequence[Stint]) -> Station:
    at_station = [stint for stint in stints if stint.station == station]
    in_time = sorted(at_station, key=lambda stint: reading.place(stint.since))
    listed = tuple((reading.label(stint.worker), *_ends(reading, stint)) for stint in in_time)
    return Station(_("Station {station}", station=station + 1), listed)


def _ends(reading: Reading, stint: Stint) -> tuple[str, str]:
    """Return a stint's first and last day as text."""
    if stint.until is None:
        return reading.day(stint.since), _("now")
    last = max(reading.place(stint.since), reading.place(stint.until) - 1)
    return reading.day(stint.since), reading.day(reading.period(last))


def _output(
    reading: Reading, rows: Sequence[RecordedRow], window: Window
) -> tuple[Markup | None, tuple[tuple[float, str, str, str, str], ...]]:
    """Draw each period's output against the output expected of those who worked, by their current estimates."""
    site, units = reading.site, reading.site.config.units
    everybody, noise = estimates_of(site)
    made: dict[int, float] = {}
    hoped: dict[int, float] = {}
    doubt: dict[int, float] = {}
    size = abs(units.high - units.low)
    for row in rows:
        if row.units is None or observation(site.config.units, row) is None:
            continue
        hours = 1.0
        if units.hours_per_period is not None:
            hours = units.hours_per_period if row.hours is None else row.hours
        thought = everybody[row.worker]
        place = reading.place(row.period)
        made[place] = made.get(place, 0.0) + row.units
        hoped[place] = hoped.get(place, 0.0) + hours * units.people_output(thought["mean"])
        spread = hours * size * math.hypot(thought["sd"], noise)
        doubt[place] = doubt.get(place, 0.0) + spread * spread
    periods = sorted(place for place in made if window.first <= place <= window.last)
    if not periods:
        return None, ()
    reach = SURE * _shared([(made[p] - hoped[p]) / math.sqrt(doubt[p]) for p in periods])
    lows = {period: hoped[period] - reach * math.sqrt(doubt[period]) for period in periods}
    highs = {period: hoped[period] + reach * math.sqrt(doubt[period]) for period in periods}
    scale = scale_over([*(made[p] for p in periods), *lows.values(), *highs.values()], 4)
    dots = [(window.middle(p), made[p], "dot" if lows[p] <= made[p] <= highs[p] else "odd") for p in periods]
    odd = sum(kind == "odd" for _at, _made, kind in dots)
    picture = chart(
        "output-by-day",
        _("Output by day against what was expected"),
        _(
            "{periods}; on {odd} of them the team's output lay outside the expected range.",
            periods=plural("{n} day", "{n} days", len(periods)),
            odd=odd,
        ),
        scale,
        [formats.number(tick, scale.digits) for tick in scale.ticks],
        marks(reading, window),
        bands=[Band([(window.middle(p), lows[p], highs[p]) for p in periods], "")],
        lines=[ChartLine([(window.middle(p), hoped[p]) for p in periods], "")],
        dots=dots,
        marked=marked_days(reading, window),
    )
    table = tuple(
        (
            window.middle(p),
            reading.marked_day(reading.period(p)),
            reading.output(made[p]),
            reading.output(hoped[p]),
            f"{reading.output(lows[p])} – {reading.output(highs[p])}",
        )
        for p in reversed(periods)
    )
    return picture, table


def marked_days(reading: Reading, window: Window) -> list[MarkedDays]:
    """Return the days of a window that were unusual for everybody, as charts mark them."""
    learned = reading.snapshot.learned
    days = () if learned is None else learned.unusual_days
    return [
        MarkedDays(window.at(place), window.at(place + 1), f"{reading.marked_day(day.period)}")
        for day in days
        if window.first <= (place := reading.place(day.period)) <= window.last
    ]


def _unusual(reading: Reading, window: Window) -> tuple[tuple[str, str], ...]:
    """Return the days of a window that were unusual for everybody, the newest first, each with its effect."""
    learned = reading.snapshot.learned
    days = () if learned is None else learned.unusual_days
    shown = [day for day in days if window.first <= reading.place(day.period) <= window.last]
    return tuple((reading.day(day.period), effect_words(day)) for day in reversed(shown))


def _shared(standardised: Sequence[float]) -> float:
    """Return how much more the team's days vary than independent workers would, because of common day effects."""
    if len(standardised) < _FEW:
        return 1.0
    return max(1.0, math.sqrt(sum(deviation * deviation for deviation in standardised) / len(standardised)))


def _money(reading: Reading, window: Window) -> tuple[Markup, tuple[tuple[float, str, str, str, str], ...]]:
    """Draw cumulative fees and gain by period."""
    series = reading.snapshot.track_record.by_period
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
        _("Fees and gain up to each day"),
        _(
            "Up to {last} fees come to {amount}, and the gain over the same site without the replacements, "
            "net of fees, to {gains}.",
            last=reading.day(reading.period(window.last)),
            amount=reading.money(float(series.fees[window.last - 1])),
            gains=reading.money(gains[-1][1], sign=True),
        ),
        scale,
        [formats.money(tick) for tick in scale.ticks],
        marks(reading, window),
        bands=[Band([(window.middle(p), float(low[p - 1]), float(high[p - 1])) for p in periods], "")],
        lines=[
            ChartLine([(window.middle(p), float(series.fees[p - 1])) for p in periods], "second", steps=True),
            ChartLine(gains, ""),
        ],
        marked=marked_days(reading, window),
    )
    table = tuple(
        (
            window.middle(p),
            reading.day(reading.period(p)),
            reading.money(float(series.fees[p - 1])),
            reading.money(float(series.expected[p - 1]), sign=True),
            reading.money_span(float(low[p - 1]), float(high[p - 1])),
        )
        for p in reversed(periods)
    )
    return picture, table
