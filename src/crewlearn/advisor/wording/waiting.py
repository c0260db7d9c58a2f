"""The state of a site between decisions: its learning cycle, its next review, and overdue offers."""

from typing import Any

from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.site import UNDER_WAY, Site
from crewlearn.advisor.wording.explain import is_overdue
from crewlearn.advisor.wording.learned import judged_words
from crewlearn.language import _, localized, plural


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
        return _(
            "Cycle {cycle}, {phase}: {of_cycle}",
            cycle=waiting["cycle"],
            phase=_(waiting["phase"]),
            of_cycle=_of_cycle(site, people),
        )
    if not waiting:
        return _("No advice yet: import workers first.")
    judged = judged_words(site, people)
    return f"{_looks_again(site, waiting.get('look_again', 0))}{f' {judged}.' if judged else ''}"


def _of_cycle(site: Site, people: People) -> str:
    waiting = site.advice.waiting
    parts = []
    awaited = [people.label(proposal.into) for proposal in site.open_proposals(*UNDER_WAY)]
    if awaited:
        parts.append(plural("{names} is awaited", "{names} are awaited", len(awaited), names=", ".join(awaited)))
    if site.open_proposals("proposed"):
        parts.append(_("proposals wait for an answer"))
    if waiting["still_needed"]:
        count = plural("{n} more time", "{n} more times", waiting["still_needed"])
        parts.append(
            _(
                "{least_observed} must be seen {count} before the next decision",
                least_observed=people.label(waiting["least_observed"]),
                count=count,
            )
        )
    return f"{'; '.join(parts)}." if parts else _("it decides for the coming period.")


def _looks_again(site: Site, period: int) -> str:
    if period <= site.period:
        return _("The policy looks again every period.")
    if period > site.setting().horizon:
        return _("The policy looks again only when something changes: nothing pays before the planned end.")
    return _(
        "The policy looks again for {period}, or when something changes.", period=site.config.calendar.date_of(period)
    )


def overdue_lines(site: Site, people: People) -> list[str]:
    """Return a line for each overdue offer: its time so far, and the usual time."""
    usual = (
        _("about 1 is usual")
        if site.mean_delay == 1
        else _("about {mean_delay} are usual", mean_delay=localized(f"{site.mean_delay:.3g}"))
    )
    return [
        _(
            "OVERDUE: {into} has been awaited for {period}, and {usual} (proposal {id}, {status}).",
            into=people.label(offer.into),
            period=plural("{n} period", "{n} periods", site.period - offer.decided_in),
            usual=usual,
            id=offer.id,
            status=_(offer.status),
        )
        for offer in site.open_proposals(*UNDER_WAY)
        if is_overdue(site, offer)
    ]
