"""Limits on replacements and money in words."""

from crewlearn.advisor.advice.limits import Limit, holding_back, limits_of
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.wording.figures import TO_THE_CENT, Figures, to_the_cent
from crewlearn.language import _, localized, noted, plural

_PILOT = noted("the pilot leaves the empty stations to usual practice")


def limit_words(limit: Limit, figures: Figures = TO_THE_CENT) -> str:
    """Name a limit.

    >>> limit_words(Limit("most_a_week", "week", False, 2, 1.0)), limit_words(Limit("b", "month", True, 1500.0, 0.0))
    ('the limit of 2 a week', 'the budget of 1,500.00 a month')
    """
    if limit.money:
        if limit.span == "week":
            return _("the budget of {most} a week", most=figures.money(limit.most))
        return _("the budget of {most} a month", most=figures.money(limit.most))
    most = localized(f"{limit.most:,.0f}")
    return (
        _("the limit of {most} a week", most=most)
        if limit.span == "week"
        else _("the limit of {most} a month", most=most)
    )


def reached_words(site: Site) -> str:
    """Return which limits are reached, as the end of a sentence."""
    reached = [limit_words(limit) for limit in holding_back(site)]
    if not reached:
        return _(_PILOT)
    return plural("{limits} is reached", "{limits} are reached", len(reached), limits=some_of(reached))


def held_back_words(site: Site, figures: Figures | None = None) -> str:
    """Return in words how many replacements are held back, and by what; empty if none is."""
    if not site.held_back:
        return ""
    reached = [limit_words(limit, figures or to_the_cent(site.config.currency)) for limit in holding_back(site)]
    if not reached:
        return _("{held_back} more held back: {pilot}.", held_back=len(site.held_back), pilot=_(_PILOT))
    return _("{held_back} more held back by {limits}.", held_back=len(site.held_back), limits=some_of(reached))


def use_lines(site: Site, figures: Figures | None = None) -> list[str]:
    """Return a line for each budget or limit a month that is set: how much of it is used.

    The limit on replacements a week, which most sites have, is told only when it holds something back.
    """
    return [
        _use(limit, figures or to_the_cent(site.config.currency))
        for limit in limits_of(site)
        if limit.setting != "most_a_week"
    ]


def _use(limit: Limit, figures: Figures) -> str:
    if limit.money:
        fees, budget = figures.money(limit.used), figures.money(limit.most)
        if limit.span == "week":
            return _("Fees this week: {used} of {most}.", used=fees, most=budget)
        return _("Fees this month: {used} of {most}.", used=fees, most=budget)
    used, most = localized(f"{limit.used:,.0f}"), plural("{n} replacement", "{n} replacements", round(limit.most))
    if limit.span == "week":
        return _("Replacements this week: {used} of {most}.", used=used, most=most)
    return _("Replacements this month: {used} of {most}.", used=used, most=most)
