"""Verifying a record from its first event: the file, the hash chain, the rows, the state and every advice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.anchors.checkpoints import Anchors
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.integrity import damage_to_store
from crewlearn.advisor.ledger.identities import Identity, commitment
from crewlearn.advisor.ledger.learned.stored_states import read_learned
from crewlearn.advisor.ledger.queries import read_proposals, unusable_policy
from crewlearn.advisor.ledger.rebuild import Progress, Rebuilt, rebuilt_from
from crewlearn.advisor.ledger.site import Proposal, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team import stints


@dataclass(frozen=True)
class Verified:
    """The result of a check: what was checked, the faults, and how much advice is under older rules.

    `notes` are oddities that are no damage, such as a clock that was set back. Where the site's policy cannot be used
    here, only hashes and rows were checked, and `unchecked` says why and what to do. `checkpoints` is the number of
    signed checkpoints that it was compared with.
    """

    events: int
    rows: int
    advice: int
    older: int
    faults: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unchecked: str = ""
    checkpoints: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.faults


def verify(store: Store, name: str, progress: Progress | None = None, against: Anchors | None = None) -> Verified:
    """Rebuild a site from its first event and compare it with everything stored, and with signed checkpoints."""
    with store.reading() as connection:
        damage = damage_to_store(connection)
        if damage is not None:
            return Verified(0, 0, 0, 0, (f"the store's file is damaged ({damage}): restore the last sound backup",))
        kept = connection.execute(sa.select(schema.sites).where(schema.sites.c.name == name)).one_or_none()
        if kept is None:
            store.key(connection, name)  # raises, naming the sites there are
        assert kept is not None
        rebuilt, faults = rebuilt_from(connection, kept, store.derive, progress)
        anchored = [] if against is None else against.faults(connection, kept.id)
        if rebuilt.site is not None and rebuilt.missing is None and not faults:
            try:
                faults += _stored_faults(connection, kept, rebuilt, rebuilt.site)
            except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
                rebuilt.missing = unusable_policy(error)
                if rebuilt.missing is None:  # else it is no fault of the record
                    faults.append(f"what is stored beside the record cannot be compared with it: {error}")
    unchecked = "" if rebuilt.missing is None else f"policy {rebuilt.missing.value}: {rebuilt.missing.remedy}"
    return Verified(
        rebuilt.number,
        rebuilt.rows,
        rebuilt.advice,
        rebuilt.older,
        (*faults, *anchored),
        tuple(rebuilt.notes),
        unchecked,
        0 if against is None else len(against.checkpoints),
    )


def _stored_faults(connection: sa.Connection, kept: Any, rebuilt: Rebuilt, site: Site) -> list[str]:
    """Compare what is stored beside the record, given the site's row, with what follows from the record."""
    faults = _state_faults(site, kept.state)
    stored = {proposal.id: proposal for proposal in read_proposals(connection, kept.id)}
    faults += _proposal_faults(rebuilt.proposals, stored)
    faults += _learning_faults(connection, kept.id, rebuilt)
    if set(stints.read_stints(connection, kept.id)) != set(rebuilt.stints.values()):
        faults.append("who held which station when differs from the record")
    faults += _row_faults(connection, kept.id, rebuilt)
    return faults + _identity_faults(connection, kept.id, rebuilt)


def _state_faults(rebuilt: Site, kept: str) -> list[str]:
    plain = json.loads(json.dumps(rebuilt.to_json()))
    try:
        state = json.loads(kept)
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict) or state.keys() != plain.keys():
        return ["the stored state cannot be read"]
    return [f"the stored state differs from the record in {name}" for name in plain if plain[name] != state[name]]


def _learning_faults(connection: sa.Connection, key: int, rebuilt: Rebuilt) -> list[str]:
    """Learn again from the first day on, and compare it with the site's checkpoints and with the states stored.

    States by rules that are gone cannot be read any more, so that nothing depends on them.
    """
    assert rebuilt.site is not None
    listed, older = rebuilt.site.checkpoints, rebuilt.older_checkpoints()
    again = {learned.period: learned.digest for learned in rebuilt.learned_again()}
    stored = connection.execute(
        sa.select(schema.learned_states.c.period).where(schema.learned_states.c.site == key)
    ).scalars()
    faults = []
    for checkpoint in listed:
        if checkpoint.period in older:
            continue
        if again.get(checkpoint.period) != checkpoint.digest:
            faults.append(f"what was learned up to period {checkpoint.period} does not follow from the facts")
        if read_learned(connection, key, checkpoint) is None:
            faults.append(f"the learned state of period {checkpoint.period} is missing or damaged")
    extra = sorted(set(stored) - {checkpoint.period for checkpoint in listed})
    return faults + [f"there is a learned state of period {period}, which is not on record" for period in extra]


def _proposal_faults(rebuilt: Mapping[int, Proposal], stored: Mapping[int, Proposal]) -> list[str]:
    return [
        f"proposal {number} differs from the record"
        for number in sorted(rebuilt.keys() | stored.keys())
        if rebuilt.get(number) != stored.get(number)
    ]


def _row_faults(connection: sa.Connection, key: int, rebuilt: Rebuilt) -> list[str]:
    """Compare the number of rows and which were replaced; the rows of each event are covered by its digest."""
    table = schema.output_rows
    count = connection.execute(sa.select(sa.func.count()).select_from(table).where(table.c.site == key)).scalar_one()
    faults = [] if count == rebuilt.rows else [f"there are {count} rows, and events brought {rebuilt.rows}"]
    rows = connection.execute(
        sa.select(table.c.worker, table.c.period, table.c.event, table.c.replaced_in).where(
            table.c.site == key, table.c.replaced_in.is_not(None)
        )
    )
    replaced = {(worker, period, event): by for worker, period, event, by in rows}
    return faults if replaced == rebuilt.replaced else [*faults, "the rows that stand differ from the record"]


def _identity_faults(connection: sa.Connection, key: int, rebuilt: Rebuilt) -> list[str]:
    """Check that every worker has an identity, that exactly the erased ones are empty, and each by its commitment."""
    table = schema.identities
    columns = (table.c.worker, table.c.external_id, table.c.name, table.c.salt)
    rows = {row.worker: row for row in connection.execute(sa.select(*columns).where(table.c.site == key))}
    nobody = {worker: (row.external_id, row.name, row.salt) == (None, None, None) for worker, row in rows.items()}
    assert rebuilt.site is not None
    expected = {worker: worker in rebuilt.erased for worker in range(len(rebuilt.site.workers))}
    if nobody != expected:
        return ["the identities do not belong to the workers on record"]
    named = ((rows[worker], digest) for worker, digest in sorted(rebuilt.commitments.items()) if not nobody[worker])
    return [
        f"the id or the name of worker {row.worker} is not the one on record: it was changed, or two were exchanged"
        for row, digest in named
        if commitment(Identity(row.worker, row.external_id, row.name), row.salt or "") != digest
    ]
