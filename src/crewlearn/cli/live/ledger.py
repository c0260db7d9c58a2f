"""`crewlearn ledger` and `crewlearn store`: check and export the record; back up, restore and upgrade the store."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live import checkpoints
from crewlearn.cli.live.session import DEFAULT_DB, DbOption, SiteArgument, opened, read_bytes, warn
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from crewlearn.advisor.evidence.impact import GroupRate, Impact

app = typer.Typer(help="Check and export a site's record.", no_args_is_help=True)
store_app = typer.Typer(help="Back up, restore and upgrade the store.", no_args_is_help=True)


app.command("key")(checkpoints.key_command)
app.command("checkpoint")(checkpoints.checkpoint_command)


@app.command("verify")
def verify_command(
    site: SiteArgument,
    against: Annotated[
        Path | None, typer.Option(help="A file of signed checkpoints that the record must agree with.")
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option(help="The key that they must be signed with, as `ledger key` prints it; by default your own."),
    ] = None,
    key_file: checkpoints.KeyFileOption = None,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Rebuild a site from its events, check the hash chain, and derive all advice again."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.text import counted
        from crewlearn.advisor.ledger.verify import verify
        from crewlearn.advisor.wording import documents

        anchors = None if against is None else checkpoints.anchors(site, against, public_key, key_file)
        result = verify(store, site, against=anchors)
    if json:
        print_json(documents.verified(result))
    else:
        rows = counted(result.rows, "row of output", "rows of output")
        print(f"{counted(result.events, 'event')}, {rows}, {counted(result.advice, 'time')} advised.")
        if result.older:
            print(f"{counted(result.older, 'time')} advised under older rules: not derived again, and no damage.")
        if result.checkpoints:
            print(f"Compared with {counted(result.checkpoints, 'signed checkpoint')}.")
        for note in result.notes:
            print(f"NOTE: {note}")
        for fault in result.faults:
            print(f"DAMAGED: {fault}")
        if result.unchecked:
            print(f"NOT CHECKED: advice and what is stored beside the record; {result.unchecked}")
        soundly = "The hashes and rows are sound." if result.unchecked else "The record is sound."
        print(soundly if result.sound else "The record is damaged.")
    if not result.sound or result.unchecked:
        raise typer.Exit(1)


@app.command("export")
def export_command(
    site: SiteArgument,
    what: Annotated[str, typer.Option(help="events (JSON Lines), decisions, output or workers (CSV).")] = "events",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, a workbook if it ends in .xlsx; by default standard output."),
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Export the record: events for programs, decisions for auditors, or the imported output and workers."""
    with opened(db) as store:
        from contextlib import closing

        from crewlearn.advisor.evidence import exports as export
        from crewlearn.advisor.files.workbooks import write_workbook
        from crewlearn.problem.errors import one_of

        make = export.EXPORTS[one_of("what", what, export.EXPORTS)]
        if out is not None:
            check_writable("out", out)
        if out is not None and out.suffix.lower() == ".xlsx":
            export.check_table(what)
            half = out.with_name(f".{out.name}.part")
            try:
                with closing(export.TABLES[what](store, site)) as rows, half.open("wb") as file:
                    write_workbook(file, what, rows)
                half.replace(out.resolve())
            finally:
                half.unlink(missing_ok=True)
            return
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
    """Compare between groups how often people are proposed, approved and started, or let go, and how long they stay."""
    with opened(db) as store:
        from crewlearn.advisor.evidence import impact
        from crewlearn.advisor.wording.impact import impact_document

        found = impact.read_impact(store, site, read_bytes(groups), groups.name)
    if json:
        print_json(impact_document(found))
        return
    for direction, stages in found.stages.items():
        for stage, group_rates in stages.items():
            compared = "ratio of staying" if direction == impact.GOING_OUT else "ratio to the best"
            _print_rates(f"{direction.capitalize()}, {stage}:", compared, group_rates)
    _print_tenure(found)
    warn(list(found.warnings))
    print(impact.NOTE, impact.DOUBT.format(small=impact.SMALL), impact.TENURE_NOTE, sep="\n")


def _print_rates(title: str, compared: str, rates: "Sequence[GroupRate]") -> None:
    columns = ["group", "people", "chosen", "rate", compared, "95%", "p"]
    rows = [
        [
            rate.group + (" (few)" if rate.small else ""),
            str(rate.people),
            str(rate.chosen),
            f"{rate.rate:.0%}",
            f"{rate.ratio:.2f}",
            "" if rate.low is None else f"{rate.low:.2f} to {rate.high:.2f}",
            f"{rate.p_value:.3f}",
        ]
        for rate in rates
    ]
    print_table(title, columns, rows)


def _print_tenure(found: "Impact") -> None:
    """Print how long people are kept, by group, and whether newcomers are let go sooner."""
    from crewlearn.advisor.evidence import tenure
    from crewlearn.advisor.wording.impact import newcomers_words, ratio_words

    columns = ["group", "people", "periods in the team", "let go", "rate against the others (95%)"]
    rows = []
    for group in found.tenures:
        kept = {share.periods: f"{share.share:.0%} ({share.low:.0%} to {share.high:.0%})" for share in group.kept}
        rows.append(
            [
                group.group + (" (few)" if group.small else ""),
                str(group.people),
                str(group.days),
                str(group.let_go),
                ratio_words(group.ratio),
                *(kept.get(length, "–") for length in tenure.LENGTHS),
            ]
        )
    print_table("Kept:", [*columns, *(f"kept for {length}" for length in tenure.LENGTHS)], rows)
    print(newcomers_words(found.newcomers))


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
