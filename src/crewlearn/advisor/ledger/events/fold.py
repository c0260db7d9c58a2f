"""How events change a site: facts become state here, for commands and for rebuilding alike."""

from collections.abc import Sequence

from crewlearn.advisor.ledger.events.envelope import Event
from crewlearn.advisor.ledger.events.fact import FoldStep
from crewlearn.advisor.ledger.events.rows import History, RecordedRow
from crewlearn.advisor.ledger.site import Site


def _no_rows(worker: int) -> Sequence[RecordedRow]:
    return ()


def apply(
    site: Site | None,
    event: Event,
    rows: Sequence[RecordedRow] = (),
    history: History = _no_rows,
    observed: Sequence[float | None] | None = None,
) -> Site:
    """Return the site after an event; the given site may be changed on the way.

    `observed` has the observation of each row, where the caller has measured them already.
    """
    if site is None:
        return event.fact.begin()
    return event.fact.apply(site, FoldStep(event.number, rows, history, observed))
