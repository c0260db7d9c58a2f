"""`crewlearn team`: the team as it is, outside advice."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DbOption,
    SiteArgument,
    advice_of,
    opened,
    read_bytes,
    read_site,
    who,
)
from crewlearn.cli.output import print_json

if TYPE_CHECKING:
    from crewlearn.advisor.ledger.store import Store


def team_command(
    site: SiteArgument,
    action: Annotated[
        str, typer.Argument(help="show, set (the whole team), add, remove, or import (a file).", metavar="ACTION")
    ] = "show",
    workers: Annotated[
        list[str] | None, typer.Argument(help="Workers' ids at the firm; for import, the file.", metavar="[WORKER]…")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", help="The first day that this is so, past or today; by default the coming one."),
    ] = None,
    station: Annotated[
        int | None, typer.Option("--station", help="The station to take, counted from 1; by default an empty one.")
    ] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Show who holds which station, or record changes of the team that happened outside advice, on any day so far.

    set: these people are the team from that day on. add: somebody took a station; whoever held it left. remove:
    somebody left their station and stays in the pool; for leaving the pool as well, use: workers set --status left.
    import: a file with worker_id, from, and optionally until (the last day) and station.
    """
    with opened(db) as store:
        from crewlearn.problem.errors import one_of

        one_of("action", action, ("show", "set", "add", "remove", "import"))
        changed = None if action == "show" else _change(store, site, action, workers or [], on, station, who(actor))
        if json:
            from crewlearn.advisor.wording.team import team_document

            print_json(team_document(store, site))
            return
        if changed is None:
            _show(store, site)
            return
        from crewlearn.advisor.ledger.text import counted

        print(f"{counted(changed, 'change')} of the team recorded." if changed else "That is on record already.")
        print(advice_of(store, site))


def _change(
    store: "Store", site: str, action: str, workers: list[str], on: str | None, station: int | None, actor: str
) -> int:
    """Carry out a change; return how many spans of time at a station were recorded."""
    from crewlearn.advisor.advice import team
    from crewlearn.advisor.files.team_files import read_team
    from crewlearn.advisor.ledger.settings.changes import read_day
    from crewlearn.problem.errors import InvalidInput

    day = None if on is None else read_day("on", on)
    if action == "set":
        if not workers:
            remedy = "set takes everybody who is in the team; to vacate a station, use remove"
            raise InvalidInput("worker", "", remedy)
        return team.set_team(store, site, workers, actor, on=day).recorded
    if len(workers) != 1:
        what = "one file" if action == "import" else "one worker"
        raise InvalidInput("worker", " ".join(workers), f"{action} takes {what}")
    if action == "import":
        path = Path(workers[0])
        return team.record_stints(store, site, read_team(read_bytes(path), what=path.name), actor).recorded
    if action == "add":
        return team.add_to_team(store, site, workers[0], actor, station=station, on=day).recorded
    return team.remove_from_team(store, site, workers[0], actor, on=day).recorded


def _show(store: "Store", site: str) -> None:
    """Print who holds which station, and since when."""
    from crewlearn.advisor.wording.team import holders

    now, people = read_site(store, site)
    for number, worker, since in holders(now):
        held = "empty" if worker is None else f"{people.label(worker)}, since {since}"
        print(f"Station {number}: {held}")
