"""Shared by the live commands: opening the store, the acting person, reading sites and files."""

import getpass
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.output import plain_errors

if TYPE_CHECKING:
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
