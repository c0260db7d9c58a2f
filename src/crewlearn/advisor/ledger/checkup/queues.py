"""Checks of what waits for a server: webhooks, digests and jobs."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import sqlalchemy as sa

from crewlearn.advisor.ledger.checkup.findings import OK, WARNING, Finding, time_words
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.notices.outbox import WAITING
from crewlearn.advisor.ledger.text import counted

UNDELIVERED = 300.0
"""Seconds after which a notice that no server tried to deliver is noticed."""

UNSTARTED = 3600.0
"""Seconds after which a queued job is."""

UNSEEN = 60.0
"""Seconds without a heartbeat after which a running job's server is gone, and no other one runs either."""


def check_webhooks(connection: sa.Connection) -> Iterator[Finding]:
    """Check that webhooks and digests get through; of an address only the host is named, as the rest may be secret."""
    hooks, sent, digests = schema.webhooks, schema.deliveries, schema.digests
    waiting = sa.and_(sent.c.webhook == hooks.c.id, sent.c.status == WAITING)
    rows = connection.execute(
        sa.select(
            hooks.c.id,
            hooks.c.url,
            hooks.c.failures,
            schema.sites.c.name,
            sa.select(sa.func.count()).where(waiting).scalar_subquery().label("waiting"),
            sa.select(sa.func.min(sent.c.queued)).where(waiting).scalar_subquery().label("since"),
            sa.select(sent.c.outcome).where(waiting).order_by(sent.c.id).limit(1).scalar_subquery().label("outcome"),
        )
        .join(schema.sites, schema.sites.c.id == hooks.c.site)
        .order_by(hooks.c.id)
    ).all()
    now, wrong = now_on(connection), []
    for row in rows:
        name = f"webhook {row.id} of {row.name} ({urlsplit(row.url).hostname})"
        if row.failures:
            detail = f"{name} failed {counted(row.failures, 'time')} in a row: {row.outcome or 'no reason is known'}"
            remedy = f"see that its receiver runs, then try: crewlearn webhook test {row.name} {row.id}"
            wrong.append(Finding("webhooks", WARNING, detail, remedy))
        elif row.since is not None and now - row.since > UNDELIVERED:
            held = f"{name} has {counted(row.waiting, 'notice')} waiting for {time_words(now - row.since)}"
            wrong.append(Finding("webhooks", WARNING, held, "start a server, which delivers them: crewlearn serve"))
    faults = connection.execute(
        sa.select(schema.users.c.name, digests.c.fault).join(digests).where(digests.c.fault != "")
    ).all()
    for name, fault in faults:
        remedy = "see that the server was started with the mail server's address, and that the person's is right"
        wrong.append(Finding("webhooks", WARNING, f"the last digest of {name} failed: {fault}", remedy))
    yield from wrong or [Finding("webhooks", OK, f"{counted(len(rows), 'webhook')}, nothing is stuck")]


def check_jobs(connection: sa.Connection) -> Iterator[Finding]:
    """Check that jobs are taken up."""
    jobs, now, wrong = schema.jobs, now_on(connection), []
    queued, since = connection.execute(
        sa.select(sa.func.count(), sa.func.min(jobs.c.created)).where(jobs.c.status == "queued")
    ).one()
    if since is not None and now - since > UNSTARTED:
        detail = f"{counted(queued, 'job')} queued, the oldest for {time_words(now - since)}"
        remedy = "start a server, or another one if they are busy; plans take the extra: pip install 'crewlearn[sim]'"
        wrong.append(Finding("jobs", WARNING, detail, remedy))
    lost = connection.execute(
        sa.select(sa.func.count()).where(jobs.c.status == "running", jobs.c.heartbeat < now - UNSEEN)
    ).scalar_one()
    if lost:
        remedy = "start a server: it takes them up after ten seconds"
        wrong.append(Finding("jobs", WARNING, f"{counted(lost, 'job')} whose server is gone", remedy))
    yield from wrong or [Finding("jobs", OK, f"{counted(queued, 'job')} queued, and none is stuck")]
