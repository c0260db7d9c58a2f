"""Families of instances beyond the paper's benchmark, by name and by group."""

from collections.abc import Sequence

from crewlearn.problem.errors import unknown_name
from crewlearn.study.families.crowd import CROWD
from crewlearn.study.families.family import Family
from crewlearn.study.families.floors import FLOORS
from crewlearn.study.families.stationary import STATIONARY

__all__ = ["DEFAULT_GROUP", "FAMILIES", "GROUPS", "Family", "families_of"]

FAMILIES: dict[str, Family] = {family.name: family for family in (*STATIONARY, *FLOORS, CROWD)}
"""The families by name."""

DEFAULT_GROUP = "stationary"

GROUPS = {
    DEFAULT_GROUP: tuple(family.name for family in STATIONARY),
    "floors": tuple(family.name for family in FLOORS),
    "all": tuple(FAMILIES),
}
"""Words that stand for several families."""


def families_of(names: Sequence[str]) -> list[Family]:
    """Return the named families, a group's in its place and each once; without names, the default group's.

    >>> [family.name for family in families_of(["crowd", "stationary"])][:3]
    ['crowd', 'paper', 'bernoulli']
    """
    for name in names:
        if name not in FAMILIES and name not in GROUPS:
            raise unknown_name("family", name, [*FAMILIES, *GROUPS])
    chosen = [member for name in names or (DEFAULT_GROUP,) for member in GROUPS.get(name, (name,))]
    return [FAMILIES[name] for name in dict.fromkeys(chosen)]
