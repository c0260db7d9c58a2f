"""The table of learned states: written with each advice, checked on reading, and made again if one is lost."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events.rows import RecordedRow
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint
from crewlearn.advisor.ledger.learned.learning import (
    LearnedState,
    LearnedText,
    RecordedPeriod,
    digest_of,
    learn,
    make_reports,
)
from crewlearn.advisor.ledger.queries import ended_proposals, rows_after
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.policies.contract import Policy

_FAST = 1
"""The level of compression: states are mostly floating-point numbers, which higher levels hardly make smaller."""


class StoredDays:
    """The recorded days of a site in a store, and its table of learned states, as seen by a transaction."""

    def __init__(self, connection: sa.Connection, key: int) -> None:
        self.connection, self.key = connection, key
        self.kept: dict[tuple[int, str], LearnedText] = {}

    def reports(self, site: Site, after: Checkpoint | None) -> Iterator[RecordedPeriod]:
        """Yield every recorded period before the coming one and after a checkpoint, oldest first."""
        event, period = (0, 0) if after is None else (after.event, after.period)
        rows: Iterable[RecordedRow] = rows_after(self.connection, self.key, event)
        ended = ended_proposals(self.connection, self.key, max(1, period))
        proposals = {proposal.id: proposal for proposal in ended}
        proposals.update(site.proposals)  # those of this transaction are not written yet
        stints = read_stints(self.connection, self.key)
        return make_reports(site, rows, proposals, stints, after)

    def load(self, checkpoint: Checkpoint, policy: Policy[Any]) -> LearnedState | None:
        """Return what was learned at a checkpoint; None if it is missing or damaged."""
        kept = self.kept.get((checkpoint.period, checkpoint.digest))
        text = kept or read_learned(self.connection, self.key, checkpoint)
        try:
            return None if text is None else text.parsed(policy)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):  # another version of the policy wrote it
            return None

    def keep(self, learned: LearnedText, state: LearnedState) -> None:
        """Keep what was learned until `write`."""
        self.kept[learned.period, learned.digest] = learned

    def write(self, site: Site) -> None:
        """Make the table hold the site's checkpoints; if the newest is lost, learn again from the record."""
        table, listed = schema.learned_states, {(point.period, point.digest) for point in site.checkpoints}
        mine = table.c.site == self.key
        rows = self.connection.execute(sa.select(table.c.period, table.c.digest).where(mine))
        stored = {(row.period, row.digest) for row in rows}
        for period, _ in sorted(stored - listed):
            self.connection.execute(table.delete().where(mine, table.c.period == period))
        if site.checkpoints and site.checkpoints[-1][::2] not in stored | self.kept.keys():
            learn(site, site.policy, self)
        for place in sorted((listed - stored) & self.kept.keys()):
            self.connection.execute(table.insert().values(site=self.key, **_row(self.kept[place])))


def read_learned(connection: sa.Connection, key: int, checkpoint: Checkpoint) -> LearnedText | None:
    """Return a learned state as stored; None if it is missing, damaged or another one."""
    table = schema.learned_states
    row = connection.execute(
        sa.select(table).where(table.c.site == key, table.c.period == checkpoint.period)
    ).one_or_none()
    if row is None:
        return None
    try:
        text = zlib.decompress(row.state)
    except zlib.error:
        return None
    if digest_of(row.period, row.workers, text) != checkpoint.digest:
        return None
    return LearnedText(row.period, row.workers, text, checkpoint.digest)


def write_anew(connection: sa.Connection, key: int, learned: Iterable[LearnedText]) -> None:
    """Replace the learned states of a site."""
    table = schema.learned_states
    connection.execute(table.delete().where(table.c.site == key))
    for text in learned:
        connection.execute(table.insert().values(site=key, **_row(text)))


def _row(learned: LearnedText) -> dict[str, Any]:
    packed = zlib.compress(learned.text, _FAST)
    return {"period": learned.period, "workers": learned.workers, "digest": learned.digest, "state": packed}


def policy_state(connection: sa.Connection, key: int, site: Site) -> Any:
    """Return the state of the site's policy after the last advice, or None if it was never asked.

    Of a policy that learns by day it is what the policy has learned so far.
    """
    if site.memory is None:
        return None
    policy = site.policy
    if not policy.learns_by_day:
        return policy.state_from_json(site.memory if site.after is None else site.after)
    learned, _ = learn(site, policy, StoredDays(connection, key))
    return learned.state
