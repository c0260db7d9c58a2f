"""`crewlearn leaderboard`: all policies on all families of instances."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.options import ConventionsOption, FreshOption, JsonOption, PolicyOption, SeedOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table, progress_steps

if TYPE_CHECKING:
    from crewlearn.study.leaderboard import Leaderboard, SettingStandings


def leaderboard_command(
    family: Annotated[list[str] | None, typer.Option(help="Family of instances; repeatable, by default all.")] = None,
    policy: PolicyOption = None,
    runs: Annotated[int, typer.Option(help="Simulated runs per policy and setting.")] = 250,
    seed: SeedOption = 1,
    conventions: ConventionsOption = "as-written",
    out: Annotated[Path | None, typer.Option(help="CSV file for the numbers of every policy and setting.")] = None,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Play all policies on all families of instances and score them from 0% (oracle) to 100% (keep-team)."""
    with plain_errors():
        from crewlearn.study.leaderboard import (
            Leaderboard,
            chosen_policies,
            chosen_settings,
            planned_settings,
            standings_of,
        )
        from crewlearn.study.result_cache import ResultCache

        planned = planned_settings(chosen_settings(family), chosen_policies(policy), runs, seed, conventions)
        if out is not None:
            check_writable("out", out)
        standings = []
        with progress_steps(len(planned)) as (tell, done):
            for standing in standings_of(planned, ResultCache(fresh), tell):
                standings.append(standing)
                done(1)
        board = Leaderboard(runs, seed, conventions, tuple(standings))
        if out is not None:
            from crewlearn.study.report.tables import leaderboard_csv

            out.write_text(leaderboard_csv(board), encoding="utf-8")
    if json:
        print_json(board.to_json())
        return
    _print_board(board)


def _print_board(board: "Leaderboard") -> None:
    from crewlearn.study.families import FAMILIES
    from crewlearn.study.leaderboard import knows_hidden

    summary, wins, standings = board.summary(), board.wins(), board.standings
    names = board.policies()
    for family in dict.fromkeys(standing.family for standing in standings):
        in_family = [standing for standing in standings if standing.family == family]
        print_table(
            f"{family}: {FAMILIES[family].story}",
            ["setting", "oracle", "dr-ucb", "keep-team", "dr-ucb is at", "best", "its regret", "it is at"],
            [_row(standing) for standing in in_family],
        )
    families = list(dict.fromkeys(standing.family for standing in standings))
    print_table(
        "Every policy's place, from 0% (oracle) to 100% (keep-team), mean over the settings of each family:",
        ["policy", *families],
        [[name, *(_percent(place) for place in board.family_places(name).values())] for name in names],
    )
    total = len(standings)
    print_table(
        f"All policies over {total} settings, {board.runs:,} runs each, {board.conventions}.\n"
        "Score: geometric mean of regret over the smaller of dr-ucb's and keep-team's; below 1 beats both.",
        ["policy", "score", "wins", "worse than keep-team"],
        [
            [
                name + (" *" if knows_hidden(name) else ""),
                "–" if (score := summary[name]) is None else f"{score:.2f}",
                f"{wins[name]} of {total}" if not knows_hidden(name) else "–",
                str(sum(_above_keep_team(standing, name) for standing in standings)),
            ]
            for name in names
        ],
    )
    print("* knows hidden means or delays and does not compete.")
    harmed = [standing for standing in standings if standing.dr_ucb_harms]
    print(f"\n! DR-UCB is worse than keeping the team, by more than 2 standard errors, in {len(harmed)} of {total}:")
    for standing in harmed:
        more = standing.against_keeping
        times = standing.entries["dr-ucb"].regret.mean / standing.entries["keep-team"].regret.mean
        lost = f"loses {more.mean:,.0f} ± {more.stderr:,.0f} more, {times:.1f} times as much"
        print(f"  {standing.family}, {standing.setting}: {lost}")


def _above_keep_team(standing: "SettingStandings", name: str) -> bool:
    return standing.entries[name].regret.mean > standing.entries["keep-team"].regret.mean


def _row(standing: "SettingStandings") -> list[str]:
    entries, winner = standing.entries, standing.winner

    def regret(name: str) -> str:
        return f"{entries[name].regret.mean:,.0f}"

    def place(name: str) -> str:
        return _percent(entries[name].relative)

    mark = " !" if standing.dr_ucb_harms else ""
    numbers = [regret(name) for name in ("oracle", "dr-ucb", "keep-team")]
    level = f" (level: {', '.join(standing.level_with_winner)})" if standing.level_with_winner else ""
    return [standing.setting, *numbers, place("dr-ucb") + mark, winner + level, regret(winner), place(winner)]


def _percent(relative: float | None) -> str:
    return "–" if relative is None else f"{relative:,.0f}%"
