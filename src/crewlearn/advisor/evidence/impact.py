"""Selection rates and tenure by group, for adverse-impact reviews; the groups are given by the caller, never stored."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from crewlearn.advisor.evidence.intervals import ratio_of_shares
from crewlearn.advisor.evidence.tenure import GroupTenure, Newcomers, newcomers, stays_of, tenures
from crewlearn.advisor.files.reading import read_groups
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.site import PROPOSED, REJECTED, STARTED, WITHDRAWN, Proposal
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.advisor.ledger.text import counted
from crewlearn.language import noted
from crewlearn.problem.arrays import NOBODY

SMALL = 30
"""Groups of fewer people are marked as small: their rates say little."""


@dataclass(frozen=True)
class GroupRate:
    """A group's selection rate, its ratio to the best group's, and an exact test.

    `rate` is the share chosen. `ratio` compares the favourable outcome, which is staying where chosen means let go; it
    lies between `low` and `high` with 95% confidence, which are None for the best group and where nobody was chosen.
    `p_value` is Fisher's two-sided test of this group against all others.
    """

    group: str
    people: int
    chosen: int
    rate: float
    ratio: float
    p_value: float
    small: bool
    low: float | None = None
    high: float | None = None


def rates(groups: Mapping[int, str], chosen: set[int], *, favourable: bool) -> list[GroupRate]:
    """Return each group's selection rate; if being chosen is unfavourable, ratios compare not being chosen."""
    sizes: dict[str, int] = {}
    hits: dict[str, int] = {}
    for number, group in groups.items():
        sizes[group] = sizes.get(group, 0) + 1
        hits[group] = hits.get(group, 0) + (number in chosen)
    total, all_hits = sum(sizes.values()), sum(hits.values())
    fared_well = {group: hits[group] if favourable else sizes[group] - hits[group] for group in sizes}
    good = {group: fared_well[group] / sizes[group] for group in sizes}
    best_group = max(sorted(good), key=lambda group: (good[group], sizes[group]), default="")
    best = good.get(best_group, 0.0)

    def ends(group: str) -> tuple[float, float] | tuple[None, None]:
        if group == best_group or best == 0.0:
            return None, None
        against = ratio_of_shares(fared_well[group], sizes[group], fared_well[best_group], sizes[best_group])
        return against.low, against.high or 0.0  # somebody of the best group fared well, so there is a bound

    return [
        GroupRate(
            group=group,
            people=sizes[group],
            chosen=hits[group],
            rate=hits[group] / sizes[group],
            ratio=good[group] / best if best > 0.0 else 1.0,
            p_value=fisher(hits[group], sizes[group], all_hits - hits[group], total - sizes[group]),
            small=sizes[group] < SMALL,
            low=ends(group)[0],
            high=ends(group)[1],
        )
        for group in sorted(sizes)
    ]


COMING_IN, GOING_OUT = noted("coming in"), noted("going out")

NOTE = noted(
    "Coming in, ratios compare how often people are chosen; going out, how often they stay. Ratios of small groups say "
    "little. This is arithmetic, not legal clearance."
)

DOUBT = noted(
    "Groups of fewer than {small} people are too small to tell anything by. One interval in twenty misses by chance, "
    "so among many comparisons some seem to differ. A difference does not say why, and a wide interval does not say "
    "that there is none."
)
"""To be filled with `SMALL`."""

TENURE_NOTE = noted(
    "Only who was let go on advice counts as let go. Who left, or was replaced outside advice, counts until then. Time "
    "in the team before the record began is unknown and not counted; whoever was in the team then is no newcomer."
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
            noted("proposed"): {proposal.into for proposal in standing},
            noted("approved"): {proposal.into for proposal in approved},
            noted("started"): {proposal.into for proposal in started},
        },
        GOING_OUT: {
            "proposed": {proposal.out for proposal in standing} - {NOBODY},
            noted("let go"): {proposal.leaver for proposal in started} - {NOBODY},
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


@dataclass(frozen=True)
class Impact:
    """A comparison between groups: the rates of every stage, tenure, and how newcomers fare, at the whole site.

    `warnings` say who is not counted.
    """

    stages: Mapping[str, Mapping[str, Sequence[GroupRate]]]
    tenures: Sequence[GroupTenure]
    newcomers: Newcomers
    warnings: Sequence[str]


def read_impact(store: Store, name: str, data: bytes, what: str = "groups.csv") -> Impact:
    """Compare between the groups of a file, which has a worker_id and a group in each row; nothing of it is kept."""
    rows = read_groups(data, what=what)
    with store.reading() as connection:
        key = store.key(connection, name)
        site = store.snapshot(connection, name).site
        people, proposals = read_people(connection, key), read_proposals(connection, key)
        stints = read_stints(connection, key)
    numbers = {identifier: number for number, identifier in people.ids.items() if identifier is not None}
    groups = {numbers[row.worker_id]: row.group for row in rows if row.worker_id in numbers}
    stays = stays_of(site, stints, proposals)
    unknown, without = len(rows) - len(groups), len(numbers) - len(groups)
    warnings = []
    if unknown:
        warnings.append(f"unknown here and not counted: {unknown} of the file's {counted(len(rows), 'worker')}")
    if without:
        warnings.append(f"without a group and not counted: {without} of the site's {counted(len(numbers), 'worker')}")
    return Impact(
        tables(groups, proposals, {stint.worker for stint in stints}),
        tenures(groups, stays, SMALL),
        newcomers(stays),
        warnings,
    )


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
