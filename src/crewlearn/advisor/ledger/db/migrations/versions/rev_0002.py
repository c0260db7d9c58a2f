"""Users, tokens, sessions and jobs, written out as in the first revision."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the tables."""
    op.drop_table("proposals")  # rebuilt from the events, with more columns
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
        sa.Column("settled_in", sa.Integer, nullable=False),
        sa.Column("paid_in", sa.Integer, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
    op.create_table(
        "stints",
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
        sa.Column("station", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("since", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("until", sa.Integer),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("everywhere", sa.Boolean, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user_sites",
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), primary_key=True, autoincrement=False),
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("revoked", sa.Double),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sign_in_links",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("token", sa.Integer, sa.ForeignKey("tokens.id")),
        sa.Column("expires", sa.Double, nullable=False),
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("sign_in_failures_by_address", "sign_in_failures", ["address", "at"])
    op.create_table(
        "jobs",
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
    op.create_index("jobs_by_site", "jobs", ["site", "id"])
    op.create_index("jobs_by_status", "jobs", ["status", "id"])
