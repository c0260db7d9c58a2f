"""Selection rates by group, for adverse-impact reviews; the groups are given by the caller and never stored."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from crewlearn.advisor.ledger.site import PROPOSED, REJECTED, STARTED, WITHDRAWN, Proposal
from crewlearn.problem.arrays import NOBODY

SMALL = 30
"""Groups of fewer people are marked as small: their rates say little."""


@dataclass(frozen=True)
class GroupRate:
    """A group's selection rate, its ratio to the best group's, and an exact test.

    `rate` is the share chosen. `ratio` compares the favourable outcome, which is staying where chosen means let go.
    `p_value` is Fisher's two-sided test of this group against all others.
    """

    group: str
    people: int
    chosen: int
    rate: float
    ratio: float
    p_value: float
    small: bool


def rates(groups: Mapping[int, str], chosen: set[int], *, favourable: bool) -> list[GroupRate]:
    """Return each group's selection rate; if being chosen is unfavourable, ratios compare not being chosen."""
    sizes: dict[str, int] = {}
    hits: dict[str, int] = {}
    for number, group in groups.items():
        sizes[group] = sizes.get(group, 0) + 1
        hits[group] = hits.get(group, 0) + (number in chosen)
    total, all_hits = sum(sizes.values()), sum(hits.values())
    good = {group: (hits[group] if favourable else sizes[group] - hits[group]) / sizes[group] for group in sizes}
    best = max(good.values(), default=0.0)
    return [
        GroupRate(
            group=group,
            people=sizes[group],
            chosen=hits[group],
            rate=hits[group] / sizes[group],
            ratio=good[group] / best if best > 0.0 else 1.0,
            p_value=fisher(hits[group], sizes[group], all_hits - hits[group], total - sizes[group]),
            small=sizes[group] < SMALL,
        )
        for group in sorted(sizes)
    ]


COMING_IN, GOING_OUT = "coming in", "going out"

NOTE = (
    "Coming in, ratios compare how often people are chosen; going out, how often they stay. Ratios of small groups say "
    "little. This is arithmetic, not legal clearance."
)


def stages(proposals: Sequence[Proposal]) -> dict[str, dict[str, set[int]]]:
    """Return the workers who ever reached each stage, by direction; each is counted once.

    Withdrawn proposals do not count. Who makes room is read from the proposal as it stands, so it includes the choices
    that people made themselves.
    """
    standing = [proposal for proposal in proposals if proposal.status != WITHDRAWN]
    approved = [proposal for proposal in standing if proposal.status not in (PROPOSED, REJECTED)]
    started = [proposal for proposal in standing if proposal.status == STARTED]
    return {
        COMING_IN: {
            "proposed": {proposal.into for proposal in standing},
            "approved": {proposal.into for proposal in approved},
            "started": {proposal.into for proposal in started},
        },
        GOING_OUT: {
            "proposed": {proposal.out for proposal in standing} - {NOBODY},
            "let go": {proposal.leaver for proposal in started} - {NOBODY},
        },
    }


def tables(
    groups: Mapping[int, str], proposals: Sequence[Proposal], held: Set[int]
) -> dict[str, dict[str, list[GroupRate]]]:
    """Return the rates of every stage, by direction and stage; coming in is favourable, going out is not.

    Rates of coming in are over everybody, rates of going out over those who ever held a station.
    """
    in_team = {number: group for number, group in groups.items() if number in held}
    return {
        direction: {
            stage: rates(groups, who, favourable=True)
            if direction == COMING_IN
            else rates(in_team, who, favourable=False)
            for stage, who in reached.items()
        }
        for direction, reached in stages(proposals).items()
    }


def fisher(hits: int, size: int, other_hits: int, other_size: int) -> float:
    """Return the two-sided p-value of Fisher's exact test of hits among two groups.

    >>> round(fisher(1, 10, 9, 10), 6)
    0.001093
    """
    total, drawn = size + other_size, hits + other_hits
    if total == 0:
        return 1.0
    low, high = max(0, drawn - other_size), min(size, drawn)
    logs = {k: _log_choose(size, k) + _log_choose(other_size, drawn - k) for k in range(low, high + 1)}
    whole = _log_choose(total, drawn)
    seen = logs[hits]
    return min(1.0, math.fsum(math.exp(log - whole) for log in logs.values() if log <= seen + 1e-9))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
