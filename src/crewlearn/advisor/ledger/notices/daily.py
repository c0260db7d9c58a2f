"""The daily pass over sites: what the calendar alone brings about, such as an offer that is overdue."""

import logging

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import outbox
from crewlearn.advisor.ledger.notices.kinds import OVERDUE_OFFER
from crewlearn.advisor.ledger.notices.sources import overdue_offers
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput

LOG = logging.getLogger("crewlearn.web")
_PASSED = "day"
"""The mark of the day of the last pass; its subject is 0."""


def daily_pass(store: Store) -> list[str]:
    """Look at each site once a day, whichever server does; return the sites that were looked at.

    A site's day is its own, which may begin later than midnight. Only sites with a webhook for what is found are
    looked at.
    """
    hooks, sites = schema.webhooks, schema.sites
    with store.reading() as connection:
        with_hook = sa.exists().where(hooks.c.site == sites.c.id)
        query = sa.select(sites.c.name, sites.c.id, outbox.ZONED.label("zoned")).where(with_hook)
        watched = [
            (row.name, outbox.marked(connection, row.id, _PASSED).get(0, 0), row.zoned)
            for row in connection.execute(query).all()
            if OVERDUE_OFFER in outbox.subscribed(connection, row.id)
        ]
    today = store.clock().date()
    due = [name for name, passed, zoned in watched if outbox.may_be_new_day(passed, today, zoned=zoned)]
    return [name for name in due if _pass(store, name)]


def _pass(store: Store, name: str) -> bool:
    """Look at a site, unless somebody did on this day."""
    try:
        with store.changing() as connection:
            now = store.snapshot(connection, name, lock=True)
            key, today = now.version.key, now.site.config.day_of(store.clock())
            if outbox.marked(connection, key, _PASSED).get(0, 0) >= today.toordinal():
                return False
            outbox.put(connection, key, overdue_offers(connection, key, now.site, today))
            outbox.mark(connection, key, _PASSED, [0], today.toordinal())
        return True
    except InvalidInput as error:  # a site that cannot be read, or a busy store: the next round tries again
        LOG.warning("%s: no daily pass: %s", name, error)
        return False
