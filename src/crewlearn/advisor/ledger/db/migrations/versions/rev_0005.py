"""Salts of the commitments to who is who; who is enrolled already has none."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column."""
    op.add_column("identities", sa.Column("salt", sa.String(32)))
