"""`crewlearn workers` and `crewlearn output`: bring files in, and take people out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from crewlearn.cli.live import DEFAULT_DB, ActorOption, DbOption, SiteArgument, advice_of, opened, read_bytes, warn, who
from crewlearn.cli.output import print_json

if TYPE_CHECKING:
    from crewlearn.advisor.imports import Done

workers = typer.Typer(help="Workers of a site.", no_args_is_help=True)
output = typer.Typer(help="Recorded output of a site.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(help="CSV file.")]
MapOption = Annotated[
    list[str] | None, typer.Option("--map", help="column=header where the file calls a column otherwise; repeat.")
]
DecimalOption = Annotated[str | None, typer.Option(help="Decimal mark, . or , if the file does not tell.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
WorkerArgument = Annotated[str, typer.Argument(help="The worker's id at the firm.")]


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
    """Take in workers: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview, pinned."""
    with opened(db) as store:
        from crewlearn.advisor.csv_in import read_workers
        from crewlearn.advisor.imports import import_workers

        data = read_bytes(file)
        rows = read_workers(data, _mapping(map_), what=file.name, decimal=_decimal(decimal))
        done = import_workers(store, site, rows, data, who(actor))
        _report(done, "worker", advice_of(store, site), json)


@workers.command("erase")
def erase_command(
    site: SiteArgument, worker: WorkerArgument, db: DbOption = DEFAULT_DB, actor: ActorOption = None
) -> None:
    """Remove a person from the store; the record keeps a bare number."""
    with opened(db) as store:
        from crewlearn.advisor.commands import erase_worker

        erase_worker(store, site, worker, who(actor))
        print(f"Erased: the store knows {worker} no more; the record keeps a bare number. {advice_of(store, site)}")


@workers.command("set")
def set_command(
    site: SiteArgument,
    worker: WorkerArgument,
    status: Annotated[str | None, typer.Option(help="pool, blocked or left.")] = None,
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin", help="Keep them whatever is advised.")] = None,
    fee: Annotated[str | None, typer.Option(help="What hiring them costs; none: as the site's fee.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Record that a worker left, returned, is blocked or pinned, or has a fee of their own."""
    with opened(db) as store:
        from crewlearn.advisor.commands import change_worker

        given: dict[str, Any] = {"status": status, "pinned": pinned}
        changes = {name: value for name, value in given.items() if value is not None}
        if fee is not None:
            changes["fee"] = None if fee.strip().lower() in ("none", "") else _amount(fee)
        done = change_worker(store, site, worker, who(actor), **changes)
        said = "; ".join(f"{key}: {_shown(key, old)} → {_shown(key, new)}" for key, (old, new) in done.items())
        print(f"{worker}: {said}. {advice_of(store, site)}" if said else f"{worker}: nothing changed.")


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
        bool, typer.Option("--correct", help="Replace what is on record where the file differs.")
    ] = False,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out, and count, rows of workers not known here, as of erased.")
    ] = False,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    dates: Annotated[str | None, typer.Option(help="day-first or month-first, if the file does not tell.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Take in output: date or period, worker_id, units, and optionally shift, hours, attendance; all rows or none."""
    with opened(db) as store:
        from crewlearn.advisor.csv_in import read_output
        from crewlearn.advisor.imports import import_output
        from crewlearn.problem.errors import one_of

        data = read_bytes(file)
        order: Literal["day-first", "month-first"] | None = None
        if dates is not None:
            month_first = one_of("dates", dates, ("day-first", "month-first")) == "month-first"
            order = "month-first" if month_first else "day-first"
        with store.reading() as connection:
            _, now, _ = store.site(connection, site)
        rows = read_output(
            data,
            _mapping(map_),
            what=file.name,
            decimal=_decimal(decimal),
            dates=order,
            day_of=now.config.calendar.day_of,
            blank_ids=skip_unknown,
        )
        done = import_output(
            store, site, rows, data, who(actor), correct=correct, skip_unknown=skip_unknown, what=file.name
        )
        _report(done, "row", advice_of(store, site), json)


def _mapping(given: list[str] | None) -> dict[str, str] | None:
    from crewlearn.problem.errors import InvalidInput

    mapping = {}
    for text in given or ():
        column, equals, header = text.partition("=")
        if not equals:
            raise InvalidInput("map", text, "is written column=header, such as units=Pieces")
        mapping[column.strip()] = header
    return mapping or None


def _decimal(given: str | None) -> Literal[".", ","] | None:
    from crewlearn.problem.errors import one_of

    if given is None:
        return None
    return "," if one_of("decimal", given, (".", ",")) == "," else "."


def _report(done: "Done", what: str, advice: str, json: bool) -> None:
    if json:
        from crewlearn.advisor import documents

        print_json(documents.recorded(done, advice))
        return
    from crewlearn.advisor.text import counted

    corrected = f" ({done.corrected:,} of them corrected)" if done.corrected else ""
    skipped = f", {done.skipped:,} left out" if done.skipped else ""
    print(f"{counted(done.recorded, what)} recorded{corrected}, {done.known:,} known already{skipped}.")
    warn(done.warnings)
    print(advice)
