"""The state of a site between decisions: its learning cycle, its next review, and overdue offers."""

from typing import Any

from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.site import UNDER_WAY, Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.explain import is_overdue
from crewlearn.advisor.wording.learned import judged_words


def cycle_of(site: Site, people: People) -> dict[str, Any]:
    """Return what a site waits for as plain data, workers by the firm's ids, without what the policy leaves out."""
    waiting = site.advice.waiting
    document = {key: waiting[key] for key in ("cycle", "phase", "still_needed", "look_again") if key in waiting}
    if "least_observed" in waiting:
        document["least_observed"] = people.ids.get(waiting["least_observed"])
    document["too_dear"] = [people.ids.get(number) for number in waiting.get("too_dear", ())]
    document["awaited"] = [people.ids.get(proposal.into) for proposal in site.open_proposals(*UNDER_WAY)]
    return document


def cycle_line(site: Site, people: People) -> str:
    """Return a line about the policy: its phase, what it waits for, or its next review."""
    waiting = site.advice.waiting
    if "cycle" in waiting:
        return f"Cycle {waiting['cycle']}, {waiting['phase']}: {_of_cycle(site, people)}"
    if not waiting:
        return "No advice yet: import workers first."
    judged = judged_words(site, people)
    return f"{_looks_again(site, waiting.get('look_again', 0))}{f' {judged}.' if judged else ''}"


def _of_cycle(site: Site, people: People) -> str:
    waiting = site.advice.waiting
    parts = []
    awaited = [people.label(proposal.into) for proposal in site.open_proposals(*UNDER_WAY)]
    if awaited:
        parts.append(f"{', '.join(awaited)} {'is' if len(awaited) == 1 else 'are'} awaited")
    if site.open_proposals("proposed"):
        parts.append("proposals wait for an answer")
    if waiting["still_needed"]:
        count = counted(waiting["still_needed"], "more time")
        parts.append(f"{people.label(waiting['least_observed'])} must be seen {count} before the next decision")
    return f"{'; '.join(parts) or 'it decides for the coming period'}."


def _looks_again(site: Site, period: int) -> str:
    if period <= site.period:
        return "The policy looks again every period."
    if period > site.setting().horizon:
        return "The policy looks again only when something changes: nothing pays before the planned end."
    return f"The policy looks again for {site.config.calendar.date_of(period)}, or when something changes."


def overdue_lines(site: Site, people: People) -> list[str]:
    """Return a line for each overdue offer: its time so far, and the usual time."""
    usual = f"about {site.mean_delay:.3g} {'is' if site.mean_delay == 1 else 'are'} usual"
    return [
        f"OVERDUE: {people.label(offer.into)} has been awaited for "
        f"{counted(site.period - offer.decided_in, 'period')}, and {usual} (proposal {offer.id}, {offer.status})."
        for offer in site.open_proposals(*UNDER_WAY)
        if is_overdue(site, offer)
    ]
