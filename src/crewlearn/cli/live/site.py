"""`crewlearn site`: create, show and change sites."""

import sys
from datetime import date
from typing import Annotated, Any

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DbOption,
    SiteArgument,
    advice_of,
    opened,
    read_site,
    who,
)
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table

app = typer.Typer(help="Create, show and change sites.", no_args_is_help=True)


@app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Name of the site.")],
    team: Annotated[int, typer.Option(help="Number of stations.")],
    cost: Annotated[float, typer.Option(help="Fee of a replacement, in money.")],
    horizon: Annotated[int, typer.Option(help="Planned periods; with --rolling, the periods always ahead.")],
    mean_delay: Annotated[float, typer.Option(help="Mean number of periods from an offer to the first day.")],
    output_range: Annotated[
        str, typer.Option(help="LO:HI, the output that counts as 0 and as 1; HI below LO if less is better.")
    ],
    value_per_unit: Annotated[float, typer.Option(help="What one unit of output is worth, in money.")] = 1.0,
    policy: Annotated[
        str | None,
        typer.Option(help="Policy, as name or name:parameter=value,…; by default value-of-replacement-evolving."),
    ] = None,
    hours: Annotated[float | None, typer.Option(help="Hours per period, if output is a rate (units per hour).")] = None,
    rolling: Annotated[bool, typer.Option("--rolling", help="No planned end: the horizon moves with time.")] = False,
    learn_delay: Annotated[
        bool, typer.Option("--learn-delay", help="Learn the mean delay from the site's offers.")
    ] = False,
    fee_due: Annotated[str, typer.Option(help="When the fee is due: initiation or completion.")] = "initiation",
    start: Annotated[str | None, typer.Option(help="First working day, as 2026-11-16; by default today.")] = None,
    weekdays: Annotated[str, typer.Option(help="Working days, such as mon,tue,wed,thu,fri.")] = "mon,tue,wed,thu,fri",
    closed: Annotated[list[str] | None, typer.Option(help="A day on which the site is closed; repeatable.")] = None,
    shifts: Annotated[int, typer.Option(help="Shifts per day; each is a separate period.")] = 1,
    cutoff_hour: Annotated[int, typer.Option(help="Work before this hour counts for the previous day.")] = 0,
    least_tenure: Annotated[
        str | None, typer.Option(help="Periods before a worker may be replaced, or none; by default 10.")
    ] = None,
    most_a_week: Annotated[
        str | None,
        typer.Option(
            help="Upper limit on replacements per week, or none; by default a fifth of the stations, at least 2. "
            "Filling an empty station does not count."
        ),
    ] = None,
    most_a_month: Annotated[
        int | None, typer.Option(help="Upper limit on replacements per calendar month; by default none.")
    ] = None,
    budget_a_week: Annotated[
        float | None, typer.Option(help="Upper limit on the fees of replacements per week, in money; by default none.")
    ] = None,
    budget_a_month: Annotated[
        float | None, typer.Option(help="Upper limit on their fees per calendar month, in money; by default none.")
    ] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Create a site."""
    with opened(db, make=True) as store:
        import secrets

        from crewlearn.advisor.advice.commands import create_site
        from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
        from crewlearn.advisor.ledger.settings.changes import read_day, read_weekdays
        from crewlearn.advisor.ledger.settings.config import SiteConfig
        from crewlearn.advisor.ledger.settings.units import Units, parse_range

        chosen: dict[str, Any] = {} if policy is None else {"policy": policy}
        if least_tenure is not None:
            chosen["least_tenure"] = _limit("least tenure", least_tenure) or 0
        if most_a_week is not None:
            chosen["most_a_week"] = _limit("most a week", most_a_week)
        low, high = parse_range(output_range)
        calendar = WorkCalendar(
            start=date.today() if start is None else read_day("start", start),
            weekdays=read_weekdays(weekdays),
            closures=tuple(sorted(read_day("closed", day) for day in closed or ())),
            shifts_per_day=shifts,
            cutoff_hour=cutoff_hour,
        )
        config = SiteConfig(
            team=team,
            fee=cost,
            units=Units(low, high, value_per_unit, hours),
            calendar=calendar,
            horizon=horizon,
            mean_delay=mean_delay,
            rolling=rolling,
            learn_delay=learn_delay,
            fee_due=fee_due,
            stream_key=secrets.randbelow(2**62),
            most_a_month=most_a_month,
            budget_a_week=budget_a_week,
            budget_a_month=budget_a_month,
            **chosen,
        )
        create_site(store, name, config, who(actor))
    print(
        f"Site {name} was created. Next, with a list of its people: crewlearn workers import {name} workers.csv\n"
        f"Or, with any export of daily output, to see how it is read: crewlearn output import {name} output.csv",
        file=sys.stderr,
    )


def _limit(field: str, text: str) -> int | None:
    """Parse a limit: a whole number, or "none"."""
    from crewlearn.problem.errors import InvalidInput

    if text.strip().lower() == "none":
        return None
    try:
        return int(text)
    except ValueError as error:
        raise InvalidInput(field, text, "must be a whole number, or none") from error


@app.command("list")
def list_command(db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """List the sites, each with a one-line summary of its advice."""
    with opened(db) as store:
        advice = {name: advice_of(store, name) for name in store.names()}
    if json:
        print_json([{"site": name, "advice": words} for name, words in advice.items()])
    elif advice:
        print_table("Sites:", ["site", "advice"], [[name, words] for name, words in advice.items()], words=2)
    else:
        print("There is no site yet. Create one: crewlearn site create --help, or try the demo: crewlearn demo")


@app.command("show")
def show_command(name: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """Show a site's settings, and since when each applies."""
    with opened(db) as store:
        from crewlearn.advisor.wording.documents import settings
        from crewlearn.advisor.wording.history import settings_since
        from crewlearn.advisor.wording.settings import in_words, learned_delay

        now, _ = read_site(store, name)
        since = settings_since(store, name)
    words = in_words(now.config)
    if delay := learned_delay(now):
        words["mean_delay"] += f"; now {delay}"
    if json:
        holds = {key: since_when._asdict() for key, since_when in since.items()}
        current = {"settings": settings(now.config), "mean_delay": now.mean_delay}
        print_json({"site": name, **current, "in_words": words, "since": holds})
        return
    rows = [[key, setting_text, f"{since[key].day}, {since[key].actor}"] for key, setting_text in words.items()]
    print_table(f"{name}:", ["setting", "now", "since, by"], rows, words=3)


@app.command("set")
def set_command(
    name: SiteArgument,
    changes: Annotated[
        list[str],
        typer.Argument(
            help="setting=value, such as fee=250, team=12, value_per_unit=0.9, closed=2026-12-24 (add a closure), "
            "open=2026-12-24 (remove a closure), weekdays=mon,tue,wed, cutoff_hour=6; repeatable."
        ),
    ],
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Change settings from now on; `crewlearn site show` lists them all."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import change_site
        from crewlearn.advisor.ledger.settings.changes import parsed
        from crewlearn.advisor.wording.settings import differences

        done = differences(*change_site(store, name, parsed(changes), who(actor)))
        now, _ = read_site(store, name)
        first_day = now.config.calendar.date_of(now.period)
        for change in done:
            print(f"{change.setting}: {change.before} → {change.after}, from {first_day} on")
        print(advice_of(store, name) if done else "Nothing changed.")
