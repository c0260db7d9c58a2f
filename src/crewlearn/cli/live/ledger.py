"""`crewlearn ledger` and `crewlearn store`: check and export the record; back up, restore and upgrade the store."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, SiteArgument, opened, read_bytes, warn
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from crewlearn.advisor.evidence.impact import GroupRate

app = typer.Typer(help="Check and export a site's record.", no_args_is_help=True)
store_app = typer.Typer(help="Back up, restore and upgrade the store.", no_args_is_help=True)


@app.command("verify")
def verify_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """Rebuild a site from its events, check the hash chain, and derive all advice again."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.text import counted
        from crewlearn.advisor.ledger.verify import verify
        from crewlearn.advisor.wording import documents

        result = verify(store, site)
    if json:
        print_json(documents.verified(result))
    else:
        rows = counted(result.rows, "row of output", "rows of output")
        print(f"{counted(result.events, 'event')}, {rows}, {counted(result.advice, 'time')} advised.")
        if result.older:
            print(f"{counted(result.older, 'time')} advised under older rules: not derived again, and no damage.")
        for note in result.notes:
            print(f"NOTE: {note}")
        for fault in result.faults:
            print(f"DAMAGED: {fault}")
        print("The record is sound." if result.sound else "The record is damaged.")
    if not result.sound:
        raise typer.Exit(1)


@app.command("export")
def export_command(
    site: SiteArgument,
    what: Annotated[str, typer.Option(help="events (JSON Lines), decisions, output or workers (CSV).")] = "events",
    out: Annotated[Path | None, typer.Option(help="File to write; by default standard output.")] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Export the record: events for programs, decisions for auditors, or the imported output and workers."""
    with opened(db) as store:
        from crewlearn.advisor.files import exports as export
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
    groups: Annotated[Path, typer.Option(help="CSV file with worker_id and group; its contents are not stored.")],
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Compare between groups how often people are proposed, approved and started, or proposed and let go."""
    with opened(db) as store:
        from crewlearn.advisor.evidence import impact
        from crewlearn.advisor.files.reading import read_groups
        from crewlearn.advisor.ledger.identities import read_people
        from crewlearn.advisor.ledger.queries import read_proposals
        from crewlearn.advisor.ledger.team.stints import read_stints
        from crewlearn.advisor.ledger.text import counted

        rows = read_groups(read_bytes(groups), what=groups.name)
        with store.reading() as connection:
            key = store.key(connection, site)
            people, proposals = read_people(connection, key), read_proposals(connection, key)
            held = {stint.worker for stint in read_stints(connection, key)}
        numbers = {identifier: number for number, identifier in people.ids.items() if identifier is not None}
        known = {numbers[row.worker_id]: row.group for row in rows if row.worker_id in numbers}
        tables = impact.tables(known, proposals, held)
        workers = partial(counted, one="worker")
        unknown, without = len(rows) - len(known), len(numbers) - len(known)
        warnings = [
            *([f"unknown here and not counted: {unknown} of the file's {workers(len(rows))}"] if unknown else []),
            *([f"without a group and not counted: {without} of the site's {workers(len(numbers))}"] if without else []),
        ]
    if json:
        document = {
            direction: {stage: [vars(rate) for rate in rates] for stage, rates in stages.items()}
            for direction, stages in tables.items()
        }
        print_json({**document, "warnings": warnings, "note": impact.NOTE})
        return
    for direction, stages in tables.items():
        for stage, group_rates in stages.items():
            compared = "ratio of staying" if direction == impact.GOING_OUT else "ratio to the best"
            _print_rates(f"{direction.capitalize()}, {stage}:", compared, group_rates)
    warn(warnings)
    print(impact.NOTE)


def _print_rates(title: str, compared: str, rates: "list[GroupRate]") -> None:
    columns = ["group", "people", "chosen", "rate", compared, "p"]
    rows = [
        [
            rate.group + (" (few)" if rate.small else ""),
            str(rate.people),
            str(rate.chosen),
            f"{rate.rate:.0%}",
            f"{rate.ratio:.2f}",
            f"{rate.p_value:.3f}",
        ]
        for rate in rates
    ]
    print_table(title, columns, rows)


@store_app.command("backup")
def backup_command(file: Annotated[Path, typer.Argument(help="The file to write.")], db: DbOption = DEFAULT_DB) -> None:
    """Copy a SQLite store to a file, as a consistent snapshot; servers may keep running."""
    with _whole(db) as engine:
        from crewlearn.advisor.ledger.db.backup import back_up

        back_up(engine, file)
        print(f"The store was backed up to {file}.")


@store_app.command("restore")
def restore_command(file: Annotated[Path, typer.Argument(help="The backup.")], db: DbOption = DEFAULT_DB) -> None:
    """Replace the contents of a SQLite store by a backup, after checking it: all or nothing. Stop servers first."""
    with _whole(db) as engine:
        from crewlearn.advisor.ledger.db.backup import restore

        restore(engine, file)
        print("Restored. Check each site's record: crewlearn ledger verify SITE")


@store_app.command("upgrade")
def upgrade_command(db: DbOption = DEFAULT_DB) -> None:
    """Upgrade a store to the newest schema and rebuild its sites from their records.

    Stop the servers and back up the store first.
    """
    with _whole(db) as engine:
        from crewlearn.advisor.ledger.db.schema import SCHEMA
        from crewlearn.advisor.ledger.rebuild import upgrade

        print(f"Schema {upgrade(engine) or 'none'} -> {SCHEMA}.")


@contextmanager
def _whole(db: str) -> "Iterator[Engine]":
    """Yield the database engine, without checking the schema."""
    with plain_errors():
        from crewlearn.advisor.ledger.db.engine import make_engine

        engine = make_engine(db)
        try:
            yield engine
        finally:
            engine.dispose()
