"""Problems and policies as the compiled loop takes them."""

from typing import Any

import numpy as np

from crewlearn.engine import kernel
from crewlearn.engine.kernel import PolicyForm, ProblemForm
from crewlearn.policies.adapted import AAHT, AOMM
from crewlearn.policies.baselines import KeepTeam, Oracle
from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb import DRUCB
from crewlearn.policies.screening import InterviewScreen, WorkTrial
from crewlearn.policies.simple import EpsilonGreedy, FixedScheduleGreedy, Threshold
from crewlearn.policies.team_policy import TeamPolicy
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Problem, Setting

KINDS: dict[type[Policy[Any]], int] = {
    KeepTeam: kernel.KEEP_TEAM,
    Oracle: kernel.ORACLE_POLICY,
    DRUCB: kernel.DR_UCB,
    AOMM: kernel.A_OMM,
    AAHT: kernel.A_AHT,
    InterviewScreen: kernel.INTERVIEW_SCREEN,
    WorkTrial: kernel.WORK_TRIAL,
    EpsilonGreedy: kernel.EPSILON_GREEDY,
    Threshold: kernel.THRESHOLD,
    FixedScheduleGreedy: kernel.FIXED_SCHEDULE,
    ValueOfReplacement: kernel.VALUE,
}
"""The policies that the loop knows, by class; any other is played period by period in plain Python."""


def problem_form(problem: Problem) -> ProblemForm:
    """Give a problem as the loop takes it."""
    setting = problem.setting
    counts, sums, squares = problem.seen_before()
    spared = squares == sums  # as with data whose spread nobody knows
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
        spared_counts=np.where(spared, counts, 0),
        spared_sums=np.where(spared, sums, 0.0),
        stations=np.array([] if problem.start is None else problem.start.stations, dtype=np.int64),
        may_enter=problem.may_enter(),
        may_leave=problem.may_leave(),
    )


def kind_of(policy: Policy[Any]) -> int | None:
    """Give the kind of a policy, or None if the loop does not know its class."""
    return KINDS.get(type(policy))


def policy_form(policy: Policy[Any], setting: Setting) -> PolicyForm:
    """Give a policy whose kind the loop knows as the loop takes it."""
    interview = policy.interview(setting)
    return PolicyForm(
        choices=(policy if isinstance(policy, DRUCB) else DRUCB()).choices(setting),
        parameters=_parameters(policy, setting),
        rho=kernel.NO_INTERVIEW if interview is None else float(interview.rho),
        interview_fee=0.0 if interview is None else float(interview.fee),
    )


def _parameters(policy: Policy[Any], setting: Setting) -> FloatArray:
    if isinstance(policy, ValueOfReplacement):
        return policy.parameters(setting)
    return policy.parameters() if isinstance(policy, TeamPolicy) else np.zeros(0)
