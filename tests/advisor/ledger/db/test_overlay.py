"""An overlaid table takes the same changes as the table itself, which stays as it was."""

from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import snapshot_begun
from crewlearn.advisor.ledger.db.overlay import overlay
from crewlearn.advisor.ledger.store import Store
from support.stores import busy_site

STINTS, ROWS = schema.stints, schema.output_rows


def changed(connection: sa.Connection, key: int) -> list[Any]:
    """Insert, update and delete, also what was changed before; return the tables after each change."""
    one = {"site": key, "station": 9, "since": 1, "worker": 3}
    row = {"site": key, "worker": 0, "event": 99, "units": 1.5, "attendance": "worked"}
    first = (STINTS.c.site == key, STINTS.c.station == 0)
    tables = []
    for change in (
        STINTS.insert().values(one),
        STINTS.update().where(STINTS.c.site == key).values(until=7),
        STINTS.update().where(*first).values(worker=5, until=STINTS.c.since + 2),
        STINTS.delete().where(*first),
        STINTS.insert().values({**one, "station": 0}),
        STINTS.delete().where(STINTS.c.station.in_([0, 9])),
    ):
        connection.execute(change)
        tables.append(connection.execute(sa.select(STINTS).order_by(*STINTS.primary_key)).all())
    connection.execute(ROWS.insert(), [{**row, "period": period} for period in range(50, 60)])
    connection.execute(
        ROWS.update().where(ROWS.c.site == key, ROWS.c.period == sa.bindparam("day")).values(replaced_in=7),
        [{"day": 1}, {"day": 52}],
    )
    standing = sa.select(ROWS).where(ROWS.c.worker.in_([0, 1]), ROWS.c.replaced_in.is_(None))
    tables.append(connection.execute(standing.order_by(ROWS.c.worker, ROWS.c.period).limit(8)).all())
    tables.append(connection.execute(sa.select(sa.func.count(ROWS.c.replaced_in), sa.func.sum(ROWS.c.units))).all())
    return tables


def test_changes_read_the_same_and_end_with_the_transaction(store: Store) -> None:
    busy_site(store)
    with store.reading() as connection:
        key = store.key(connection, "site")
        before = [connection.execute(sa.select(table)).all() for table in (STINTS, ROWS)]
    with store.changing() as connection:
        expected = changed(connection, key)
        connection.get_transaction().rollback()  # type: ignore[union-attr]  # a transaction has begun
    for _ in range(2):  # the second time on a connection that has overlaid them before
        with snapshot_begun(store.engine, readonly=False) as connection:
            overlay(connection, [STINTS, ROWS])
            assert changed(connection, key) == expected
            connection.get_transaction().rollback()  # type: ignore[union-attr]  # as above
    with store.reading() as connection:
        assert [connection.execute(sa.select(table)).all() for table in (STINTS, ROWS)] == before
