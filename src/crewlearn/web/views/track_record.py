"""A site's track record: each replacement's result so far, and predicted against realised gain as a picture."""

from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.evidence.track_record import Outcome
from crewlearn.advisor.wording.doubt import chance, rounded
from crewlearn.advisor.wording.names import place
from crewlearn.advisor.wording.past.track_record import track_record_lines
from crewlearn.language import _, plural
from crewlearn.web import formats
from crewlearn.web.views.charts import AxisMark, ChartLine, Scale, chart, scale_over
from crewlearn.web.views.reading import Reading

SHOWN = 50
"""Replacements listed, the newest first."""


@dataclass(frozen=True)
class ResultRow:
    """A replacement and its result, as text; `at` is its position in the picture, None if it is not there."""

    at: float | None
    words: str
    days: str
    gain: str
    span: str
    predicted: str
    verdict: str
    paid: str
    broke_even: str


@dataclass(frozen=True)
class TrackRecordView:
    """A track record as the page shows it."""

    lines: tuple[str, ...]
    picture: Markup | None
    rows: tuple[ResultRow, ...]


def track_record_view(reading: Reading) -> TrackRecordView | None:
    """Return a site's track record; None if nobody was replaced."""
    record = reading.snapshot.track_record
    if not record.outcomes:
        return None
    newest = sorted(record.outcomes, key=lambda outcome: -outcome.proposal.id)[:SHOWN]
    scale = _scale(newest)
    picture = None if scale is None else _picture(newest, scale)
    return TrackRecordView(
        tuple(track_record_lines(record, reading.figures.signed)),
        picture,
        tuple(_row(reading, outcome, scale) for outcome in newest),
    )


def _row(reading: Reading, outcome: Outcome, scale: Scale | None) -> ResultRow:
    proposal, gain, predicted = outcome.proposal, outcome.gain, outcome.predicted
    expected, low, high = rounded(gain.low, gain.high, gain.expected, gain.low, gain.high)
    return ResultRow(
        at=None if predicted is None or scale is None else scale.share(predicted.expected),
        words=_("{into} for {place}", into=reading.label(proposal.into), place=place(reading.people, proposal)),
        days=plural("{n} day", "{n} days", outcome.days),
        gain=reading.money(expected, sign=True),
        span=reading.money_span(low, high),
        predicted="–" if predicted is None else reading.money_span(*_ends(predicted)),
        verdict=_(outcome.verdict) if outcome.verdict else "–",
        paid=chance(outcome.paid),
        broke_even=_broke_even(reading, outcome),
    )


def _ends(gain: Gain) -> tuple[float, ...]:
    return rounded(gain.low, gain.high, gain.low, gain.high)


def _broke_even(reading: Reading, outcome: Outcome) -> str:
    """Return when a replacement broke even, or is expected to."""
    if outcome.even_in is None:
        return _("not in sight")
    when = reading.day(outcome.even_in)
    return (
        when if reading.place(outcome.even_in) < reading.place(reading.site.period) else _("expected {when}", when=when)
    )


def _scale(outcomes: list[Outcome]) -> Scale | None:
    """Return the scale of both gains; None if nothing was predicted."""
    pairs = [(each.predicted.expected, each.gain.expected) for each in outcomes if each.predicted is not None]
    return scale_over([0.0, *(value for pair in pairs for value in pair)], 4) if pairs else None


def _picture(outcomes: list[Outcome], scale: Scale) -> Markup:
    """Draw realised against predicted gain, a dot for each replacement, with the line on which both are the same."""
    pairs = [
        (outcome.predicted.expected, outcome.gain.expected, outcome.verdict)
        for outcome in outcomes
        if outcome.predicted is not None
    ]
    within = sum(verdict == "as predicted" for *_gains, verdict in pairs)
    return chart(
        "predicted-realised",
        _("Predicted and realised gain"),
        _(
            "{pairs}: the gain so far, upwards, against the gain predicted for as many days, to the right. "
            "{within} came out as predicted. The table below shows the same.",
            pairs=plural("{n} replacement", "{n} replacements", len(pairs)),
            within=within,
        ),
        scale,
        [formats.money(tick) for tick in scale.ticks],
        [AxisMark(scale.share(tick), formats.money(tick)) for tick in scale.ticks],
        lines=[ChartLine([(0.0, scale.low), (1.0, scale.high)], "second")],
        dots=[
            (scale.share(predicted), realised, "dot" if verdict == "as predicted" else "odd")
            for predicted, realised, verdict in pairs
        ],
    )
