"""Overlaid tables: a transaction keeps its changes beside the real tables, in temporary ones, and sees both as one.

It only reads the real tables, so no writer waits for it, and its changes are gone when it ends or is killed.
"""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

_SEARCH_TEMPORARY_FIRST = "SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true)"

_statements: dict[tuple[str, str], tuple[str, ...]] = {}
"""What overlays a table on a database; composing it takes longer than running it."""


def overlay(connection: sa.Connection, tables: Sequence[sa.Table]) -> None:
    """Overlay tables until the transaction is rolled back: their names mean views that take changes.

    On both databases a temporary name hides a lasting one. PostgreSQL must search them in another order too, or it
    would go on to use statements that were prepared for the real tables.
    """
    dialect = connection.dialect
    for table in tables:
        if (table.name, dialect.name) not in _statements:
            made = str(CreateTable(_changed(table)).compile(dialect=dialect))
            _statements[table.name, dialect.name] = (made, *_view(table, dialect))
        for statement in _statements[table.name, dialect.name]:
            connection.exec_driver_sql(statement)
    if dialect.name == "postgresql":
        connection.exec_driver_sql(_SEARCH_TEMPORARY_FIRST)


def _changed(table: sa.Table) -> sa.Table:
    """Return the temporary table for the changed rows of a table; those that were deleted are `gone`."""
    columns = [
        sa.Column(name, column.type, primary_key=column.primary_key, autoincrement=False, nullable=column.nullable)
        for name, column in table.columns.items()
    ]
    gone = sa.Column("gone", sa.Integer, nullable=False)
    name = f"changed_{table.name}"
    return sa.Table(name, sa.MetaData(), *columns, gone, prefixes=["TEMPORARY"], sqlite_with_rowid=False)


def _view(table: sa.Table, dialect: sa.Dialect) -> Iterator[str]:
    """Yield the statements that make the view of a table and what it does with changes; rows keep their keys."""
    on_sqlite, quote = dialect.name == "sqlite", dialect.identifier_preparer.quote
    real = f"main.{table.name}" if on_sqlite else table.name
    columns = [quote(column.name) for column in table.columns]
    keys = [quote(column.name) for column in table.primary_key]
    changed, listed = f"changed_{table.name}", ", ".join(columns)
    same = " AND ".join(f"{changed}.{key} = kept.{key}" for key in keys)
    yield (
        f"CREATE TEMPORARY VIEW {table.name} AS"
        f" SELECT {listed} FROM {real} AS kept WHERE NOT EXISTS (SELECT 1 FROM {changed} WHERE {same})"
        f" UNION ALL SELECT {listed} FROM {changed} WHERE gone = 0"
    )
    replaced = ", ".join(f"{column} = excluded.{column}" for column in (*columns, "gone"))
    for change, row, gone in (("INSERT", "NEW", 0), ("UPDATE", "NEW", 0), ("DELETE", "OLD", 1)):
        name, values = f"{changed}_{change.lower()}", ", ".join(f"{row}.{column}" for column in columns)
        if on_sqlite:
            insert = f"INSERT OR REPLACE INTO {changed} VALUES ({values}, {gone})"
            yield f"CREATE TEMPORARY TRIGGER {name} INSTEAD OF {change} ON {table.name} BEGIN {insert}; END"
        else:
            insert = f"INSERT INTO {changed} VALUES ({values}, {gone})"
            upsert = f"{insert} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {replaced}"
            yield f"CREATE RULE {name} AS ON {change} TO pg_temp.{table.name} DO INSTEAD {upsert}"
