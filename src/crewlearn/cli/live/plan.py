"""`crewlearn plan` and `crewlearn demo`: simulated futures, and a demo site."""

from typing import Annotated, Any

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, SiteArgument, opened
from crewlearn.cli.options import JsonOption, PolicyOption, SeedOption
from crewlearn.cli.output import print_json, print_table, progress_bar


def plan_command(
    site: SiteArgument,
    policy: PolicyOption = None,
    runs: Annotated[int, typer.Option(help="Number of simulated futures.")] = 500,
    seed: SeedOption = 1,
    team: Annotated[int | None, typer.Option(help="What if: number of stations.")] = None,
    cost: Annotated[float | None, typer.Option(help="What if: fee of a replacement.")] = None,
    horizon: Annotated[int | None, typer.Option(help="What if: planned periods.")] = None,
    mean_delay: Annotated[float | None, typer.Option(help="What if: mean periods from offer to first day.")] = None,
    least_tenure: Annotated[int | None, typer.Option(help="What if: periods that everybody stays at least.")] = None,
    most_a_week: Annotated[int | None, typer.Option(help="What if: most replacements a week.")] = None,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Simulate this site's future, to see which policy is expected to earn most and by how much."""
    with opened(db) as store:
        from crewlearn.planning.plan import COLUMNS, plan
        from crewlearn.planning.site_record import read_record

        now, record = read_record(store, site)
        options = {
            "team": team,
            "fee": cost,
            "horizon": horizon,
            "mean_delay": mean_delay,
            "least_tenure": least_tenure,
            "most_a_week": most_a_week,
        }
        changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        with progress_bar("simulating", 4 * max(runs, 0)) as done:
            outcome = plan(now, policy, runs, seed, record=record, progress=done, **changes)
    if json:
        print_json(outcome.to_json())
        return
    print_table(outcome.headline, COLUMNS, outcome.rows())
    print(outcome.details)
    if now.config.currency:
        print(f"Amounts are in {now.config.currency}.")
    for note in outcome.notes:
        print(f"- {note}")


def demo_command(
    name: Annotated[str, typer.Option(help="Name of the site.")] = "demo",
    db: DbOption = DEFAULT_DB,
) -> None:
    """Create a demo site with half a year of history."""
    with opened(db, make=True) as store:
        from crewlearn.planning.demo import make_demo

        make_demo(store, name)
    print(f"Site {name} was created. To open it in a browser:")
    print("  crewlearn serve")
    print("or in the terminal:")
    for command in (f"status {name}", f"advise {name}", f"plan {name}", f"ledger verify {name}"):
        print(f"  crewlearn {command}")
