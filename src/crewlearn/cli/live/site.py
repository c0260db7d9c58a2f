"""`crewlearn site`: create, show and change sites."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crewlearn.cli.live import new_site
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

if TYPE_CHECKING:
    from crewlearn.advisor.ledger.store import Store

app = typer.Typer(help="Create, show and change sites.", no_args_is_help=True)


@app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Name of the site.")],
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="An export of output so far (CSV or .xlsx): whatever is left out here is proposed from it, with "
            "reasons and the first advice. With --yes the site is created, and people, output and team are recorded.",
        ),
    ] = None,
    team: Annotated[int | None, typer.Option(help="Number of stations.")] = None,
    cost: Annotated[float | None, typer.Option(help="Fee of a replacement, in money.")] = None,
    horizon: Annotated[
        int | None, typer.Option(help="Planned periods; with --rolling, the periods always ahead.")
    ] = None,
    mean_delay: Annotated[
        float | None, typer.Option(help="Mean number of periods from an offer to the first day.")
    ] = None,
    output_range: Annotated[
        str | None,
        typer.Option(help="LO:HI, the output that counts as 0 and as 1; HI below LO if less is better."),
    ] = None,
    value_per_unit: Annotated[
        float | None, typer.Option(help="What one unit of output is worth, in money; 1 if left out without --from.")
    ] = None,
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
    weekdays: Annotated[
        str | None, typer.Option(help="Working days, such as mon,tue,wed; by default mon,tue,wed,thu,fri.")
    ] = None,
    closed: Annotated[list[str] | None, typer.Option(help="A day on which the site is closed; repeatable.")] = None,
    shifts: Annotated[int | None, typer.Option(help="Shifts per day, 1 by default; each is a separate period.")] = None,
    cutoff_hour: Annotated[
        int | None, typer.Option(help="Work before this hour counts for the previous day; 0 by default.")
    ] = None,
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
    currency: Annotated[
        str | None, typer.Option(help="Code of the currency that is shown with money, such as EUR; by default none.")
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="The site's time zone, such as Europe/Amsterdam; by default this machine's.")
    ] = None,
    map_: Annotated[
        list[str] | None, typer.Option("--map", help="With --from: column=header, as for an import; repeatable.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --from: create the site as proposed.")] = False,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Create a site; with --from, as an export of its output suggests."""
    with opened(db, make=True) as store:
        from crewlearn.advisor.ledger.settings.changes import read_day, read_weekdays
        from crewlearn.advisor.ledger.settings.units import parse_range

        low, high = (None, None) if output_range is None else parse_range(output_range)
        given: dict[str, Any] = {
            "team": team,
            "fee": cost,
            "low": low,
            "high": high,
            "value_per_unit": value_per_unit,
            "hours_per_period": hours,
            "start": None if start is None else read_day("start", start),
            "weekdays": None if weekdays is None else read_weekdays(weekdays),
            "closures": tuple(sorted(read_day("closed", day) for day in closed)) if closed else None,
            "shifts_per_day": shifts,
            "cutoff_hour": cutoff_hour,
            "horizon": horizon,
            "mean_delay": mean_delay,
            "policy": policy,
            "most_a_month": most_a_month,
            "budget_a_week": budget_a_week,
            "budget_a_month": budget_a_month,
            "currency": currency,
            "time_zone": time_zone,
        }
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        chosen["fee_due"] = fee_due
        if least_tenure is not None:
            chosen["least_tenure"] = _limit("least tenure", least_tenure) or 0
        if most_a_week is not None:
            chosen["most_a_week"] = _limit("most a week", most_a_week)
        if from_ is None:
            _create(store, name, {**chosen, "rolling": rolling, "learn_delay": learn_delay}, who(actor))
            return
        if rolling or horizon is not None:
            chosen["rolling"] = rolling
        if learn_delay or mean_delay is not None:
            chosen["learn_delay"] = learn_delay
        new_site.from_file(store, name, from_, mapping=map_, chosen=chosen, actor=who(actor), yes=yes, json=json)


_NEEDED = {
    "team": "--team",
    "fee": "--cost",
    "horizon": "--horizon",
    "mean_delay": "--mean-delay",
    "low": "--output-range",
}
"""Settings that a site without a file needs, with their options."""


def _create(store: "Store", name: str, chosen: dict[str, Any], actor: str) -> None:
    """Create a site with the settings chosen, and the usual ones for the others."""
    import secrets

    from crewlearn.advisor.advice.commands import create_site
    from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
    from crewlearn.advisor.ledger.settings.config import SiteConfig
    from crewlearn.advisor.ledger.settings.locale import zone_of
    from crewlearn.advisor.ledger.settings.units import Units
    from crewlearn.problem.errors import InvalidInput

    missing = [option for setting, option in _NEEDED.items() if setting not in chosen]
    if missing:
        remedy = f"{'is' if len(missing) == 1 else 'are'} needed, or --from FILE, an export to propose from"
        raise InvalidInput("options", ", ".join(missing), remedy)
    calendar = {
        field: chosen.pop(field)
        for field in ("weekdays", "closures", "shifts_per_day", "cutoff_hour")
        if field in chosen
    }
    units = {
        field: chosen.pop(field) for field in ("low", "high", "value_per_unit", "hours_per_period") if field in chosen
    }
    zone = None if "time_zone" not in chosen else zone_of(chosen["time_zone"])
    config = SiteConfig(
        units=Units(**units),
        calendar=WorkCalendar(start=chosen.pop("start", datetime.now(zone).date()), **calendar),
        stream_key=secrets.randbelow(2**62),
        **chosen,
    )
    create_site(store, name, config, actor)
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
        from crewlearn.advisor.wording.past.history import settings_since
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


@app.command("notice")
def notice_command(
    name: SiteArgument,
    contact: Annotated[str, typer.Option(help="Whom workers can ask; by default a line to fill in by hand.")] = "",
    db: DbOption = DEFAULT_DB,
) -> None:
    """Print a notice to workers: what is recorded about them, how it is used, who decides, and what they may ask."""
    with opened(db) as store:
        from crewlearn.advisor.wording.notice import worker_notice
        from crewlearn.advisor.wording.sections import plain

        now, _ = read_site(store, name)
        print(plain(worker_notice(name, now, store.clock().date(), contact)))


@app.command("card")
def card_command(name: SiteArgument, db: DbOption = DEFAULT_DB) -> None:
    """Print a site's model card: policy, brakes, what it learns from, how well that held, limits and versions."""
    with opened(db) as store:
        from crewlearn import __version__
        from crewlearn.advisor.wording.model_card import model_card
        from crewlearn.advisor.wording.sections import plain

        with store.reading() as connection:
            _, now, events = store.site(connection, name)
        print(plain(model_card(name, now, events, store.clock().date(), __version__)))


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
