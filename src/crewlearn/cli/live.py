"""What the commands of the live side share: the store, who acts, and how sites are shown."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crewlearn.cli.output import plain_errors

if TYPE_CHECKING:
    from crewlearn.advisor.identities import People
    from crewlearn.advisor.site import Proposal, Site
    from crewlearn.advisor.store import Store

DbOption = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="CREWLEARN_DB",
        help="Store: sqlite:///file.db or postgresql://… (crewlearn.db here if left out).",
    ),
]
ActorOption = Annotated[
    str | None,
    typer.Option("--actor", envvar="CREWLEARN_ACTOR", help="Who does this, for the record; you, if left out."),
]
SiteArgument = Annotated[str, typer.Argument(help="The site's name.")]
DEFAULT_DB = "sqlite:///crewlearn.db"


@contextmanager
def opened(db: str) -> Iterator["Store"]:
    """Open the store; bad input ends the command with one line."""
    with plain_errors():
        from crewlearn.advisor.store import open_store

        store = open_store(db)
        try:
            yield store
        finally:
            store.engine.dispose()


def who(actor: str | None) -> str:
    """Say who acts."""
    if actor:
        return actor
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user on this machine
        return "unknown"


def read_site(store: "Store", name: str) -> tuple["Site", "People"]:
    """Read a site and who is who there."""
    from crewlearn.advisor.identities import read_people

    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        return site, read_people(connection, key)


def proposal_json(site: "Site", people: "People", proposal: "Proposal") -> dict[str, Any]:
    """Describe a proposal for programs: workers by the firm's own ids, null for an empty station."""
    from crewlearn.advisor.facts import facts

    said = facts(site, proposal)
    return {
        "id": proposal.id,
        "status": proposal.status,
        "period": proposal.period,
        "date": str(site.config.calendar.date_of(proposal.period)),
        "out": people.ids.get(proposal.out),
        "in": people.ids.get(proposal.into),
        "fee": said.fee,
        "reason": proposal.reason or None,
        "why": said.to_json(),
    }
