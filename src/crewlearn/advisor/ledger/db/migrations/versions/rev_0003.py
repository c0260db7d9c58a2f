"""What policies that learn by day have learned, written out as in the first revision."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "learned_states",
        sa.Column("site", sa.Integer, sa.ForeignKey("sites.id"), primary_key=True),
        sa.Column("period", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("workers", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
