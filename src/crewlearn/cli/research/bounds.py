"""`crewlearn bounds`: the paper's bounds in a setting."""

from typing import Annotated

import typer

from crewlearn.cli.options import JsonOption, ProblemOption, read_problem_option
from crewlearn.cli.output import plain_errors, print_json, print_table


def bounds_command(
    problem: ProblemOption = None,
    gamma: Annotated[float | None, typer.Option(help="Pace of replacement; by default gamma*.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the regret bound with its terms, the lower bound's rate, and the choices of gamma."""
    with plain_errors():
        from crewlearn.problem.errors import InvalidInput
        from crewlearn.theory.bounds import cost_growth, cycles_bound, minimax_lower_bound, regret_bound, trivial_bound
        from crewlearn.theory.gamma import bound_holds, gamma1, gamma2, gamma_star

        setting = read_problem_option(problem).setting
        pace = gamma_star(setting) if gamma is None else gamma
        if pace == 0.0 and gamma is None:
            raise InvalidInput("gamma*", pace, "without cost and delay no gamma above 0 is best; give --gamma")
        bound = regret_bound(setting, pace)
        choices = {"gamma1": gamma1(setting), "gamma2": gamma2(setting), "gamma*": gamma_star(setting)}
        lower, affordable = minimax_lower_bound(setting), cost_growth(setting)
        cycles, trivial, holds = cycles_bound(setting, pace), trivial_bound(setting, pace), bound_holds(setting)
    if json:
        print_json(
            {
                "setting": vars(setting),
                "gamma": pace,
                "gamma_choices": choices,
                "regret_bound": {**bound.terms(), "total": bound.total},
                "trivial_bound": trivial,
                "derivation_holds": holds,
                "cycles_bound": cycles,
                "minimax_lower_bound": {"rate": lower.rate, "up_to_constant": True},
                "cost_growth": {"rate": affordable.rate, "up_to_constant": True},
            }
        )
        return
    print_table(
        f"Team of {setting.team} from {setting.workers} workers, {setting.horizon} periods, fee {setting.cost:g}, "
        f"mean delay {setting.mean_delay:g}.\nBound on the regret of DR-UCB at gamma = {pace:.2f}:",
        ["term", "value"],
        [
            *([name.replace("_", " "), f"{value:,.1f}"] for name, value in bound.terms().items()),
            ["total", f"{bound.total:,.1f}"],
        ],
    )
    print(
        f"At most {cycles:,.1f} cycles. " + ", ".join(f"{name} = {value:,.2f}" for name, value in choices.items()) + "."
    )
    if bound.total >= trivial:
        print(f"The bound is uninformative here: regret cannot exceed {trivial:,.1f} in any case.")
    if not holds:
        print("Its derivation needs m T >= (k-m) log T, so gamma* does not minimise a valid bound here.")
    print(f"No policy beats {lower.rate:,.1f} on every instance, {lower.unit}.")
    print(f"The rate holds for fees up to {affordable.rate:,.2f}, {affordable.unit}.")
