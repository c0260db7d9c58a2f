"""Policies of other installed packages, by the entry point group `crewlearn.policies`.

A package names them in its `pyproject.toml`; they are then known everywhere by name, with parameters as usual:

    [project.entry-points."crewlearn.policies"]
    patient = "their_package.rules:Patient"
"""

from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from crewlearn.problem.errors import InvalidInput

GROUP = "crewlearn.policies"


@cache
def installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of other packages by name, found once a process; one name should have one.

    >>> isinstance(installed(), dict)
    True
    """
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=_package):
        same = [other for other in found.get(point.name, ()) if other.value == point.value]
        found[point.name] = (*found.get(point.name, ()), *([] if same else [point]))
    return found


def package_of(name: str) -> str:
    """Return the package, with its version, that brings an installed policy."""
    return _package(installed()[name][0])


def check_clash(name: str, built_in: Collection[str]) -> None:
    """Raise if a name stands for more than one policy: nobody could tell which of them was played."""
    points = installed().get(name, ())
    owners = [*(["crewlearn"] if name in built_in else []), *map(_package, points)]
    if len(owners) > 1:
        remedy = (
            f"is the name of several policies, of {' and of '.join(owners)}; rename the entry point in the group "
            f"{GROUP}, or uninstall one of the packages"
        )
        raise InvalidInput("policy", name, remedy)


def load_installed(name: str) -> Any:
    """Import what an installed policy's entry point names."""
    point = installed()[name][0]
    if set(name) & set(":, \t\n") or not name:
        remedy = f"is not a policy's name; rename the entry point of {_package(point)} without colons, commas or spaces"
        raise InvalidInput("policy", name, remedy)
    try:
        return point.load()
    except Exception as error:  # the package's own code may raise anything as it is imported
        remedy = f"of {_package(point)} cannot be imported from {point.value} ({error}); repair or upgrade that package"
        raise InvalidInput("policy", name, remedy) from error


def _package(point: EntryPoint) -> str:
    return "a package without a name" if point.dist is None else f"{point.dist.name} {point.dist.version}"
