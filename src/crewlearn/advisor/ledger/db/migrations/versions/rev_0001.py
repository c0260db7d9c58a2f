"""The first tables, written out so that later changes of the schema do not affect this revision."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "sites",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.create_table(
        "events",
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
    op.create_table(
        "output_rows",
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
    op.create_index("output_rows_by_event", "output_rows", ["site", "event"])
    op.create_table(
        "identities",
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
        sa.Column("worker", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("external_id", sa.String(100)),
        sa.Column("name", sa.String(200)),
        sa.UniqueConstraint("site", "external_id"),
    )
    op.create_table(
        "proposals",
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
        sa.Column("paid", sa.Boolean, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
