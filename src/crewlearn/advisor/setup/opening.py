"""Setting up a site from a file: the site, its people, its output and its team in one transaction, or a rehearsal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

import sqlalchemy as sa

from crewlearn.advisor.advice.commands import check_new_name, create_site
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.intake.output_files import record, with_options
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.store import Store, open_ledger
from crewlearn.advisor.setup.first_reading import FirstReading
from crewlearn.advisor.setup.proposals import SiteProposal
from crewlearn.language import _

T = TypeVar("T")


@dataclass
class OneTransaction(Store):
    """A store whose reads and writes are all part of one transaction, which somebody else commits or rolls back."""

    connection: sa.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield the transaction's connection."""
        assert self.connection is not None
        yield self.connection

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Yield the transaction's connection."""
        assert self.connection is not None
        yield self.connection


@dataclass(frozen=True)
class NewSite:
    """A site to be set up: its name, its settings, and the file with its output so far."""

    name: str
    config: SiteConfig
    proposal: SiteProposal
    file: ImportFile


@contextmanager
def rehearsed(store: Store, new: NewSite, actor: str) -> Iterator[tuple[Store, ImportResult]]:
    """Yield a store in memory in which the site is set up, and what the import recorded there.

    Nothing is written to the store itself, and nobody waits for its lock. A name that is taken is refused.
    """
    check_new_name(new.name)
    if new.name in store.names():
        raise Conflict("site", new.name, _("exists already; choose another name"))
    with open_ledger("sqlite://", store.derive, store.clock) as scratch:
        done = _set_up(scratch, new, actor)
        yield scratch, done


def open_site(store: Store, new: NewSite, actor: str) -> ImportResult:
    """Set up a site, enrol its people, record its output and take the team from it: all of it or nothing."""
    with store.changing() as connection:
        together = OneTransaction(store.engine, store.derive, store.clock, connection=connection)
        return _set_up(together, new, actor)


def begin_site(store: Store, name: str, config: SiteConfig, actor: str, ask: Callable[[Store], T]) -> T:
    """Set up a site without its output, and ask for that, both in one transaction; return what `ask` does."""
    with store.changing() as connection:
        together = OneTransaction(store.engine, store.derive, store.clock, connection=connection)
        create_site(together, name, config, actor)
        return ask(together)


def _set_up(store: Store, new: NewSite, actor: str) -> ImportResult:
    create_site(store, new.name, new.config, actor)
    return fill_site(store, new.name, new.config, new.file, new.proposal.reading, actor)


def fill_site(
    store: Store, name: str, config: SiteConfig, file: ImportFile, first: FirstReading, actor: str
) -> ImportResult:
    """Enrol a new site's people, record its output and take the team from it, in one transaction."""
    accepted = with_options(
        file, yes=True, overtime=True, team_from_output=True, accept_unusual=True, skip_unknown=False
    )
    today: date = config.day_of(store.clock())
    return record(store, name, accepted, first.for_site(accepted, config, today), actor)
