"""Shared by the live commands: opening the store, the acting person, reading sites and files."""

import getpass
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.output import plain_errors

if TYPE_CHECKING:
    from crewlearn.advisor.advice.candidates import Candidate
    from crewlearn.advisor.advice.remarks import Term
    from crewlearn.advisor.ledger.identities import People
    from crewlearn.advisor.ledger.site import Site
    from crewlearn.advisor.ledger.store import Store

DbOption = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="CREWLEARN_DB",
        help="Store: sqlite:///file.db or postgresql://…; by default crewlearn.db in the current folder.",
    ),
]
ActorOption = Annotated[
    str | None,
    typer.Option("--actor", envvar="CREWLEARN_ACTOR", help="Who does this, for the record; by default you."),
]
SiteArgument = Annotated[str, typer.Argument(help="The site's name.")]
UntilOption = Annotated[
    str | None, typer.Option("--until", help="The day on which it ends, as 2026-12-01: it holds up to the day before.")
]
DaysOption = Annotated[int | None, typer.Option("--days", help="For so many calendar days instead.")]
DEFAULT_DB = "sqlite:///crewlearn.db"


@contextmanager
def opened(db: str, *, make: bool = False) -> Iterator["Store"]:
    """Open the store, creating it if `make`; report invalid input in one line."""
    with plain_errors():
        from crewlearn.advisor.advice.opening import open_store

        store = open_store(db, make=make)
        try:
            yield store
        finally:
            store.engine.dispose()


def who(actor: str | None) -> str:
    """Return the name of the person who acts."""
    if actor:
        return actor
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user id has no name on this machine
        return "unknown"


def read_site(store: "Store", name: str) -> tuple["Site", "People"]:
    """Read a site and the identities of its workers."""
    from crewlearn.advisor.ledger.identities import read_people

    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        return site, read_people(connection, key)


def read_advice(
    store: "Store", name: str, proposal: int | None = None
) -> tuple["Site", "People", Mapping[int, "Sequence[Candidate]"]]:
    """Read a site, its workers and who could come in instead: for the first proposals, or for one."""
    from crewlearn.advisor.advice.candidates import LISTED, candidates_of
    from crewlearn.advisor.ledger.identities import read_people
    from crewlearn.advisor.ledger.learned.stored_states import policy_state

    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, waiting = read_people(connection, key), site.open_proposals("proposed")
        listed = waiting[:LISTED] if proposal is None else [other for other in waiting if other.id == proposal]
        state = policy_state(connection, key, site) if listed else None
    return site, people, candidates_of(site, state, listed)


def read_term(until: str | None, days: int | None, for_good: bool = False) -> "Term":
    """Parse how long something holds."""
    from crewlearn.advisor.advice.remarks import Term
    from crewlearn.advisor.ledger.settings.changes import read_day

    return Term(None if until is None else read_day("until", until), days, for_good)


def check_no_term(until: str | None, days: int | None, for_good: bool = False) -> None:
    """Refuse an end that nothing was given for."""
    from crewlearn.problem.errors import InvalidInput

    if read_term(until, days, for_good).is_named:
        remedy = "belongs to --keep, --not-candidate; add one of them, or leave it out"
        raise InvalidInput("until", until or days or "for good", remedy)


def read_bytes(path: Path) -> bytes:
    """Read a file that the user named."""
    from crewlearn.problem.errors import InvalidInput

    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput("file", str(path), f"cannot be read ({error.strerror})") from error


def advice_of(store: "Store", name: str) -> str:
    """Return the current advice in one line, which commands that change facts print last."""
    from crewlearn.advisor.wording.explain import sentence

    return sentence(*read_site(store, name))


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
