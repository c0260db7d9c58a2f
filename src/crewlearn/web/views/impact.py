"""A comparison between groups as its page shows it."""

from dataclasses import dataclass

from crewlearn.advisor.evidence.impact import COMING_IN, Impact
from crewlearn.advisor.evidence.tenure import LENGTHS
from crewlearn.advisor.wording.impact import LOWER, newcomers_words, ratio_words, verdicts
from crewlearn.language import _, localized, percent
from crewlearn.web import formats


@dataclass(frozen=True)
class RateRow:
    """A group at a stage: its name, people, how many were chosen, and the ratio with what it tells."""

    group: str
    people: str
    chosen: str
    share: str
    ratio: str
    interval: str
    verdict: str
    marked: bool


@dataclass(frozen=True)
class StageView:
    """A stage: what it is called, what its ratio compares, and its groups."""

    title: str
    compared: str
    rows: tuple[RateRow, ...]


@dataclass(frozen=True)
class TenureRow:
    """A group's tenure: people, periods in the team, how many were let go, the ratio of rates, and the shares kept."""

    group: str
    people: str
    days: str
    let_go: str
    ratio: str
    kept: tuple[str, ...]
    small: bool


@dataclass(frozen=True)
class ImpactView:
    """A comparison between groups: `lengths` are the periods after which `kept` says how many are still there."""

    stages: tuple[StageView, ...]
    tenures: tuple[TenureRow, ...]
    lengths: tuple[int, ...]
    period: str
    newcomers: str
    warnings: tuple[str, ...]


def impact_view(told: Impact, period: str) -> ImpactView:
    """Return a comparison between groups as its page shows it; `period` is what a period is called."""
    stages = [
        StageView(
            f"{_(direction).capitalize()}: {_(stage)}",
            _("Ratio to the best") if direction == COMING_IN else _("Ratio of staying"),
            tuple(
                RateRow(
                    group=rate.group,
                    people=formats.number(rate.people),
                    chosen=formats.number(rate.chosen),
                    share=formats.share(rate.rate),
                    ratio=f"{rate.ratio:.2f}",
                    interval=""
                    if rate.low is None
                    else _("{low} to {high}", low=localized(f"{rate.low:.2f}"), high=localized(f"{rate.high:.2f}")),
                    verdict=verdict,
                    marked=verdict == _(LOWER),
                )
                for rate, verdict in zip(rates, verdicts(rates), strict=True)
            ),
        )
        for direction, by_stage in told.stages.items()
        for stage, rates in by_stage.items()
    ]
    tenures = []
    for group in told.tenures:
        kept = {
            share.periods: _(
                "{share} ({low} to {high})",
                share=formats.share(share.share),
                low=percent(share.low),
                high=percent(share.high),
            )
            for share in group.kept
        }
        tenures.append(
            TenureRow(
                group=group.group,
                people=formats.number(group.people),
                days=formats.number(group.days),
                let_go=formats.number(group.let_go),
                ratio=ratio_words(group.ratio),
                kept=tuple(kept.get(length, _("too few")) for length in LENGTHS),
                small=group.small,
            )
        )
    warnings = tuple(f"{line[0].upper()}{line[1:]}." for line in told.warnings)
    return ImpactView(tuple(stages), tuple(tenures), LENGTHS, period, newcomers_words(told.newcomers, period), warnings)
