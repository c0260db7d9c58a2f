"""Conversion of problems and policies to the named tuples that the compiled loop takes."""

from typing import Any, cast

import numpy as np

from crewlearn.beliefs.estimates import Prior
from crewlearn.engine.compiled.kernel import NO_INTERVIEW, PolicyForm, ProblemForm
from crewlearn.policies.contract import NOTHING_HIDDEN, Policy
from crewlearn.policies.rule import Rule, Ruled
from crewlearn.problem.model import Problem

PLAYED = ("start", "decide", "assign", "observe")
"""The methods of a policy that its rule replaces."""


def rule_of(policy: Policy[Any]) -> Rule | None:
    """Return the policy's rule, or None if the policy must be played in plain Python.

    A rule replaces the methods of the class that names it. If a subclass overrides one of them, the rule no longer
    describes the policy.
    """
    for kind in type(policy).__mro__:
        rule = vars(kind).get("rule")
        if rule is not None:
            return rule if isinstance(rule, Rule) else None
        if any(name in vars(kind) for name in PLAYED):
            return None
    return None


def problem_form(problem: Problem) -> ProblemForm:
    """Return the problem as the compiled loop takes it."""
    setting = problem.setting
    counts, sums, squares = problem.seen_before()
    return ProblemForm(
        workers=setting.workers,
        team=setting.team,
        horizon=setting.horizon,
        cost=setting.cost,
        mean_delay=setting.mean_delay,
        paid_on_completion=problem.fee_due == "completion",
        output=problem.output.form(),
        delay=problem.delay.form(setting.workers),
        seen_counts=counts,
        seen_sums=sums,
        seen_squares=squares,
        prior=Prior(*problem.unknown_spread()),
        stations=np.array([] if problem.start is None else problem.start.stations, dtype=np.int64),
        may_enter=problem.may_enter(),
        may_leave=problem.may_leave(),
    )


def policy_form(policy: Policy[Any], problem: Problem) -> PolicyForm:
    """Return a policy that names a rule, as the compiled loop takes it."""
    setting = problem.setting
    interview = policy.interview(setting)
    return PolicyForm(
        parameters=cast(Ruled, policy).parameters(setting),
        rho=NO_INTERVIEW if interview is None else float(interview.rho),
        interview_fee=0.0 if interview is None else float(interview.fee),
        oracle=bool(policy.oracle),
        delay_shown=problem.delay.form(setting.workers) if policy.oracle else NOTHING_HIDDEN.delay_form,
    )
