"""Workers' identities, stored apart from the record, so that erasing a person leaves the record intact."""

from dataclasses import dataclass

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class People:
    """Workers' names and the firm's ids, by number."""

    ids: dict[int, str | None]
    names: dict[int, str | None]

    def label(self, number: int) -> str:
        """Return a worker's name and id, the name alone if it is the id too, or the bare number if they were erased."""
        if number == NOBODY:
            return "an empty station"
        identifier, name = self.ids.get(number), self.names.get(number)
        if identifier is None:
            return f"worker {number} (erased)"
        beside = self.identifier_beside_name(number)
        return f"{name} ({beside})" if beside else name or identifier

    def identifier_beside_name(self, number: int) -> str:
        """Return a worker's id where it tells more than the name; empty if there is no name, or the id is the name."""
        identifier, name = self.ids.get(number) or "", self.names.get(number)
        return "" if name is None or name.casefold() == identifier.casefold() else identifier


def read_people(connection: sa.Connection, key: int) -> People:
    """Read the identities of a site's workers."""
    table = schema.identities
    rows = connection.execute(sa.select(table).where(table.c.site == key)).all()
    return People({row.worker: row.external_id for row in rows}, {row.worker: row.name for row in rows})
