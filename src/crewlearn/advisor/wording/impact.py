"""Comparisons between groups in words: ratios with their doubt, and how newcomers fare."""

from collections.abc import Sequence
from typing import Any

from crewlearn.advisor.evidence.impact import DOUBT, NOTE, SMALL, TENURE_NOTE, GroupRate, Impact
from crewlearn.advisor.evidence.intervals import Ratio
from crewlearn.advisor.evidence.tenure import NEW, Newcomers
from crewlearn.language import _, localized, noted, plural

LOWER = noted("lower, beyond chance")
"""What is said of a group whose whole interval lies below the best group."""


def ratio_words(ratio: Ratio) -> str:
    """Return a ratio of rates with its interval.

    >>> ratio_words(Ratio(1.27, 0.4, 3.917)), ratio_words(Ratio(None, 0.31, None)), ratio_words(Ratio(None, 0.0, None))
    ('1.27 (0.40 to 3.92)', 'at least 0.31', '–')
    """
    if ratio.value is None or ratio.high is None:
        return _("at least {low}", low=localized(f"{ratio.low:.2f}")) if ratio.low else "–"
    return _(
        "{ratio} ({low} to {high})",
        ratio=localized(f"{ratio.value:.2f}"),
        low=localized(f"{ratio.low:.2f}"),
        high=localized(f"{ratio.high:.2f}"),
    )


def verdicts(rates: Sequence[GroupRate]) -> list[str]:
    """Return what each group's ratio tells, of the rates of one stage."""
    best_is_small = any(rate.low is None and rate.small for rate in rates)
    nothing = all(rate.low is None for rate in rates)
    return [_verdict(rate, rate.small or best_is_small, nothing) for rate in rates]


def _verdict(rate: GroupRate, few: bool, nothing: bool) -> str:
    if nothing:
        return _("nothing to compare")
    if rate.low is None or rate.high is None:
        return _("too small to tell") if few else _("compared with")
    if few:
        return _("too small to tell")
    return _(LOWER) if rate.high < 1.0 else _("could be chance")


def _spans(many: int, period: str) -> str:
    """Count periods, by what they are called."""
    if period == "working day":
        return plural("{n} working day", "{n} working days", many)
    return plural("{n} period", "{n} periods", many)


def newcomers_words(told: Newcomers, period: str = "period") -> str:
    """Return how newcomers fare against the others, in sentences; `period` is what a period is called."""
    if not told.days or not told.later_days:
        return _("Newcomers: nothing to compare yet; there must be time in the team both as a newcomer and later.")
    if not told.let_go + told.later_let_go:
        return _("Newcomers: advice has let nobody go yet.")
    ratio = told.ratio
    verdict = _("Newcomers are not shown to be let go sooner or later than others.")
    if ratio.low > 1.0:
        verdict = _("Newcomers are let go sooner than others.")
    elif ratio.high is not None and ratio.high < 1.0:
        verdict = _("Newcomers are let go less often than others.")
    return _(
        "{verdict} In their first {first} {let_go} were let go, in {days} in the team. "
        "Later, and among those there from the start, it was {later_let_go}, in {later_days}. Ratio of the"
        " rates with its 95% interval: {ratio}.",
        verdict=verdict,
        first=_spans(NEW, period),
        let_go=told.let_go,
        days=_spans(told.days, period),
        later_let_go=told.later_let_go,
        later_days=_spans(told.later_days, period),
        ratio=ratio_words(ratio),
    )


def impact_document(told: Impact) -> dict[str, Any]:
    """Describe a comparison between groups as plain data."""
    return {
        **{
            direction: {stage: [vars(rate) for rate in rates] for stage, rates in stages.items()}
            for direction, stages in told.stages.items()
        },
        "warnings": list(told.warnings),
        "note": _(NOTE),
        "tenure": [
            {**vars(group), "ratio": vars(group.ratio), "kept": [vars(kept) for kept in group.kept]}
            for group in told.tenures
        ],
        "newcomers": {**vars(told.newcomers), "ratio": vars(told.newcomers.ratio)},
        "notes": [_(DOUBT, small=SMALL), _(TENURE_NOTE)],
    }
