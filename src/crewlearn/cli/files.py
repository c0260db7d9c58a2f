"""`crewlearn workers` and `crewlearn output`: bring files in, and take people out."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from crewlearn.cli.live import DEFAULT_DB, ActorOption, DbOption, SiteArgument, opened, who
from crewlearn.cli.output import print_json

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
    """Take in workers: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview."""
    with opened(db) as store:
        from crewlearn.advisor import commands
        from crewlearn.advisor.csv_in import read_workers

        data = _read(file)
        rows = read_workers(data, _mapping(map_), what=file.name, decimal=_decimal(decimal))
        done = commands.import_workers(store, site, rows, data, who(actor))
    _report(done, "workers", json)


@workers.command("erase")
def erase_command(
    site: SiteArgument, worker: WorkerArgument, db: DbOption = DEFAULT_DB, actor: ActorOption = None
) -> None:
    """Remove a person from the store; the record keeps a bare number."""
    with opened(db) as store:
        from crewlearn.advisor.commands import erase_worker

        erase_worker(store, site, worker, who(actor))


@workers.command("set")
def set_command(
    site: SiteArgument,
    worker: WorkerArgument,
    status: Annotated[str | None, typer.Option(help="pool, blocked or left.")] = None,
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin", help="Keep them whatever is advised.")] = None,
    fee: Annotated[float | None, typer.Option(help="What hiring them costs.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Record that a worker left, returned, is blocked or pinned, or has a fee of their own."""
    with opened(db) as store:
        from crewlearn.advisor.commands import change_worker

        given = {"status": status, "pinned": pinned, "fee": fee}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        change_worker(store, site, worker, who(actor), **changes)


@output.command("import")
def import_output_command(
    site: SiteArgument,
    file: FileArgument,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace what is on record where the file differs.")
    ] = False,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    dates: Annotated[str | None, typer.Option(help="day-first or month-first, if the file does not tell.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Take in output: date or period, worker_id, units, and optionally hours, attendance; all rows or none."""
    with opened(db) as store:
        from crewlearn.advisor import commands
        from crewlearn.advisor.csv_in import read_output
        from crewlearn.problem.errors import one_of

        data = _read(file)
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
        )
        done = commands.import_output(store, site, rows, data, who(actor), correct=correct)
    _report(done, "rows", json)


def _read(path: Path) -> bytes:
    from crewlearn.problem.errors import InvalidInput

    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput("file", str(path), f"cannot be read ({error.strerror})") from error


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


def _report(done: object, what: str, json: bool) -> None:
    facts = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(done).items()}
    if json:
        print_json(facts)
        return
    print(f"{facts['recorded']:,} {what} recorded, {facts['known']:,} known already.")
    for warning in facts["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
