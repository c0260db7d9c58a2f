"""`crewlearn output list` and `crewlearn output undo`: the imports on record, and taking one back."""

from typing import Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, ActorOption, DbOption, SiteArgument, advice_of, opened, who
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table


def list_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """List the imports of output with their numbers, oldest first."""
    with opened(db) as store:
        from crewlearn.advisor.files.recording.recorded_imports import recorded_imports

        with store.reading() as connection:
            key, state, _ = store.site(connection, site)
            listed = [imported.to_json(state) for imported in recorded_imports(connection, key)]
    if json:
        print_json(listed)
        return
    if not listed:
        print("No output is on record yet.")
        return
    rows = [
        [
            str(plain["number"]),
            plain["at"][:16].replace("T", " "),
            plain["actor"],
            f"{plain['from']} to {plain['to']}" if plain["from"] != plain["to"] else plain["from"],
            "" if plain["undone"] is None else f"taken back in event {plain['undone']}",
            f"{plain['rows']:,}",
            f"{plain['corrected']:,}",
        ]
        for plain in listed
    ]
    print_table("Imports:", ["number", "recorded (UTC)", "by", "days", "", "rows", "corrections"], rows, words=5)


def undo_command(
    site: SiteArgument,
    number: Annotated[int, typer.Argument(metavar="IMPORT", help="The import's number, as `output list` shows it.")],
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Take an import back, as long as nothing depends on it.

    It cannot be taken back once a proposal was answered, one of its rows corrected, or the team taken from the output.
    """
    with opened(db) as store:
        from crewlearn.advisor.files.recording.recorded_imports import undo_import
        from crewlearn.advisor.ledger.text import counted

        done = undo_import(store, site, number, who(actor))
        again = f"; {counted(done.corrected, 'row')} that it had corrected count again" if done.corrected else ""
        print(f"Import {number} was taken back: {counted(done.rows, 'row')} no longer count{again}.")
        print(advice_of(store, site))
