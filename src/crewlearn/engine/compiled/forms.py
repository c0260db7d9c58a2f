"""Conversion of problems and policies to the named tuples that the compiled loops take."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from crewlearn.beliefs.estimates import Prior
from crewlearn.engine.compiled.floor_kernel import FloorProblem, play_floor_runs
from crewlearn.engine.compiled.kernel import NO_INTERVIEW, PolicyForm, ProblemForm, play_runs
from crewlearn.policies.brakes import Braked, Brakes
from crewlearn.policies.contract import NOTHING_HIDDEN, Policy
from crewlearn.policies.rule import Ruled
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.floor import floor_form
from crewlearn.problem.laws.own import Draw
from crewlearn.problem.model import Problem


def needs_floor(policy: Policy[Any], problem: Problem) -> bool:
    """Return whether a policy must be played in the loop over changing floors."""
    return problem.changes or problem.output.own_draw() is not None or Brakes.of(policy) != Brakes()


def loop_body(policy: Policy[Any], problem: Problem) -> Callable[..., None]:
    """Return the loop that plays a policy in a problem."""
    return play_floor_runs if needs_floor(policy, problem) else play_runs


def own_laws(problem: Problem) -> dict[str, Draw]:
    """Return the functions of a user's own by which laws draw, by the part of the problem that has them."""
    steps = None if problem.drift is None else problem.drift.own_step()
    draws = {"output": problem.output.own_draw(), "delay": problem.delay.own_draw(), "drift": steps}
    return {part: draw for part, draw in draws.items() if draw is not None}


def loop_problem(policy: Policy[Any], problem: Problem) -> ProblemForm | FloorProblem:
    """Return the problem as the loop that plays a policy takes it."""
    if not needs_floor(policy, problem):
        return problem_form(problem)
    periods = range(1, problem.horizon - problem.warmup + 1)
    told = np.array([problem.setting_in(period).horizon for period in periods], dtype=np.int64)
    return FloorProblem(problem_form(problem), floor_form(problem), told)


def problem_form(problem: Problem) -> ProblemForm:
    """Return the problem as the compiled loop takes it."""
    setting = problem.setting
    counts, sums, squares = problem.seen_before()
    return ProblemForm(
        workers=setting.workers,
        team=setting.team,
        horizon=problem.horizon,
        cost=setting.cost,
        mean_delay=setting.mean_delay,
        paid_on_completion=problem.fee_due == "completion",
        output=problem.output.form(),
        delay=problem.delay.form(setting.workers),
        seen_counts=counts,
        seen_sums=sums,
        seen_squares=squares,
        prior=Prior(*problem.unknown_spread()),
        stations=np.array(problem.first_stations, dtype=np.int64),
        may_enter=problem.may_enter(),
        may_leave=problem.may_leave(),
    )


def policy_form(policy: Policy[Any], problem: Problem) -> PolicyForm:
    """Return a policy that names a rule, as the compiled loop takes it."""
    setting, brakes = problem.setting, Brakes.of(policy)
    interview = policy.interview(setting)
    return PolicyForm(
        parameters=parameters_of(policy, problem),
        rho=NO_INTERVIEW if interview is None else float(interview.rho),
        interview_fee=0.0 if interview is None else float(interview.fee),
        oracle=bool(policy.oracle),
        delay_shown=problem.delay.form(setting.workers) if policy.oracle else NOTHING_HIDDEN.delay_form,
        refilled=bool(policy.refilled),
        least_tenure=int(brakes.least_tenure),
        most_a_week=int(brakes.most_a_week),
    )


def parameters_of(policy: Policy[Any], problem: Problem) -> Any:
    """Return the parameters of a policy's rule.

    Where the horizon that policies are told moves, arrays with one entry get one a period.
    """
    ruled = cast(Ruled, policy.policy if isinstance(policy, Braked) else policy)
    if problem.rolling is None:
        return ruled.parameters(problem.setting)
    periods = range(1, problem.horizon - problem.warmup + 1)
    return _stacked(policy.name, [ruled.parameters(problem.setting_in(period)) for period in periods])


def _stacked(name: str, every: list[Any]) -> Any:
    """Return the parameters of all periods as one named tuple."""
    first = every[0]
    columns = {}
    for field in first._fields:
        values = [getattr(parameters, field) for parameters in every]
        if hasattr(values[0], "_fields"):
            columns[field] = _stacked(name, values)
        elif isinstance(values[0], np.ndarray) and values[0].shape == (1,):
            columns[field] = np.concatenate(values)
        elif all(value is values[0] or np.array_equal(value, values[0]) for value in values):
            columns[field] = values[0]
        else:
            remedy = "depends on the horizon, which moves here; make it an array with one entry, read by period"
            raise InvalidInput(f"policy {name} parameter {field}", values[0], remedy)
    return type(first)(**columns)
