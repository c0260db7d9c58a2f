"""Payloads of other types than were written, with a chain made to fit: `verify` names faults and never crashes."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import FIRST_HASH, hash_of
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from support.stores import ME, busy_site, day, site_with_proposals

EVENTS = schema.events
HOSTILE: list[Any] = [
    *(None, True, -1, 0, 2**31, 10**30, 1e308, -0.5, "", "x", "9" * 30, "2026-02-30", "9999-12-31"),
    *([], {}, [[]], [None], {"a": 1}, [1, 2, 3]),
]


def learning_site(store: Store) -> None:
    """Create a site whose policy learns day by day."""
    site_with_proposals(store, policy="support.learners:Recent")
    for period in (1, 2, 3):
        output_imports.import_output(store, "site", day(period), b"", ME)


def _places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data, by its path; of long lists, the first ones."""
    yield path
    inside = plain.items() if isinstance(plain, dict) else enumerate(plain[:5]) if isinstance(plain, list) else ()
    for name, value in inside:
        yield from _places(value, (*path, name))


def _spoilt(payload: Any, chance: random.Random) -> Any:
    """Return a payload with one value replaced by another, removed or added."""
    spoilt = copy.deepcopy(payload)
    *path, last = chance.choice([path for path in _places(spoilt) if path])
    where = spoilt
    for name in path:
        where = where[name]
    if isinstance(where, dict) and chance.random() < 0.2:
        del where[last]
    elif isinstance(where, dict) and chance.random() < 0.1:
        where["more"] = chance.choice(HOSTILE)
    else:
        where[last] = chance.choice(HOSTILE)
    return spoilt


def _write(store: Store, events: list[dict[str, Any]]) -> None:
    """Replace the record by these events, with hashes that fit."""
    head = FIRST_HASH
    for event in events:
        event["previous"] = head
        number, at, actor, rules, kind = (event[name] for name in ("number", "at", "actor", "rule_version", "type"))
        head = event["hash"] = hash_of(number, at, actor, rules, kind, json.loads(event["payload"]), head)
    with store.changing() as connection:
        connection.execute(EVENTS.delete())
        connection.execute(EVENTS.insert(), events)
        connection.execute(schema.sites.update().values(head=head))


@pytest.mark.parametrize("site", [busy_site, learning_site])
def test_payloads_of_any_type_are_faults(prepared: Any, site: Callable[[Store], None]) -> None:
    chance, sound = random.Random(21), 0
    with prepared("sqlite", site).open() as store:
        with store.reading() as connection:
            rows = connection.execute(sa.select(EVENTS).order_by(EVENTS.c.number)).mappings().all()
        for _ in range(60):
            events = [dict(row) for row in rows]
            event = chance.choice(events)
            event["payload"] = json.dumps(_spoilt(json.loads(event["payload"]), chance))
            if chance.random() < 0.1:
                event["at"] = chance.choice(["", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
            _write(store, events)
            checked = verify(store, "site")
            sound += checked.sound
        assert sound < 30, "the digest of a file, and few other values, may be anything"
        _write(store, [dict(row) for row in rows])
        assert verify(store, "site").sound
