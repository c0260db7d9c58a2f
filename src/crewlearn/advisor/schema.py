"""The tables of a store: the record itself, and what can be rebuilt from it."""

import sqlalchemy as sa

SCHEMA = "0001"
"""The newest revision; `migrations` brings older stores here."""

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
"""One row a site: how many events it has, the hash of the last, and the state they come to."""

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
"""The truth: only ever added to."""

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
"""The rows of output imports; a corrected one says which event replaced it. Kept by worker, as they are looked up."""

sa.Index("output_rows_by_event", output_rows.c.site, output_rows.c.event)

identities = sa.Table(
    "identities",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("worker", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("external_id", sa.String(100)),
    sa.Column("name", sa.String(200)),
    sa.UniqueConstraint("site", "external_id"),
)
"""Who the numbers of the record are; erasing a person empties their row and nothing else."""

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
"""Every proposal ever made, as it stands."""

stints = sa.Table(
    "stints",
    metadata,
    sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("station", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("since", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("worker", sa.Integer, nullable=False),
    sa.Column("until", sa.Integer),
)
"""Who held which station, from which period to before which."""
