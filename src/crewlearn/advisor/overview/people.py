"""People who work at several sites: one person where the firm's id is the same."""

from collections.abc import Collection

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.queries import AT_ONCE


def also_at(connection: sa.Connection, worker_id: str, site: int) -> list[tuple[str, int]]:
    """Return the other sites that know a person by the firm's id, by name, each with their number there."""
    people, sites = schema.identities, schema.sites
    query = (
        sa.select(sites.c.name, people.c.worker)
        .join(sites, sites.c.id == people.c.site)
        .where(people.c.external_id == worker_id, people.c.site != site)
        .order_by(sites.c.name)
    )
    return [(row.name, row.worker) for row in connection.execute(query)]


def people_at(connection: sa.Connection, sites: Collection[int] | None = None) -> int:
    """Return how many people there are at some sites, or all; whoever is at several counts once."""
    table = schema.identities
    if sites is None:
        return int(connection.execute(sa.select(sa.func.count(sa.distinct(table.c.external_id)))).scalar_one())
    ids: set[str] = set()
    keys = sorted(sites)
    for start in range(0, len(keys), AT_ONCE):
        query = sa.select(table.c.external_id).distinct().where(table.c.site.in_(keys[start : start + AT_ONCE]))
        ids |= {known for (known,) in connection.execute(query) if known is not None}
    return len(ids)
