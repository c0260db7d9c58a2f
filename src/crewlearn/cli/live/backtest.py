"""`crewlearn backtest`: what advice would have brought over the days on record."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, opened, read_bytes
from crewlearn.cli.options import JsonOption, SeedOption
from crewlearn.cli.output import plain_errors, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from datetime import date

    from crewlearn.advisor.ledger.settings.config import SiteConfig


def backtest_command(
    what: Annotated[list[str], typer.Argument(help="A site's name; or a file of output, and one of workers.")],
    since: Annotated[
        str, typer.Option("--from", help="First day of advice: a date as 2026-03-02, or the number of the day.")
    ] = "31",
    runs: Annotated[int, typer.Option(help="Number of draws of what is unknown.")] = 200,
    seed: SeedOption = 1,
    team: Annotated[int | None, typer.Option(help="For files: number of stations.")] = None,
    cost: Annotated[float | None, typer.Option(help="For files: fee of a replacement, in money.")] = None,
    output_range: Annotated[
        str | None, typer.Option(help="For files: LO:HI, the output that counts as 0 and as 1.")
    ] = None,
    value_per_unit: Annotated[float, typer.Option(help="For files: what one unit of output is worth.")] = 1.0,
    hours: Annotated[float | None, typer.Option(help="For files: hours per period, if output is a rate.")] = None,
    mean_delay: Annotated[float, typer.Option(help="For files: mean periods from an offer to the first day.")] = 3.0,
    horizon: Annotated[int, typer.Option(help="For files: periods that are always ahead.")] = 120,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Replay the record of a site, or of files, as if the advice had been followed from a day on."""
    with plain_errors():
        from crewlearn.problem.errors import InvalidInput

        files = [Path(name) for name in what]
        if len(files) > 2 or (len(files) == 2 and not all(file.is_file() for file in files)):
            remedy = "must be a site's name, or a file of output and, after it, one of workers"
            raise InvalidInput("backtest", " ".join(what), remedy)
        from_files = all(file.is_file() for file in files)
        if from_files:
            for name, value in (("team", team), ("cost", cost), ("output-range", output_range)):
                if value is None:
                    raise InvalidInput(name, None, f"is needed with files: give --{name}")
    first, currency = _first_day(since), None
    with progress_bar("replaying", 2 * max(runs, 0)) as done:
        if from_files:
            with plain_errors():
                from crewlearn.planning.backtest.sites import backtest_files

                output, *rest = [(file.name, read_bytes(file)) for file in files]
                config = _config(team or 1, cost or 0.0, output_range or "", value_per_unit, hours, mean_delay, horizon)
                outcome = backtest_files(
                    output, rest[0] if rest else None, config, first, runs=runs, seed=seed, progress=done
                )
        else:
            with opened(db) as store:
                from crewlearn.planning.backtest.sites import backtest, day_number
                from crewlearn.planning.site_record import read_record

                site, record = read_record(store, what[0])
                currency = site.config.currency
                number = first if isinstance(first, int) else day_number(site, record, first)
                outcome = backtest(site, record, number, runs=runs, seed=seed, progress=done)
    if json:
        print_json(outcome.to_json())
        return
    from crewlearn.planning.backtest.report import COLUMNS

    print_table(outcome.headline, COLUMNS, outcome.rows())
    print(outcome.details)
    if currency:
        print(f"Amounts are in {currency}.")
    for note in outcome.notes:
        print(f"- {note}")


def _first_day(text: str) -> "int | date":
    """Parse the first day of advice: a number of a day, or a date."""
    if text.strip().isdigit():
        return int(text)
    with plain_errors():
        from crewlearn.advisor.ledger.settings.changes import read_day

        return read_day("from", text)


def _config(
    team: int,
    cost: float,
    output_range: str,
    value_per_unit: float,
    hours: float | None,
    mean_delay: float,
    horizon: int,
) -> "SiteConfig":
    """Return the settings of a site that holds files for a backtest."""
    from datetime import date

    from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
    from crewlearn.advisor.ledger.settings.config import SiteConfig
    from crewlearn.advisor.ledger.settings.units import Units, parse_range

    low, high = parse_range(output_range)
    return SiteConfig(
        team=team,
        fee=cost,
        units=Units(low, high, value_per_unit, hours),
        calendar=WorkCalendar(date.today()),
        horizon=horizon,
        mean_delay=mean_delay,
        rolling=True,
    )
