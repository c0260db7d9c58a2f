"""`crewlearn pilot`: a random comparison of advice with usual practice."""

from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, ActorOption, DbOption, SiteArgument, opened, who
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table

if TYPE_CHECKING:
    from crewlearn.planning.pilot.planning import PilotRequest

app = typer.Typer(help="Compare advice with usual practice at random: plan, start, status, end.", no_args_is_help=True)

_Sites = Annotated[list[str], typer.Argument(help="One site, or several: then each is a group.", metavar="SITE…")]
_Groups = Annotated[
    int | None,
    typer.Option("--groups", help="Groups of stations, of a single site; by default each station, up to 20."),
]
_Days = Annotated[int, typer.Option("--days", help="Working days of the pilot.")]
_Waves = Annotated[int, typer.Option("--waves", help="2: two arms at once. More: stepped, one wave after another.")]
_RunIn = Annotated[int, typer.Option("--run-in", help="Calendar days after turning to advice that do not count.")]
_Baseline = Annotated[int, typer.Option("--baseline", help="Working days before the pilot to compare with.")]
_Measure = Annotated[str, typer.Option("--measure", help="net (of fees), or output.")]
_Fee = Annotated[
    float | None, typer.Option("--outside-fee", help="Cost of a change outside advice; by default the site's fee.")
]
_Looks = Annotated[int, typer.Option("--looks", help="Planned early looks, evenly spaced.")]
_Power = Annotated[float, typer.Option("--power", help="The probability with which the gain is to be shown.")]


def _request(
    sites: list[str],
    groups: int | None,
    days: int,
    waves: int,
    run_in: int,
    baseline: int,
    measure: str,
    outside_fee: float | None,
    looks: int,
    power: float,
    gain: float | None = None,
) -> "PilotRequest":
    from crewlearn.planning.pilot.planning import PilotRequest

    return PilotRequest(
        tuple(sites), groups, days, waves, run_in, baseline, measure, outside_fee, looks=looks, power=power, gain=gain
    )


@app.command("plan")
def plan_command(
    sites: _Sites,
    groups: _Groups = None,
    days: _Days = 60,
    waves: _Waves = 2,
    run_in: _RunIn = 14,
    baseline: _Baseline = 40,
    measure: _Measure = "net",
    outside_fee: _Fee = None,
    looks: _Looks = 0,
    power: _Power = 0.8,
    gain: Annotated[
        float | None, typer.Option("--gain", help="The gain a station and day that you hope for, in money.")
    ] = None,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Compute what a pilot of some length could detect; nothing is recorded."""
    with opened(db) as store:
        from crewlearn.planning.pilot.planning import plan_pilot
        from crewlearn.planning.pilot.wording import design_lines, promise_lines

        request = _request(sites, groups, days, waves, run_in, baseline, measure, outside_fee, looks, power, gain)
        proposal = plan_pilot(store, request)
        if json:
            print_json(proposal.to_json())
            return
        for line in (*design_lines(proposal.plan), *promise_lines(proposal)):
            print(line)
        rows = [
            [
                f"{each.days}",
                f"{each.last}",
                "–" if each.detectable is None else f"{each.detectable:,.2f}",
                "" if each.power is None else f"{each.power:.0%}",
            ]
            for each in proposal.durations
        ]
        columns = ["working days", "last day", f"gain shown with {power:.0%}", "power for your gain"]
        print_table("Duration", columns, rows)


@app.command("start")
def start_command(
    sites: _Sites,
    groups: _Groups = None,
    days: _Days = 60,
    waves: _Waves = 2,
    run_in: _RunIn = 14,
    baseline: _Baseline = 40,
    measure: _Measure = "net",
    outside_fee: _Fee = None,
    looks: _Looks = 0,
    power: _Power = 0.8,
    seed: Annotated[
        str | None,
        typer.Option("--seed", help="Seed of the draw; by default the hash of the record, which nobody chose."),
    ] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Seal the plan of analysis in the record, draw the groups at random, and begin with the coming day."""
    with opened(db) as store:
        from crewlearn.planning.pilot import running
        from crewlearn.planning.pilot.wording import arms_lines, design_lines

        request = _request(sites, groups, days, waves, run_in, baseline, measure, outside_fee, looks, power)
        started = running.start(store, request, who(actor), seed=seed)
        if json:
            print_json(started.to_payload())
            return
        print(f"The pilot is sealed as plan {started.digest[:12]}, and begins on {started.plan.steps[0]}.")
        for line in (*design_lines(started.plan), *arms_lines(started.plan, started.waves)):
            print(line)


@app.command("status")
def status_command(
    site: SiteArgument,
    look: Annotated[bool, typer.Option("--look", help="Take the planned early look that is due.")] = False,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Show how far the pilot is, without its effect, or its result once it has ended."""
    with opened(db) as store:
        from crewlearn.planning.pilot import running
        from crewlearn.planning.pilot.wording import arms_lines, design_lines, progress_line, result_lines

        if look:
            stop, _ = running.look(store, site, who(actor))
            if not json:
                print("The pilot may stop: end it to see the result." if stop else "The pilot goes on as planned.")
        now = running.status(store, site)
        if json:
            print_json(None if now is None else now.to_json())
            return
        if now is None:
            print(f"{site} has had no pilot. Try: crewlearn pilot plan {site}")
            return
        print(progress_line(now))
        ended = now.record.ended
        if ended is not None and ended.result is not None:
            for line in result_lines(ended.result):
                print(line)
        for line in (*design_lines(now.plan), *arms_lines(now.plan, now.waves)):
            print(line)


@app.command("end")
def end_command(
    site: SiteArgument,
    give_up: Annotated[
        str, typer.Option("--give-up", help="End now without a result, for this reason.", metavar="REASON")
    ] = "",
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Analyse the pilot once, as sealed, and record the result; every station is advised on again."""
    with opened(db) as store:
        from crewlearn.planning.pilot import running
        from crewlearn.planning.pilot.wording import result_lines

        result = running.end(store, site, who(actor), give_up=give_up)
        if json:
            print_json(None if result is None else dict(result))
            return
        print("The pilot has ended." if result is not None else "The pilot was given up, without a result.")
        for line in () if result is None else result_lines(result):
            print(line)
