"""`crewlearn workers` and `crewlearn output`: import files; change and erase workers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DbOption,
    SiteArgument,
    advice_of,
    opened,
    read_bytes,
    warn,
    who,
)
from crewlearn.cli.output import print_json

if TYPE_CHECKING:
    from crewlearn.advisor.files.import_result import ImportResult

workers = typer.Typer(help="Import, change and erase workers.", no_args_is_help=True)
output = typer.Typer(help="Import output.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(help="CSV file.")]
MapOption = Annotated[
    list[str] | None, typer.Option("--map", help="column=header, if the file names a column differently; repeatable.")
]
DecimalOption = Annotated[str | None, typer.Option(help="Decimal mark, . or , if the file is ambiguous.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
WorkerArgument = Annotated[str, typer.Argument(help="The worker's id at the firm.")]

_LISTED = 20
"""Rows listed that need a confirmation."""


@workers.command("import")
def import_workers_command(
    site: SiteArgument,
    file: FileArgument,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Import workers: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview, pinned."""
    with opened(db) as store:
        from crewlearn.advisor.files.cells import decimal_mark
        from crewlearn.advisor.files.columns import WORKERS
        from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of, take_in

        data = read_bytes(file)
        options = ImportOptions(mapping_of(map_), decimal_mark(decimal))
        done = take_in(store, site, ImportFile(WORKERS.kind, data, options, file.name), who(actor))
        _report(done, "worker", advice_of(store, site), json)


@workers.command("erase")
def erase_command(
    site: SiteArgument, worker: WorkerArgument, db: DbOption = DEFAULT_DB, actor: ActorOption = None
) -> None:
    """Erase a person's data from the store; the record keeps only a number."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import erase_worker

        erase_worker(store, site, worker, who(actor))
        print(f"Erased {worker} from the store; the record keeps only a number. {advice_of(store, site)}")


@workers.command("set")
def set_command(
    site: SiteArgument,
    worker: WorkerArgument,
    status: Annotated[str | None, typer.Option(help="pool, blocked or left.")] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Never propose to replace them, or allow it again.")
    ] = None,
    fee: Annotated[str | None, typer.Option(help="Fee for hiring them, or none for the site's fee.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Record that a worker left, returned, is blocked or pinned, or has their own fee."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import change_worker

        options: dict[str, Any] = {"status": status, "pinned": pinned}
        changes = {name: value for name, value in options.items() if value is not None}
        if fee is not None:
            changes["fee"] = None if fee.strip().lower() in ("none", "") else _amount(fee)
        done = change_worker(store, site, worker, who(actor), **changes)
        shown = "; ".join(f"{key}: {_shown(key, old)} → {_shown(key, new)}" for key, (old, new) in done.items())
        print(f"{worker}: {shown}. {advice_of(store, site)}" if shown else f"{worker}: nothing changed.")


def _amount(text: str) -> float:
    from crewlearn.problem.errors import InvalidInput

    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput("fee", text, "must be a number with a decimal point, or none for the site's fee") from error


def _shown(key: str, value: Any) -> str:
    if key == "fee":
        return "the site's" if value is None else f"{value:,.10g}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@output.command("import")
def import_output_command(
    site: SiteArgument,
    file: FileArgument,
    correct: Annotated[
        bool, typer.Option("--correct", help="Overwrite recorded output that differs from the file.")
    ] = False,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Skip and count rows of unknown workers, such as erased ones.")
    ] = False,
    accept_unusual: Annotated[
        bool,
        typer.Option("--accept-unusual", help="Record output that is far from what is expected, or of few people."),
    ] = False,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    dates: Annotated[str | None, typer.Option(help="day-first or month-first, if the file is ambiguous.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Import output, all rows or none: date or period, worker_id, units, optionally shift, hours, attendance."""
    with opened(db) as store:
        from crewlearn.advisor.files.cells import date_order, decimal_mark
        from crewlearn.advisor.files.columns import OUTPUT
        from crewlearn.advisor.files.guard import HeldOutput
        from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of, take_in

        data = read_bytes(file)
        order = date_order(dates)
        options = ImportOptions(
            mapping_of(map_), decimal_mark(decimal), order, correct, skip_unknown, accept_unusual=accept_unusual
        )
        try:
            done = take_in(store, site, ImportFile(OUTPUT.kind, data, options, file.name), who(actor))
        except HeldOutput as held:
            warn(str(oddity) for oddity in held.oddities[:_LISTED])
            raise
        _report(done, "row", advice_of(store, site), json)


def _report(done: "ImportResult", what: str, advice: str, json: bool) -> None:
    if json:
        from crewlearn.advisor.wording import documents

        print_json(documents.recorded(done, advice))
        return
    from crewlearn.advisor.ledger.text import counted

    corrected = f" ({done.corrected:,} of them corrected)" if done.corrected else ""
    skipped = f", {done.skipped:,} skipped" if done.skipped else ""
    print(f"{counted(done.recorded, what)} recorded{corrected}, {done.known:,} already on record{skipped}.")
    warn(done.warnings)
    print(advice)
