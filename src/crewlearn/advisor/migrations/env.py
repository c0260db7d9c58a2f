"""How alembic runs our migrations: on the connection it is handed, with our own version table."""

from alembic import context

from crewlearn.advisor.schema import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table=VERSION_TABLE, transactional_ddl=True)
context.run_migrations()
