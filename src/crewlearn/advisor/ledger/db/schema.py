"""The tables of a store: the record, data derived from it, and users, jobs and notices of the web server."""

import sqlalchemy as sa

SCHEMA = "0006"
"""The newest revision; `migrations` upgrade older stores to it."""

VERSION_TABLE = "crewlearn_schema"

metadata = sa.MetaData()

sites = sa.Table(
    "sites",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("head", sa.String(64), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)
"""One row per site: its number of events, the hash of the last one, and its state after it."""

events = sa.Table(
    "events",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.String(40), nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("rule_version", sa.String(20), nullable=False),
    sa.Column("type", sa.String(40), nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
"""The record itself; rows are only ever added."""

output_rows = sa.Table(
    "output_rows",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("worker", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("event", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("units", sa.Double),
    sa.Column("hours", sa.Double),
    sa.Column("attendance", sa.String(20), nullable=False),
    sa.Column("replaced_in", sa.Integer),
    sqlite_with_rowid=False,
)
"""The rows of output imports; a corrected one names the event that replaced it. Clustered by worker for lookups."""

sa.Index("output_rows_by_event", output_rows.c.site, output_rows.c.event)

identities = sa.Table(
    "identities",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("worker", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("external_id", sa.String(100)),
    sa.Column("name", sa.String(200)),
    sa.Column("salt", sa.String(32)),
    sa.UniqueConstraint("site", "external_id"),
)
"""Ids and names of the workers; erasing a person empties their row and changes nothing else.

The record has a hash of each with the salt. Who was enrolled by an earlier version has neither.
"""

proposals = sa.Table(
    "proposals",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.Integer, nullable=False),
    sa.Column("out", sa.Integer, nullable=False),
    sa.Column("into", sa.Integer, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("decided_in", sa.Integer, nullable=False),
    sa.Column("fee", sa.Double, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("leaver", sa.Integer, nullable=False),
    sa.Column("settled_in", sa.Integer, nullable=False),
    sa.Column("paid_in", sa.Integer, nullable=False),
    sa.Column("why", sa.Text, nullable=False),
)
"""Every proposal ever made, in its current state."""

stints = sa.Table(
    "stints",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("station", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("since", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("worker", sa.Integer, nullable=False),
    sa.Column("until", sa.Integer),
)
"""Who held which station, from period `since` to before `until`."""

learned_states = sa.Table(
    "learned_states",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("period", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("workers", sa.Integer, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
"""What a policy that learns by day had learned by the end of a period, from so many workers; compressed.

The site's state has the digests. States that are lost or damaged are made again from the record.
"""

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("everywhere", sa.Boolean, nullable=False),
    sa.Column("disabled", sa.Boolean, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sqlite_autoincrement=True,
)
"""Who may use the web pages and the API, at all sites or at those in `user_sites`. Times are seconds since 1970."""

user_sites = sa.Table(
    "user_sites",
    metadata,
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), primary_key=True, autoincrement=False),
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("label", sa.String(100), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("revoked", sa.Double),
    sqlite_autoincrement=True,
)
"""Tokens, stored as digests only, so that a copy of the store lets nobody sign in."""

sign_in_links = sa.Table(
    "sign_in_links",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
)
"""One-time sign-in links; a used one is deleted."""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("token", sa.Integer, sa.ForeignKey("tokens.id")),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("sign_on", sa.LargeBinary),
)
"""Browser sessions, begun with a token or (if that is null) a link or single sign-on; signing out deletes them.

`sign_on` is what signing out at the provider takes, encrypted by the session's secret, which is not stored.
"""

sign_on_identities = sa.Table(
    "sign_on_identities",
    metadata,
    sa.Column("issuer", sa.String(500), primary_key=True),
    sa.Column("subject", sa.String(255), primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False, unique=True),
)
"""Who signs in by single sign-on: the user of each subject of a provider."""

used_sign_ons = sa.Table(
    "used_sign_ons",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("expires", sa.Double, nullable=False),
)
"""Single sign-ons that have led to a session, by their state's digest: none does so twice."""

sign_in_failures = sa.Table(
    "sign_in_failures",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sqlite_autoincrement=True,
)
"""Recent failed sign-ins, by the network they came from, and recent confirmations of addresses, by user and address."""

sa.Index("sign_in_failures_by_address", sign_in_failures.c.address, sign_in_failures.c.at)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("input", sa.Text, nullable=False),
    sa.Column("file", sa.LargeBinary),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("progress", sa.Double, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("result", sa.Text),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("started", sa.Double),
    sa.Column("heartbeat", sa.Double),
    sa.Column("finished", sa.Double),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("owner", sa.String(40)),
    sqlite_autoincrement=True,
)
"""Background jobs with their owner and progress; if the heartbeat stops, the owner is gone.

A job's file holds workers' ids, so it is deleted when the job is over.
"""

sa.Index("jobs_by_site", jobs.c.site, jobs.c.id)
sa.Index("jobs_by_status", jobs.c.status, jobs.c.id)

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("url", sa.String(2000), nullable=False),
    sa.Column("kinds", sa.Text, nullable=False),
    sa.Column("secret", sa.String(100), nullable=False),
    sa.Column("old_secret", sa.String(100)),
    sa.Column("old_until", sa.Double),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("created_by", sa.String(200), nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("next_try", sa.Double, nullable=False),
    sa.Column("owner", sa.String(40)),
    sa.Column("beat", sa.Integer, nullable=False),
    sqlite_autoincrement=True,
)
"""Addresses that are told of a site's notices, with the secret that signs what is sent; times are seconds since 1970.

`failures` counts failed attempts in a row, and `next_try` is when the next one is due. The server that delivers is the
`owner`, for as long as `beat` changes.
"""

sa.Index("webhooks_by_site", webhooks.c.site, webhooks.c.id)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("webhook", sa.Integer, sa.ForeignKey("webhooks.id"), nullable=False),
    sa.Column("uid", sa.String(32), nullable=False),
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("queued", sa.Double, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("outcome", sa.String(300), nullable=False),
    sa.Column("finished", sa.Double),
    sqlite_autoincrement=True,
)
"""The outbox: notices for webhooks, written in the transaction that causes them, with the outcome of the last attempt.

Facts name workers by their number here, never by name or the firm's id.
"""

sa.Index("deliveries_by_webhook", deliveries.c.webhook, deliveries.c.status, deliveries.c.id)

notice_marks = sa.Table(
    "notice_marks",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(40), primary_key=True),
    sa.Column("subject", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Integer, nullable=False),
)
"""What was told last on which day (its proleptic ordinal), so that it is told once: an overdue offer, a trend."""

digests = sa.Table(
    "digests",
    metadata,
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), primary_key=True, autoincrement=False),
    sa.Column("email", sa.String(254), nullable=False),
    sa.Column("email_state", sa.String(20), nullable=False),
    sa.Column("chat_url", sa.String(2000), nullable=False),
    sa.Column("minute", sa.Integer, nullable=False),
    sa.Column("code", sa.String(64), nullable=False, unique=True),
    sa.Column("day", sa.Integer, nullable=False),
    sa.Column("pending", sa.String(20), nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("next_try", sa.Double, nullable=False),
    sa.Column("fault", sa.String(300), nullable=False),
)
"""Who gets a digest where, at which minute of the day.

`day` is the last one that a server took on, as an ordinal; `pending` are the channels that failed since and are tried
again. `code` is in the links of the messages, which confirm the address or stop the digest without a sign-in.
"""

digest_sites = sa.Table(
    "digest_sites",
    metadata,
    sa.Column("user", sa.Integer, sa.ForeignKey("digests.user"), primary_key=True, autoincrement=False),
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
)
"""The sites that a user's digest is about."""
