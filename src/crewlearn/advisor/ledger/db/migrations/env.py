"""Alembic's environment: runs the migrations on the given connection, with our own version table."""

from typing import Any

from alembic import context

from crewlearn.advisor.ledger.db.schema import VERSION_TABLE


def run(config: Any) -> None:
    """Migrate within the transaction that has begun."""
    context.configure(connection=config.attributes["connection"], version_table=VERSION_TABLE, transactional_ddl=True)
    context.run_migrations()


if hasattr(context, "config"):  # nothing happens on a plain import, as when doctests are collected
    run(context.config)
