"""`crewlearn limit`: what no policy can do better than."""

from typing import Annotated

import typer

from crewlearn.cli.options import JsonOption, PolicyOption, ProblemOption, SeedOption, read_problem_option
from crewlearn.cli.output import plain_errors, print_json, print_table, progress_bar

METHODS = {
    "learning": "Means have to be learned; each pool is drawn anew.",
    "foresight": "The bound allows a policy to know all means beforehand, as it may where every run has the same pool. "
    "With per_run = true in [workers] it is tighter.",
}
LEAVERS = {
    "named": "It holds for policies that name who leaves when they ask for a hire; --leavers open covers all.",
    "open": "It holds for all policies, also those that leave open until arrival who makes room.",
}
BELOW = (
    "The oracle, and policies that buy interviews, know more than the limit allows for, and may lie below it. So may "
    "dr-ucb+late-pairing, unless leavers are open."
)


def limit_command(
    problem: ProblemOption = None,
    policy: PolicyOption = None,
    pools: Annotated[int, typer.Option(help="Pools that the bound is averaged over.")] = 200,
    runs: Annotated[int, typer.Option(help="Simulated runs per policy.")] = 500,
    seed: SeedOption = 1,
    leavers: Annotated[
        str,
        typer.Option(
            help="Policies covered: named (they name the leaver with the hire) or open (all; a weaker bound)."
        ),
    ] = "named",
    json: JsonOption = False,
) -> None:
    """Bound from below the regret of any policy, however clever, and show how close policies come.

    Without --policy, the value rules and DR-UCB are played.
    """
    with plain_errors():
        from crewlearn.engine.local import prepare
        from crewlearn.study.limit.bound import check_reach, limit
        from crewlearn.study.limit.standing import PUBLISHED, standings, to_play

        whole_problem = read_problem_option(problem)
        check_reach(whole_problem)
        simulation = prepare(whole_problem, to_play(policy or PUBLISHED), runs, seed)
        simulation.compile()  # before the bound, which takes longer: what cannot be played is said at once
        with progress_bar("bounding, pools", pools) as done:
            found = limit(whole_problem, pools, seed, leavers, progress=done)
        rows = standings(found, simulation.run())
    if json:
        print_json({**found.to_json(), "runs": runs, "policies": {row.policy: row.to_json() for row in rows}})
        return
    setting, regret, earned = whole_problem.setting, found.regret, found.earned
    print(
        f"Team of {setting.team} from {setting.workers} workers, {whole_problem.horizon} periods, fee "
        f"{setting.cost:g}, mean delay {setting.mean_delay:g}.\n"
        f"No policy has a mean regret below {regret.mean:,.1f} ± {regret.stderr:,.1f} (SE over {pools} pools), "
        f"nor earns more than {earned.mean:,.0f}.\n{METHODS[found.method]}\n{LEAVERS[found.leavers]}"
    )
    table = [
        [
            row.policy,
            f"{row.regret.mean:,.1f} ± {row.regret.stderr:,.1f}",
            "–" if row.above is None else f"{row.above:+.0%}",
            "–" if row.gap_left is None else f"{row.gap_left:.0%}",
        ]
        for row in rows
    ]
    print()
    print_table(f"Regret, mean ± SE over {runs} runs:", ["policy", "regret", "above limit", "gap left"], table)
    print(f"Gap left: 0% at the limit, 100% at keep-team. {BELOW}")
