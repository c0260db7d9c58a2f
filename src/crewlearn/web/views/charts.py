"""Charts as SVG rendered on the server: scalable, with text of constant size, and complete without a script.

Lines are drawn in an inner picture that stretches with the width; text and dots are placed by percentages, so that they
do not stretch. Colours are classes of the style sheet, which knows light, dark and print.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDE = 1000
"""Units across the inner picture."""

_DIGIT, _LETTER = 7.7, 6.9
"""Pixels per character of a chart's numbers and names, in a wide font."""


@dataclass(frozen=True)
class Scale:
    """A scale from `low` to `high` with round numbers to mark."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return the position of a value, from 0 to 1, clipped to the ends."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    @property
    def digits(self) -> int:
        """Decimals that the ticks need."""
        return max(0, -math.floor(math.log10(self.ticks[1] - self.ticks[0]) + 1e-9))


def scale_over(values: Sequence[float], most: int = 5) -> Scale:
    """Return a scale that holds all values and begins and ends at a round number.

    >>> scale_over([3.0, 97.0]).ticks
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    """
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high <= low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1.0, 2.0, 5.0, 10.0) if size * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return Scale(first * step, last * step, tuple(round(n * step, digits) for n in range(first, last + 1)))


def interval_bar(scale: Scale, low: float, mean: float, high: float, kind: str = "") -> Markup:
    """Draw an interval with its mean as a bar, hidden from screen readers because the numbers are beside it."""
    start, end = 100.0 * scale.share(low), 100.0 * scale.share(high)
    return Markup(
        f'<svg class="bar {kind}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="track" d="M0 5H100"/>'
        f'<rect x="{start:.1f}" y="2" width="{max(end - start, 0.6):.1f}" height="6"/>'
        f'<path class="mean" d="M{100.0 * scale.share(mean):.1f} 0V10"/></svg>'
    )


def axis(scale: Scale, words: Sequence[str]) -> Markup:
    """Draw the axis above bars, labelled with `words`; narrow screens hide every second label."""
    many = len(words) > _ALL_FIT
    return Markup(
        '<svg class="ticks" width="100%" height="14" aria-hidden="true">'
        + "".join(
            f'<text class="tick{_spare(place) if many else ""}" x="{100.0 * scale.share(tick):.2f}%" y="11" '
            f'text-anchor="middle">{escape(text)}</text>'
            for place, (tick, text) in enumerate(zip(scale.ticks, words, strict=True))
        )
        + "</svg>"
    )


_ALL_FIT = 4
"""The most labels that fit above the bars on a narrow screen."""


def _spare(place: int) -> str:
    return " spare" if place % 2 else ""


@dataclass(frozen=True)
class ChartLine:
    """A line by position (0 to 1) and value."""

    points: Sequence[tuple[float, float]]
    kind: str
    steps: bool = False


@dataclass(frozen=True)
class Band:
    """The area between two values, by position."""

    points: Sequence[tuple[float, float, float]]
    kind: str


@dataclass(frozen=True)
class MarkedDays:
    """Days that are marked behind a chart, from one position to another, and why."""

    start: float
    end: float
    title: str


@dataclass(frozen=True)
class AxisMark:
    """A label at a position below a chart."""

    at: float
    text: str


def chart(
    name: str,
    title: str,
    description: str,
    scale: Scale,
    values: Sequence[str],
    marks: Sequence[AxisMark],
    *,
    bands: Sequence[Band] = (),
    lines: Sequence[ChartLine] = (),
    dots: Sequence[tuple[float, float, str]] = (),
    marked: Sequence[MarkedDays] = (),
    height: int = 240,
) -> Markup:
    """Draw lines with bands and dots over time, on marked days; `values` are the labels of the scale's ticks."""
    top, bottom = 8, 26
    tall = height - top - bottom
    gutter = math.ceil(_DIGIT * max(map(len, values), default=0)) + 8

    def across(value: float) -> float:
        return top + tall * (1.0 - scale.share(value))

    parts = [f'<div class="chart-row"><svg class="chart" width="{gutter}" height="{height}" aria-hidden="true">']
    for tick, words in zip(scale.ticks, values, strict=True):
        parts.append(
            f'<text class="tick" x="{gutter - 8}" y="{across(tick) + 4:.1f}" text-anchor="end">{escape(words)}</text>'
        )
    parts.append(
        f'</svg><svg class="chart" id="{name}" width="100%" height="{height}" role="img" '
        f'aria-labelledby="{name}-t {name}-d"><title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>'
    )
    parts += [
        f'<rect class="marked" x="{100.0 * days.start:.2f}%" y="{top}" width="{100.0 * (days.end - days.start):.2f}%" '
        f'height="{tall}"><title>{escape(days.title)}</title></rect>'
        for days in marked
    ]
    for tick in scale.ticks:
        zero = " zero" if tick == 0 else ""
        parts.append(f'<line class="grid{zero}" x1="0" x2="100%" y1="{across(tick):.1f}" y2="{across(tick):.1f}"/>')
    parts.append(
        f'<svg x="0" y="{top}" width="100%" height="{tall}" viewBox="0 0 {WIDE} {tall}" preserveAspectRatio="none">'
    )
    parts += [_band(band, scale, tall) for band in bands]
    parts += [_line(line, scale, tall) for line in lines]
    parts.append("</svg>")
    parts += [
        f'<circle class="{kind}" cx="{100.0 * at:.2f}%" cy="{across(value):.1f}" r="2.5"/>' for at, value, kind in dots
    ]
    parts += [_mark(mark, height - 8, place) for place, mark in enumerate(marks)]
    parts.append("</svg></div>")
    return Markup("".join(parts))


def _mark(mark: AxisMark, y: float, place: int) -> str:
    """Draw an axis label; narrow screens hide every second one."""
    anchor = "start" if mark.at < 0.06 else "end" if mark.at > 0.94 else "middle"
    return (
        f'<text class="tick{_spare(place)}" x="{100.0 * mark.at:.2f}%" y="{y:.0f}" text-anchor="{anchor}">'
        f"{escape(mark.text)}</text>"
    )


def _band(band: Band, scale: Scale, tall: float) -> str:
    if not band.points:
        return ""
    there = [f"{WIDE * at:.1f} {tall * (1.0 - scale.share(high)):.1f}" for at, _, high in band.points]
    back = [f"{WIDE * at:.1f} {tall * (1.0 - scale.share(low)):.1f}" for at, low, _ in reversed(band.points)]
    return f'<path class="band {band.kind}" d="M{"L".join([*there, *back])}Z"/>'


def _line(line: ChartLine, scale: Scale, tall: float) -> str:
    path: list[str] = []
    before = 0.0
    for at, value in line.points:
        y = tall * (1.0 - scale.share(value))
        if line.steps and path:
            path.append(f"{WIDE * at:.1f} {before:.1f}")
        path.append(f"{WIDE * at:.1f} {y:.1f}")
        before = y
    return f'<path class="line {line.kind}" d="M{"L".join(path)}"/>' if path else ""


TRANSITION = "transition"
"""The kind of span that is drawn hatched."""


@dataclass(frozen=True)
class Span:
    """A span of a Gantt chart: a stint at a station, or a transition (without text)."""

    start: float
    end: float
    text: str
    title: str
    kind: str


ROW = 30
"""Height in pixels of a Gantt chart's row; the style sheet has the same for the names beside it."""

ROOMS = (240, 320, 480, 640, 800, 960)
"""Chart widths in pixels from which a text is shown; the style sheet has a rule for each."""


def gantt(name: str, title: str, description: str, rows: Sequence[Sequence[Span]], marks: Sequence[AxisMark]) -> Markup:
    """Draw a Gantt chart with one row per station; names appear in unhatched parts where they fit, or else initials."""
    height = ROW * len(rows) + 26
    parts = [
        f'<svg class="chart gantt" id="{name}" width="100%" height="{height}" role="img" '
        f'aria-labelledby="{name}-t {name}-d"><title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>'
        f'<defs><pattern id="{name}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>'
        f'<line class="hatch" x1="0" x2="0" y1="0" y2="6"/></pattern></defs>'
    ]
    for place, mark in enumerate(marks):
        x = f"{100.0 * mark.at:.2f}%"
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{ROW * len(rows)}"/>')
        parts.append(_mark(mark, height - 8, place))
    for place, spans in enumerate(rows):
        y = ROW * place
        hatched = [(span.start, span.end) for span in spans if span.kind == TRANSITION]
        for span in sorted(spans, key=lambda span: span.kind == TRANSITION):
            look = f'fill="url(#{name}-hatch)"' if span.kind == TRANSITION else f'class="span {span.kind}"'
            parts.append(
                f'<rect {look} data-span x="{100.0 * span.start:.3f}%" y="{y + 3}" '
                f'width="{100.0 * max(span.end - span.start, 0.0):.3f}%" height="{ROW - 6}">'
                f"<title>{escape(span.title)}</title></rect>"
            )
        for span in spans:
            start, end = free_part(span.start, span.end, hatched)
            words = _words_within(span.text, end - start)
            if words:
                parts.append(
                    f'<svg x="{100.0 * start:.3f}%" y="{y + 3}" width="{100.0 * (end - start):.3f}%" '
                    f'height="{ROW - 6}">{words}</svg>'
                )
    parts.append("</svg>")
    return Markup("".join(parts))


def _words_within(text: str, share: float) -> str:
    """Return a name for a share of a chart's width, and its initials for where the name does not fit."""
    room, short = room_for(text, share), initials(text)
    little = room_for(short, share)
    words = "" if room is None else f'<text class="span-text room-{room}" x="6" y="16">{escape(text)}</text>'
    if little is not None and little != room:
        until = "" if room is None else f" until-{room}"
        words += f'<text class="span-text room-{little}{until}" x="4" y="16">{escape(short)}</text>'
    return words


def initials(text: str) -> str:
    """Return a name's initials, or the beginning of a single word.

    >>> initials("Ben Ivanova"), initials("Zoë van den Berg"), initials("w0173"), initials("")
    ('BI', 'ZB', 'w0', '')
    """
    words = text.split()
    return words[0][0] + words[-1][0] if len(words) > 1 else text[:2]


def free_part(start: float, end: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a free part of an interval: the first that is at least half as long as the longest.

    >>> free_part(0.0, 1.0, [(0.1, 0.2), (0.6, 0.7)]), free_part(0.0, 1.0, [(0.0, 1.0)])
    ((0.2, 0.6), (1.0, 1.0))
    """
    parts, at = list[tuple[float, float]](), start
    for first, last in [*sorted(taken), (end, end)]:
        parts.append((at, max(at, min(first, end))))
        at = max(at, min(last, end))
    longest = max(until - since for since, until in parts)
    return next((part for part in parts if 0.0 < longest <= 2.0 * (part[1] - part[0])), (end, end))


def room_for(text: str, share: float) -> int | None:
    """Return the chart width from which a text fits in a share of it; None if it never fits.

    >>> room_for("Ben Ivanova", 0.2), room_for("Ben Ivanova", 1.0), room_for("Ben Ivanova", 0.05), room_for("", 1.0)
    (480, 240, None, None)
    """
    if not text or share <= 0.0:
        return None
    needed = (_LETTER * len(text) + 8) / share
    return next((wide for wide in ROOMS if wide >= needed), None)


def spread_marks(first: int, last: int, words: Sequence[str], most: int = 5) -> list[AxisMark]:
    """Return labels for a few periods from `first` to `last`, evenly spread; `words` has one for each period."""
    many = last - first
    if many <= 0:
        return [AxisMark(0.0, words[0])] if words else []
    step = max(1, math.ceil(many / most))
    return [AxisMark(n / many, words[n]) for n in range(0, many + 1, step)]


def spread(scale: Scale, mean: float, narrow: tuple[float, float], wide: tuple[float, float] | None = None) -> Markup:
    """Draw a mean with its interval as a narrow bar and, if given, the range of outcomes as a wide one."""
    bars = []
    for name, ends, top, height in (("wide", wide, 5, 20), ("narrow", narrow, 11, 8)):
        if ends is not None:
            low, high = (100.0 * scale.share(end) for end in ends)
            bars.append(
                f'<rect class="{name}" x="{low:.2f}" y="{top}" width="{max(high - low, 0.3):.2f}" height="{height}"/>'
            )
    zero, middle = 100.0 * scale.share(0.0), 100.0 * scale.share(mean)
    return Markup(
        '<svg class="spread" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">'
        f'{"".join(bars)}<path class="zero" d="M{zero:.2f} 0V30"/><path class="mean" d="M{middle:.2f} 5V25"/></svg>'
    )
