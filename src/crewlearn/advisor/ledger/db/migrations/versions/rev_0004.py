"""Webhooks, their outbox and digests, written out as in the first revision."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "webhooks",
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
    op.create_index("webhooks_by_site", "webhooks", ["site", "id"])
    op.create_table(
        "deliveries",
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
    op.create_index("deliveries_by_webhook", "deliveries", ["webhook", "status", "id"])
    op.create_table(
        "notice_marks",
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(40), primary_key=True),
        sa.Column("subject", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("day", sa.Integer, nullable=False),
    )
    op.create_table(
        "digests",
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
    op.create_table(
        "digest_sites",
        sa.Column("user", sa.Integer, sa.ForeignKey("digests.user"), primary_key=True, autoincrement=False),
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True, autoincrement=False),
    )
