"""Figures of the store, read when they are collected: they are the same whichever process is asked."""

import os
import platform
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from crewlearn import __version__
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.store import Store

if TYPE_CHECKING:
    from prometheus_client.core import Metric

ADVISED = "advised"


class StoreFigures:
    """A collector of the store's size, its sites, how old their advice is, and what waits in its queues."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self) -> Iterator["Metric"]:
        """Yield the figures."""
        from prometheus_client.core import InfoMetricFamily

        versions = {"version": __version__, "schema": schema.SCHEMA, "python": platform.python_version()}
        yield InfoMetricFamily("crewlearn_build", "What is running.", versions)
        with self.store.reading() as connection:
            yield from list(_families(connection))


def _families(connection: sa.Connection) -> Iterator["Metric"]:
    from prometheus_client.core import GaugeMetricFamily

    now = now_on(connection)
    sites, events = connection.execute(
        sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(schema.sites.c.events), 0))
    ).one()
    yield GaugeMetricFamily("crewlearn_store_bytes", "Size of the store.", value=size_of(connection))
    yield GaugeMetricFamily("crewlearn_sites", "Sites.", value=sites)
    yield GaugeMetricFamily("crewlearn_events", "Events on record.", value=events)
    ages = GaugeMetricFamily("crewlearn_advice_age_seconds", "Seconds since a site was last advised.", labels=("site",))
    for site, at in connection.execute(_LAST_ADVISED):
        if at is not None:
            ages.add_metric((site,), max(0.0, now - datetime.fromisoformat(at).timestamp()))
    yield ages
    jobs = GaugeMetricFamily("crewlearn_jobs", "Jobs by kind and status.", labels=("kind", "status"))
    oldest = GaugeMetricFamily(
        "crewlearn_oldest_queued_job_seconds", "Seconds that the oldest queued job has waited.", labels=("kind",)
    )
    for kind, status, number, since in connection.execute(_JOBS):
        jobs.add_metric((kind, status), number)
        if status == "queued":
            oldest.add_metric((kind,), max(0.0, now - since))
    yield jobs
    yield oldest
    number, since = connection.execute(_DELIVERIES).one()
    yield GaugeMetricFamily("crewlearn_deliveries_waiting", "Notices that wait for a webhook.", value=number)
    waited = 0.0 if since is None else max(0.0, now - since)
    yield GaugeMetricFamily(
        "crewlearn_oldest_delivery_seconds", "Seconds that the oldest of them has waited.", value=waited
    )


def size_of(connection: sa.Connection) -> int:
    """Return the bytes of a store: those of its SQLite files, or of its PostgreSQL database."""
    if connection.dialect.name == "postgresql":
        return int(connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one())
    name = str(connection.engine.url.database or "")
    return sum(os.stat(file).st_size for file in (name, f"{name}-wal") if name and os.path.isfile(file))


_advised = schema.events.alias()
_LAST_ADVISED = sa.select(
    schema.sites.c.name,
    sa.select(_advised.c.at)
    .where(_advised.c.site == schema.sites.c.id, _advised.c.type == ADVISED)
    .order_by(_advised.c.number.desc())
    .limit(1)
    .scalar_subquery(),
)
_JOBS = (
    sa.select(schema.jobs.c.kind, schema.jobs.c.status, sa.func.count(), sa.func.min(schema.jobs.c.created))
    .where(schema.jobs.c.status.in_(("queued", "running", "failed")))
    .group_by(schema.jobs.c.kind, schema.jobs.c.status)
)
_DELIVERIES = sa.select(sa.func.count(), sa.func.min(schema.deliveries.c.queued)).where(
    schema.deliveries.c.status == "waiting"
)
