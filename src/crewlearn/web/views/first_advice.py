"""The first advice of a site that is not set up yet."""

from dataclasses import dataclass

from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.wording import explain
from crewlearn.language import _, localized, plural
from crewlearn.web.views.proposals import Exchange, exchange
from crewlearn.web.views.reading import Reading

SHOWN = 5
"""Proposals shown of the first advice."""


@dataclass(frozen=True)
class FirstAdvice:
    """The first advice: in a sentence, with the first proposals, and what would be recorded."""

    day: str
    saying: str
    exchanges: tuple[Exchange, ...]
    more: int
    recorded: str


def first_advice(reading: Reading, imported: ImportResult) -> FirstAdvice:
    """Return the first advice of a rehearsed site."""
    site = reading.site
    proposed = site.open_proposals(PROPOSED)
    said = (
        _("{proposed} proposed", proposed=plural("{n} replacement", "{n} replacements", len(proposed)))
        if proposed
        else _("Wait: {waits}", waits=explain.waits(site, reading.people, reading.written))
    )
    filled = site.config.team - site.roster.empty
    return FirstAdvice(
        day=reading.day(site.period),
        saying=said,
        exchanges=tuple(exchange(reading, proposal) for proposal in proposed[:SHOWN]),
        more=max(0, len(proposed) - SHOWN),
        recorded=_(
            "To be recorded: {recorded} of output, {enrolled}, {filled} of them in the team now.",
            recorded=plural("{n} row", "{n} rows", imported.recorded),
            enrolled=plural("{n} person", "{n} people", imported.enrolled),
            filled=localized(f"{filled:,}"),
        ),
    )
