"""Where a site stands between decisions: its learning cycle, when its policy looks again, and offers that take long."""

from typing import Any

from crewlearn.advisor.explain import is_overdue
from crewlearn.advisor.identities import People
from crewlearn.advisor.site import UNDER_WAY, Site
from crewlearn.advisor.text import counted


def cycle_of(site: Site, people: People) -> dict[str, Any]:
    """Give what is waited for as plain data, workers by the firm's own ids; what a policy does not have is left out."""
    said = site.advice.get("waiting", {})
    found = {key: said[key] for key in ("cycle", "phase", "still_needed", "look_again") if key in said}
    if "least_observed" in said:
        found["least_observed"] = people.ids.get(said["least_observed"])
    found["too_dear"] = [people.ids.get(number) for number in said.get("too_dear", ())]
    found["awaited"] = [people.ids.get(one.into) for one in site.open_proposals(*UNDER_WAY)]
    return found


def cycle_line(site: Site, people: People) -> str:
    """Say in one line what the policy is at: its phase, what it waits for, or when it looks again."""
    said = site.advice.get("waiting", {})
    if "cycle" in said:
        return f"Cycle {said['cycle']}, {said['phase']}: {_of_cycle(site, people)}"
    if not said:
        return "No advice yet: import workers first."
    return _looks_again(site, said.get("look_again", 0))


def _of_cycle(site: Site, people: People) -> str:
    said = site.advice["waiting"]
    parts = []
    awaited = [people.label(one.into) for one in site.open_proposals(*UNDER_WAY)]
    if awaited:
        parts.append(f"{', '.join(awaited)} {'is' if len(awaited) == 1 else 'are'} awaited")
    if site.open_proposals("proposed"):
        parts.append("proposals wait for an answer")
    if said["still_needed"]:
        count = counted(said["still_needed"], "more time")
        parts.append(f"{people.label(said['least_observed'])} must be seen {count} before the next decision")
    return f"{'; '.join(parts) or 'it decides for the coming period'}."


def _looks_again(site: Site, period: int) -> str:
    if period <= site.period:
        return "The policy looks again every period."
    if period > site.setting().horizon:
        return "The policy looks again only when something changes: nothing pays before the planned end."
    return f"The policy looks again for {site.config.calendar.date_of(period)}, or when something changes."


def overdue_lines(site: Site, people: People) -> list[str]:
    """Say which offers are overdue, how long they take and how long is usual; nobody is failed by the clock."""
    usual = f"about {site.mean_delay:.3g} {'is' if site.mean_delay == 1 else 'are'} usual"
    return [
        f"OVERDUE: {people.label(one.into)} has been awaited for {counted(site.period - one.decided_in, 'period')}, "
        f"and {usual} (proposal {one.id}, {one.status})."
        for one in site.open_proposals(*UNDER_WAY)
        if is_overdue(site, one)
    ]
