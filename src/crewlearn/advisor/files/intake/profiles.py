"""Profiles: readings of files that people confirmed, kept by the site for the next file of the same shape."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.files.detection.layout import Layout, layout_with
from crewlearn.advisor.files.detection.plan import ReadingPlan
from crewlearn.advisor.files.sources.source import Source
from crewlearn.advisor.ledger.events import ImportProfileSet
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput, Unknown

MOST_PROFILES = 20
_LONGEST_NAME = 60
_FIGURES = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class FittingProfile:
    """A profile that fits a file: its name, its plan, and the table it fits."""

    name: str
    plan: ReadingPlan
    layout: Layout


def profile_name(file_name: str) -> str:
    """Return the name under which a file's reading is kept: the words of the file's name, without dates and numbers.

    >>> profile_name("labor_report_2026-11-16.xlsx"), profile_name("20261116.csv")
    ('labor report', 'output')
    """
    stem = file_name.rpartition("/")[2].partition(".")[0]
    return " ".join(_FIGURES.sub(" ", stem).split())[:_LONGEST_NAME].strip().lower() or "output"


def fitting_profile(profiles: Mapping[str, Mapping[str, Any]], sources: Sequence[Source]) -> FittingProfile | None:
    """Return the newest profile whose headers a file has, or None."""
    for name, plan in reversed(list(plans_of(profiles).items())):
        layout = layout_with(sources, plan.headers, plan.sheet, plan.shape)
        if layout is not None:
            return FittingProfile(name, plan, layout)
    return None


def plans_of(profiles: Mapping[str, Mapping[str, Any]]) -> dict[str, ReadingPlan]:
    """Return the plans of profiles by name; those of a newer version, which cannot be read, are left out."""
    plans = {}
    for name, data in profiles.items():
        try:
            plans[name] = ReadingPlan.from_json(data)
        except InvalidInput:
            continue
    return plans


def keep(work: SiteTransaction, name: str, plan: ReadingPlan) -> None:
    """Keep a plan as a profile, if it is not kept already; the oldest make room."""
    data = plan.to_json()
    profiles = work.site.profiles
    if any(_same(data, kept) for kept in profiles.values()):
        return
    for oldest in list(profiles)[: max(0, len(profiles) - MOST_PROFILES + 1)] if name not in profiles else ():
        work.add(ImportProfileSet(oldest, None))
    work.add(ImportProfileSet(name, data))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two plans read files alike; where the header was found does not matter."""
    return {**one, "header_line": 0} == {**other, "header_line": 0}


def profiles_of(store: Store, site: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the profiles of a site by name, the newest last."""
    with store.reading() as connection:
        _, state, _ = store.site(connection, site)
    return state.profiles


def remove_profile(store: Store, site: str, name: str, actor: str, *, expected: int | None = None) -> None:
    """Remove a profile."""
    with store.writing(site, actor, expected) as work:
        if name not in work.site.profiles:
            known = ", ".join(work.site.profiles) or "none"
            raise Unknown("profile", name, f"does not exist; the site has {known}")
        work.add(ImportProfileSet(name, None))
