"""Limits on replacements and money in words."""

from crewlearn.advisor.advice.limits import Limit, holding_back, limits_of
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.text import counted, some_of
from crewlearn.advisor.wording.figures import TO_THE_CENT, Figures, to_the_cent

_PILOT = "the pilot leaves the empty stations to usual practice"


def limit_words(limit: Limit, figures: Figures = TO_THE_CENT) -> str:
    """Name a limit.

    >>> limit_words(Limit("most_a_week", "week", False, 2, 1.0)), limit_words(Limit("b", "month", True, 1500.0, 0.0))
    ('the limit of 2 a week', 'the budget of 1,500.00 a month')
    """
    if limit.money:
        return f"the budget of {figures.money(limit.most)} a {limit.span}"
    return f"the limit of {limit.most:,.0f} a {limit.span}"


def reached_words(site: Site) -> str:
    """Return which limits are reached, as the end of a sentence."""
    reached = [limit_words(limit) for limit in holding_back(site)]
    if not reached:
        return _PILOT
    return f"{some_of(reached)} {'is' if len(reached) == 1 else 'are'} reached"


def held_back_words(site: Site, figures: Figures | None = None) -> str:
    """Return in words how many replacements are held back, and by what; empty if none is."""
    if not site.held_back:
        return ""
    reached = [limit_words(limit, figures or to_the_cent(site.config.currency)) for limit in holding_back(site)]
    if not reached:
        return f"{len(site.held_back)} more held back: {_PILOT}."
    return f"{len(site.held_back)} more held back by {some_of(reached)}."


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
        return f"Fees this {limit.span}: {figures.money(limit.used)} of {figures.money(limit.most)}."
    return f"Replacements this {limit.span}: {limit.used:,.0f} of {counted(round(limit.most), 'replacement')}."
