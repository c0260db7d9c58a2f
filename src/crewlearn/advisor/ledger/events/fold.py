"""The fold of events into a site's state, for commands and for rebuilding alike."""

from collections.abc import Sequence

from crewlearn.advisor.ledger.events.envelope import Event
from crewlearn.advisor.ledger.events.fact import FoldStep, Stints, no_stints
from crewlearn.advisor.ledger.events.rows import History, RecordedRow
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.request_keys import MOST_KEYS, UsedKey


def _no_rows(worker: int) -> Sequence[RecordedRow]:
    return ()


def apply(
    site: Site | None,
    event: Event,
    rows: Sequence[RecordedRow] = (),
    history: History = _no_rows,
    observed: Sequence[float | None] | None = None,
    stints: Stints = no_stints,
) -> Site:
    """Return the site after an event; the given site may be modified.

    `observed` are the rows' observations, if the caller has measured them.
    """
    if site is None:
        return event.fact.begin()
    step = FoldStep(event.number, rows, history, observed, stints, event.actor, event.at, event.batch)
    after = event.fact.apply(site, step)
    if event.request is not None:
        used = UsedKey(event.request.key, event.request.content, event.number)
        after.used_keys = [*after.used_keys, used][-MOST_KEYS:]
    return after
