"""Single sign-on, written out as in the first revision."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables, and what a session needs to end at its provider too."""
    op.add_column("sessions", sa.Column("sign_on", sa.LargeBinary))
    op.create_table(
        "sign_on_identities",
        sa.Column("issuer", sa.String(500), primary_key=True),
        sa.Column("subject", sa.String(255), primary_key=True),
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False, unique=True),
    )
    op.create_table(
        "used_sign_ons",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("expires", sa.Double, nullable=False),
    )
