"""Comparisons between groups in words: ratios with their doubt, and how newcomers fare."""

from collections.abc import Sequence
from typing import Any

from crewlearn.advisor.evidence.impact import DOUBT, NOTE, TENURE_NOTE, GroupRate, Impact
from crewlearn.advisor.evidence.intervals import Ratio
from crewlearn.advisor.evidence.tenure import NEW, Newcomers
from crewlearn.advisor.ledger.text import counted

LOWER = "lower, beyond chance"
"""What is said of a group whose whole interval lies below the best group."""


def ratio_words(ratio: Ratio) -> str:
    """Return a ratio of rates with its interval.

    >>> ratio_words(Ratio(1.27, 0.4, 3.917)), ratio_words(Ratio(None, 0.31, None)), ratio_words(Ratio(None, 0.0, None))
    ('1.27 (0.40 to 3.92)', 'at least 0.31', '–')
    """
    if ratio.value is None or ratio.high is None:
        return f"at least {ratio.low:.2f}" if ratio.low else "–"
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def verdicts(rates: Sequence[GroupRate]) -> list[str]:
    """Return what each group's ratio tells, of the rates of one stage."""
    best_is_small = any(rate.low is None and rate.small for rate in rates)
    nothing = all(rate.low is None for rate in rates)
    return [_verdict(rate, rate.small or best_is_small, nothing) for rate in rates]


def _verdict(rate: GroupRate, few: bool, nothing: bool) -> str:
    if nothing:
        return "nothing to compare"
    if rate.low is None or rate.high is None:
        return "too small to tell" if few else "compared with"
    if few:
        return "too small to tell"
    return LOWER if rate.high < 1.0 else "could be chance"


def newcomers_words(told: Newcomers, period: str = "period") -> str:
    """Return how newcomers fare against the others, in sentences; `period` is what a period is called."""
    if not told.days or not told.later_days:
        return "Newcomers: nothing to compare yet; there must be time in the team both as a newcomer and later."
    if not told.let_go + told.later_let_go:
        return "Newcomers: advice has let nobody go yet."
    ratio = told.ratio
    verdict = "Newcomers are not shown to be let go sooner or later than others."
    if ratio.low > 1.0:
        verdict = "Newcomers are let go sooner than others."
    elif ratio.high is not None and ratio.high < 1.0:
        verdict = "Newcomers are let go less often than others."
    return (
        f"{verdict} In their first {NEW} {period}s {told.let_go} were let go, in {counted(told.days, period)} in the "
        f"team. Later, and among those there from the start, it was {told.later_let_go}, in "
        f"{counted(told.later_days, period)}. Ratio of the rates with its 95% interval: {ratio_words(ratio)}."
    )


def impact_document(told: Impact) -> dict[str, Any]:
    """Describe a comparison between groups as plain data."""
    return {
        **{
            direction: {stage: [vars(rate) for rate in rates] for stage, rates in stages.items()}
            for direction, stages in told.stages.items()
        },
        "warnings": list(told.warnings),
        "note": NOTE,
        "tenure": [
            {**vars(group), "ratio": vars(group.ratio), "kept": [vars(kept) for kept in group.kept]}
            for group in told.tenures
        ],
        "newcomers": {**vars(told.newcomers), "ratio": vars(told.newcomers.ratio)},
        "notes": [DOUBT, TENURE_NOTE],
    }
