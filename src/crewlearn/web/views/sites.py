"""The Sites page: cards of a few sites, or a line for each of many, those first that need somebody."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from crewlearn.advisor.evidence.gain import NO_GAIN
from crewlearn.advisor.overview.sites import MoneyTotal, SiteLine, Totals
from crewlearn.language import _, localized, plural
from crewlearn.web import formats
from crewlearn.web.views.reading import site_url

CARDS = 6
"""So many sites are shown as cards; more have a line each."""

ROWS = 120
"""Lines shown at first."""


@dataclass(frozen=True)
class SiteRow:
    """A site in a line: what it needs, with styles, and what the advice has brought."""

    name: str
    url: str
    chips: tuple[tuple[str, str], ...]
    gain: str
    tone: str


@dataclass(frozen=True)
class SumsOfMoney:
    """The sums of money in one currency, as text."""

    gain: str
    tone: str
    interval: str
    earned: str
    fees: str


@dataclass(frozen=True)
class SitesTotal:
    """The sums over all sites, as text."""

    todo: str
    money: tuple[SumsOfMoney, ...]
    stations: str
    people: str
    unread: int


def site_row(line: SiteLine, now: datetime) -> SiteRow:
    """Return a site in a line."""
    summary, chips = line.summary, list[tuple[str, str]]()
    if line.fault is not None:
        chips.append((_("cannot be read"), "bad"))
    if line.proposed:
        chips.append((_("{proposed} to answer", proposed=localized(f"{line.proposed:,}")), "warn"))
    if summary is not None:
        if summary.overdue:
            chips.append((_("{overdue} overdue", overdue=localized(f"{summary.overdue:,}")), "warn"))
        elif summary.under_way:
            chips.append((plural("{n} offer", "{n} offers", summary.under_way), ""))
        missing = summary.missing_days(now) if summary.workers else 0
        if missing:
            chips.append((_("{missing} to import", missing=plural("{n} day", "{n} days", missing)), "wait"))
        if not summary.workers:
            chips.append((_("no workers yet"), "wait"))
    gain = ""
    if summary is not None and summary.gain != NO_GAIN:
        gain = formats.money(summary.gain.expected, True, summary.config.currency)
    tone = "bad" if summary is not None and summary.gain.high < 0.0 else ""
    return SiteRow(line.name, site_url(line.name), tuple(chips), "…" if line.is_unread else gain or "–", tone)


def sites_total(totals: Totals, people: int) -> SitesTotal:
    """Return the sums over all sites."""
    asked = (
        [_("{proposed} to answer", proposed=plural("{n} proposal", "{n} proposals", totals.proposed))]
        if totals.proposed
        else []
    )
    asked += (
        [_("{overdue} overdue", overdue=plural("{n} offer", "{n} offers", totals.overdue))] if totals.overdue else []
    )
    return SitesTotal(
        todo=" · ".join(asked) or _("Nothing to answer"),
        money=tuple(map(_sums, totals.money)),
        stations=_("{filled} of {team}", filled=localized(f"{totals.filled:,}"), team=localized(f"{totals.team:,}")),
        people=f"{people:,}",
        unread=totals.sites - totals.read,
    )


def _sums(total: MoneyTotal) -> SumsOfMoney:
    gain, currency = total.gain, total.currency
    interval = _("nobody replaced yet") if gain == NO_GAIN else _("fees of offers so far")
    return SumsOfMoney(
        gain=formats.money(gain.expected, True, currency) if gain != NO_GAIN else "–",
        tone="bad" if gain.high < 0.0 else "",
        interval=_("95%: {spread}", spread=formats.money_span(gain.low, gain.high, currency=currency))
        if total.replaced
        else interval,
        earned=formats.money(total.earned, currency=currency),
        fees=formats.money(total.fees, currency=currency),
    )


def matching_sites(lines: Sequence[SiteLine], wanted: str, now: datetime) -> list[SiteLine]:
    """Return the sites whose name has the letters wanted, those first that need somebody."""
    letters = wanted.strip().casefold()
    return sorted((line for line in lines if letters in line.name.casefold()), key=lambda line: line.urgency(now))
