"""`crewlearn ledger` and `crewlearn store`: check the record, export it, upgrade the store."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from crewlearn.cli.live import DEFAULT_DB, DbOption, SiteArgument, opened
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table

app = typer.Typer(help="The record of a site.", no_args_is_help=True)
store_app = typer.Typer(help="The store as a whole.", no_args_is_help=True)


@app.command("verify")
def verify_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """Rebuild a site from its first event, check the chain, and derive every advice again."""
    with opened(db) as store:
        from crewlearn.advisor.verify import verify

        found = verify(store, site)
    if json:
        print_json({**vars(found), "faults": list(found.faults), "sound": found.sound})
    else:
        print(f"{found.events:,} events, {found.rows:,} rows of output, {found.advice:,} times advised.")
        if found.older:
            print(f"{found.older:,} times advised under older rules: not derived again, and no damage.")
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

        makers = {
            "events": lambda: "".join(f"{line}\n" for line in export.events_as_json_lines(store, site)),
            "decisions": lambda: export.decisions_as_csv(store, site),
            "output": lambda: export.output_as_csv(store, site),
            "workers": lambda: export.workers_as_csv(store, site),
        }
        if out is not None:
            check_writable("out", out)
        text = makers[one_of("what", what, makers)]()
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
    """Compare how often people of different groups are proposed to come in or to be let go."""
    with opened(db) as store:
        import csv

        from crewlearn.advisor import impact
        from crewlearn.advisor.identities import read_people
        from crewlearn.advisor.store import read_proposals
        from crewlearn.problem.errors import InvalidInput

        with store.reading() as connection:
            key, _, _ = store.site(connection, site)
            people, proposals = read_people(connection, key), read_proposals(connection, key)
        numbers = {identifier: number for number, identifier in people.ids.items() if identifier is not None}
        try:
            rows = list(csv.DictReader(groups.read_text(encoding="utf-8-sig").splitlines()))
            given = {numbers[row["worker_id"]]: row["group"] for row in rows if row["worker_id"] in numbers}
        except (OSError, KeyError, UnicodeDecodeError) as error:
            raise InvalidInput(
                "groups", str(groups), "must be a CSV file with the columns worker_id and group"
            ) from error
        tables = {
            "proposed to come in": impact.rates(given, impact.brought_in(proposals), favourable=True),
            "proposed to be let go": impact.rates(given, impact.let_go(proposals), favourable=False),
        }
    if json:
        print_json({what: [vars(rate) for rate in found] for what, found in tables.items()})
        return
    for what, found in tables.items():
        print_table(
            f"{what.capitalize()}:",
            ["group", "people", "chosen", "rate", "ratio to the best", "p"],
            [
                [
                    one.group + (" (few)" if one.small else ""),
                    str(one.people),
                    str(one.chosen),
                    f"{one.rate:.0%}",
                    f"{one.ratio:.2f}",
                    f"{one.p_value:.3f}",
                ]
                for one in found
            ],
        )
    print("Ratios of small groups say little. This is arithmetic, not legal clearance.")


@store_app.command("upgrade")
def upgrade_command(db: DbOption = DEFAULT_DB) -> None:
    """Bring a store to the newest schema, and its sites to what their records come to by now; back it up first."""
    with plain_errors():
        from crewlearn.advisor.store import make_engine, schema_version, upgrade

        engine = make_engine(db)
        try:
            before = schema_version(engine)
            upgrade(engine)
            print(f"Schema {before or 'none'} -> {schema_version(engine)}.")
        finally:
            engine.dispose()
