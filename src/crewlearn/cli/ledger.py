"""`crewlearn ledger` and `crewlearn store`: check and export the record; back up, restore and upgrade the store."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live import DEFAULT_DB, DbOption, SiteArgument, opened, read_bytes, warn
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from crewlearn.advisor.impact import GroupRate

app = typer.Typer(help="The record of a site.", no_args_is_help=True)
store_app = typer.Typer(help="The store as a whole.", no_args_is_help=True)


@app.command("verify")
def verify_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """Rebuild a site from its first event, check the chain, and derive every advice again."""
    with opened(db) as store:
        from crewlearn.advisor import documents
        from crewlearn.advisor.text import counted
        from crewlearn.advisor.verify import verify

        found = verify(store, site)
    if json:
        print_json(documents.verified(found))
    else:
        rows = counted(found.rows, "row of output", "rows of output")
        print(f"{counted(found.events, 'event')}, {rows}, {counted(found.advice, 'time')} advised.")
        if found.older:
            print(f"{counted(found.older, 'time')} advised under older rules: not derived again, and no damage.")
        for fault in found.faults:
            print(f"DAMAGED: {fault}")
        print("The record is sound." if found.sound else "The record is damaged.")
    if not found.sound:
        raise typer.Exit(1)


@app.command("export")
def export_command(
    site: SiteArgument,
    what: Annotated[str, typer.Option(help="events (JSON Lines), decisions, output or workers (CSV).")] = "events",
    out: Annotated[Path | None, typer.Option(help="File; standard output if left out.")] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write out the record: events for a program, decisions for an auditor, or what was put in."""
    with opened(db) as store:
        from crewlearn.advisor import export
        from crewlearn.problem.errors import one_of

        make = export.EXPORTS[one_of("what", what, export.EXPORTS)]
        if out is not None:
            check_writable("out", out)
        text = "".join(make(store, site))
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command("impact")
def impact_command(
    site: SiteArgument,
    groups: Annotated[Path, typer.Option(help="CSV file with worker_id and group; it is read and kept nowhere.")],
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Compare how often people of different groups are proposed, approved and started, or proposed and let go."""
    with opened(db) as store:
        from crewlearn.advisor import impact
        from crewlearn.advisor.csv_in import read_groups
        from crewlearn.advisor.identities import read_people
        from crewlearn.advisor.record import read_proposals
        from crewlearn.advisor.stints import read_stints
        from crewlearn.advisor.text import counted

        given = read_groups(read_bytes(groups), what=groups.name)
        with store.reading() as connection:
            key = store.key(connection, site)
            people, proposals = read_people(connection, key), read_proposals(connection, key)
            held = {one.worker for one in read_stints(connection, key)}
        numbers = {identifier: number for number, identifier in people.ids.items() if identifier is not None}
        known = {numbers[row.worker_id]: row.group for row in given if row.worker_id in numbers}
        tables = impact.tables(known, proposals, held)
        workers = partial(counted, one="worker")
        unknown, without = len(given) - len(known), len(numbers) - len(known)
        warnings = [
            *([f"not counted, as not known here: {unknown} of the file's {workers(len(given))}"] if unknown else []),
            *([f"not counted, as without a group: {without} of the site's {workers(len(numbers))}"] if without else []),
        ]
    if json:
        rates = {
            direction: {stage: [vars(rate) for rate in found] for stage, found in stages.items()}
            for direction, stages in tables.items()
        }
        print_json({**rates, "warnings": warnings, "note": impact.NOTE})
        return
    for direction, stages in tables.items():
        for stage, found in stages.items():
            compared = "ratio of staying" if direction == impact.GOING_OUT else "ratio to the best"
            _print_rates(f"{direction.capitalize()}, {stage}:", compared, found)
    warn(warnings)
    print(impact.NOTE)


def _print_rates(title: str, compared: str, found: "list[GroupRate]") -> None:
    columns = ["group", "people", "chosen", "rate", compared, "p"]
    rows = [
        [
            one.group + (" (few)" if one.small else ""),
            str(one.people),
            str(one.chosen),
            f"{one.rate:.0%}",
            f"{one.ratio:.2f}",
            f"{one.p_value:.3f}",
        ]
        for one in found
    ]
    print_table(title, columns, rows)


@store_app.command("backup")
def backup_command(file: Annotated[Path, typer.Argument(help="The file to make.")], db: DbOption = DEFAULT_DB) -> None:
    """Copy a store on SQLite to a file as it stands at one moment; servers may go on."""
    with _whole(db) as engine:
        from crewlearn.advisor.backup import back_up

        back_up(engine, file)
        print(f"{file} holds the whole store.")


@store_app.command("restore")
def restore_command(file: Annotated[Path, typer.Argument(help="The copy.")], db: DbOption = DEFAULT_DB) -> None:
    """Put a copy, if it is whole, in the place of what a store on SQLite holds: all or nothing. Stop servers first."""
    with _whole(db) as engine:
        from crewlearn.advisor.backup import restore

        restore(engine, file)
        print("Restored. See that each site's record is whole: crewlearn ledger verify SITE")


@store_app.command("upgrade")
def upgrade_command(db: DbOption = DEFAULT_DB) -> None:
    """Bring a store to the newest schema, and its sites to what their records come to by now.

    Stop the servers and back it up first.
    """
    with _whole(db) as engine:
        from crewlearn.advisor.rebuild import upgrade
        from crewlearn.advisor.schema import SCHEMA

        print(f"Schema {upgrade(engine) or 'none'} -> {SCHEMA}.")


@contextmanager
def _whole(db: str) -> "Iterator[Engine]":
    """Give the database as it is, whichever schema it has."""
    with plain_errors():
        from crewlearn.advisor.database import make_engine

        engine = make_engine(db)
        try:
            yield engine
        finally:
            engine.dispose()
