"""`crewlearn leaderboard`: all policies on families of instances."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.options import ConventionsOption, FreshOption, JsonOption, PolicyOption, SeedOption
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table, progress_steps

if TYPE_CHECKING:
    from crewlearn.study.leaderboard import Leaderboard, SettingStandings


def leaderboard_command(
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="Family of instances, or a group: stationary (the default), floors, all; repeatable.",
        ),
    ] = None,
    policy: PolicyOption = None,
    runs: Annotated[int, typer.Option(help="Simulated runs per policy and setting.")] = 250,
    seed: SeedOption = 1,
    conventions: ConventionsOption = "as-written",
    out: Annotated[Path | None, typer.Option(help="CSV file for the numbers of every policy and setting.")] = None,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Play all policies on families of instances and score them from 0% (oracle) to 100% (keep-team).

    Floors, where people and days change, are scored by the share of the oracle's gain over keep-team.
    """
    with plain_errors():
        from crewlearn.study.leaderboard import (
            Leaderboard,
            chosen_policies,
            chosen_settings,
            planned_settings,
            standings_of,
        )
        from crewlearn.study.result_cache import ResultCache

        planned = planned_settings(
            chosen_settings(family), chosen_policies(policy, conventions), runs, seed, conventions
        )
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
    stationary = tuple(standing for standing in board.standings if not standing.is_floor)
    if stationary:
        _print_stationary(dataclasses.replace(board, standings=stationary))
    if board.floors:
        _print_floors(dataclasses.replace(board, standings=board.floors))


def _print_floors(board: "Leaderboard") -> None:
    from crewlearn.study.families import FAMILIES

    for standing in board.standings:
        print_table(
            f"{standing.family}: {FAMILIES[standing.family].story}",
            ["policy", "net", "captured", "worse than keep-team", "regret"],
            [_floor_row(standing, name) for name in standing.by_net()],
        )
    total = len(board.standings)
    if total > 1:
        print_table(
            f"All policies, {board.runs:,} runs on each floor, {board.conventions}:",
            ["policy", "mean captured", "least", "below keep-team", "wins"],
            [
                [
                    _starred(board.standings[0], name),
                    _share(board.captured(name)),
                    _share(min(board.shares_captured(name), default=None)),
                    f"{sum(share < 0.0 for share in board.shares_captured(name))} of {total}",
                    f"{board.wins()[name]} of {total}" if not board.is_oracle(name) else "–",
                ]
                for name in board.by_captured()
            ],
        )
    print(
        "Net: expected output of those present, less fees, mean ± SE.\n"
        "Captured: share of the oracle's gain over keep-team. Worse: share of worlds with less net than keep-team.\n"
        "* knows what is hidden and does not compete."
    )


def _floor_row(standing: "SettingStandings", name: str) -> list[str]:
    entry = standing.entries[name]
    score = entry.floor
    assert score is not None  # every entry of a floor has one
    share = "–" if score.captured is None else f"{score.captured.mean:.2f} ± {score.captured.stderr:.2f}"
    return [
        _starred(standing, name),
        f"{score.net.mean:,.1f} ± {score.net.stderr:,.1f}",
        share,
        f"{score.worse:.0%}",
        f"{entry.regret.mean:,.1f}",
    ]


def _starred(standing: "SettingStandings", name: str) -> str:
    return f"{name} *" if standing.entries[name].oracle else name


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def _print_stationary(board: "Leaderboard") -> None:
    from crewlearn.study.families import FAMILIES

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
                _starred(standings[0], name),
                "–" if (score := summary[name]) is None else f"{score:.2f}",
                f"{wins[name]} of {total}" if not board.is_oracle(name) else "–",
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
