"""What a policy has learned about people and days, in words."""

from collections.abc import Callable
from datetime import date

from crewlearn.advisor.advice.readings import PeopleTrend, PersonLearned, RampUp, SiteLearned, UnusualDay, has_readings
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.settings.config import DEFAULT_POLICY, STATIONARY_POLICY
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.wording.doubt import chance
from crewlearn.language import _, localized, percent

RECENT = 10
"""Periods for which an unusual day is mentioned in the status."""


def ramp_words(ramp_up: RampUp | None) -> str:
    """Return how far somebody is in ramp-up; empty if it is over, if there is none, or before their first day.

    >>> ramp_words(RampUp(4, 10))
    'day 4 of about 10 of ramp-up'
    """
    if ramp_up is None or ramp_up.day == 0:
        return ""
    return _("day {day} of about {days} of ramp-up", day=ramp_up.day, days=ramp_up.days)


def trend_words(trend: PeopleTrend | None, written: Callable[[date], str] = str) -> str:
    """Return a trend with the chance that it is real; empty if there is none. `written` formats dates."""
    if trend is None:
        return ""
    amount = (
        _("by {difference}", difference=localized(f"{abs(trend.difference):,.2f}"))
        if trend.change is None
        else percent(abs(trend.change))
    )
    since, real = written(trend.date), chance(trend.chance)
    if trend.difference < 0.0:
        return _("down {amount} since {date} ({chance} likely real)", amount=amount, date=since, chance=real)
    return _("up {amount} since {date} ({chance} likely real)", amount=amount, date=since, chance=real)


def person_notes(person: PersonLearned | None, written: Callable[[date], str] = str) -> tuple[str, ...]:
    """Return what to note about somebody: how far they are in ramp-up, and a trend."""
    if person is None:
        return ()
    return tuple(note for note in (ramp_words(person.ramp_up), trend_words(person.trend, written)) if note)


def effect_words(day: UnusualDay) -> str:
    """Return how an unusual day differed from an ordinary one; empty where output has no shares."""
    if day.effect is None:
        return ""
    share = percent(abs(day.effect))
    if day.effect < 0.0:
        return _("{share} below an ordinary day", share=share)
    return _("{share} above an ordinary day", share=share)


def recent_days(site: Site, learned: SiteLearned) -> list[UnusualDay]:
    """Return the unusual days among the last periods."""
    between = site.config.calendar.between
    return [day for day in learned.unusual_days if between(day.period, site.period) <= RECENT]


def unusual_lines(site: Site, learned: SiteLearned, written: Callable[[date], str] = str) -> list[str]:
    """Return a line for each unusual day among the last periods."""
    lines = []
    for day in recent_days(site, learned):
        effect = effect_words(day)
        lines.append(
            _(
                "{date} was unusual for everybody{effect}.",
                date=written(day.date),
                effect=f": {effect}" if effect else "",
            )
        )
    return lines


def ramp_line(learned: SiteLearned) -> str:
    """Return what newcomers lack at first and for how long; empty if there is no ramp-up."""
    if learned.ramp_days is None:
        return ""
    days = _("about {ramp_days} days", ramp_days=learned.ramp_days)
    if learned.ramp is None:
        return _("Newcomers reach their level in {days}.", days=days)
    share = percent(abs(learned.ramp.mean))
    if learned.ramp.mean < 0.0:
        return _("Newcomers start about {share} below their level and reach it in {days}.", share=share, days=days)
    return _("Newcomers start about {share} above their level and reach it in {days}.", share=share, days=days)


def judged_words(site: Site, people: People, named: Callable[[int], str] | None = None) -> str:
    """Return when the newcomer who takes longest is judged; empty if the policy waits for none.

    A policy without readings waits for other reasons, which `waits` tells. `named` names a worker.
    """
    waiting = site.advice.waiting
    needed = waiting.get("still_needed")
    if not needed or not has_readings(site.policy):
        return ""
    worker = waiting["least_observed"]
    days = int(site.estimates.counts[worker])
    name = (named or people.label)(worker)
    so_far = _("is on day {days}", days=days) if days else _("has not worked yet")
    return _("{name} {so_far}; judged after about day {days}", name=name, so_far=so_far, days=days + needed)


def newer_policy(site: Site) -> str | None:
    """Return the policy that a site might like better than its own, which takes people and days as stationary."""
    return DEFAULT_POLICY if site.config.policy.partition(":")[0] == STATIONARY_POLICY else None


def newer_policy_line(site: str) -> str:
    """Return how to try the newer policy, for the command line."""
    return _(
        "New: the policy {default_policy} learns how newcomers ramp up, who changes and which days were "
        "unusual. To change over: crewlearn site set {site} policy={default_policy}",
        default_policy=DEFAULT_POLICY,
        site=site,
    )
