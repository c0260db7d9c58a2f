"""crewlearn: learn whom to keep and whom to replace in a contingent workforce.

The public names below are imported on first use, so that `import crewlearn` stays cheap.
"""

import importlib
from typing import TYPE_CHECKING

from crewlearn.gymnasium_ids import register_environments

__version__ = "0.1.0"

_HOME = {
    "InvalidInput": "problem.errors",
    "MissingExtra": "problem.extras",
    "Setting": "problem.model",
    "Problem": "problem.model",
    "Pool": "problem.model",
    "Start": "problem.model",
    "OutputLaw": "problem.laws.output",
    "UniformOutput": "problem.laws.output",
    "BernoulliOutput": "problem.laws.output",
    "TruncatedNormalOutput": "problem.laws.output",
    "BetaOutput": "problem.laws.output",
    "DelayLaw": "problem.laws.delay",
    "NoDelay": "problem.laws.delay",
    "FixedDelay": "problem.laws.delay",
    "GeometricDelay": "problem.laws.delay",
    "AvailabilityDelay": "problem.laws.delay",
    "UniformDelay": "problem.laws.delay",
    "LevelPath": "problem.people",
    "Ramp": "problem.people",
    "Drift": "problem.people",
    "Presence": "problem.people",
    "Recipe": "problem.recipes",
    "Estimated": "problem.recipes",
    "Stars": "problem.recipes",
    "Script": "problem.script",
    "Roster": "problem.roster",
    "NOBODY": "problem.arrays",
    "read_problem": "problem.toml",
    "problem_from_toml": "problem.toml",
    "problem_to_toml": "problem.toml",
    "benchmark": "problem.instances",
    "gamma1": "theory.gamma",
    "gamma2": "theory.gamma",
    "gamma_star": "theory.gamma",
    "bound_holds": "theory.gamma",
    "regret_bound": "theory.bounds",
    "instance_bound": "theory.bounds",
    "RegretBound": "theory.bounds",
    "InstanceBound": "theory.bounds",
    "UpToConstant": "theory.bounds",
    "trivial_bound": "theory.bounds",
    "instance_limit": "theory.bounds",
    "minimax_lower_bound": "theory.bounds",
    "instance_lower_limit": "theory.bounds",
    "cost_growth": "theory.bounds",
    "cycles_bound": "theory.bounds",
    "expected_cycles_bound": "theory.bounds",
    "Estimates": "beliefs.estimates",
    "Prior": "beliefs.estimates",
    "Policy": "policies.contract",
    "Situation": "policies.contract",
    "Report": "policies.contract",
    "Interview": "policies.contract",
    "Hidden": "policies.contract",
    "Foresight": "policies.contract",
    "Reason": "policies.explanations",
    "PolicyWait": "policies.explanations",
    "Level": "policies.explanations",
    "Rule": "policies.rule",
    "RuleFacts": "policies.rule",
    "RulePolicy": "policies.rule",
    "Happened": "policies.rule",
    "NoMemory": "policies.rule",
    "no_memory": "policies.rule",
    "DRUCB": "policies.dr_ucb.policy",
    "TunedDRUCB": "policies.dr_ucb.tuned",
    "ValueOfReplacement": "policies.value.policy",
    "ValueOfReplacement2": "policies.value.policy",
    "ValueOfReplacementEvolving": "policies.evolving.policy",
    "Thompson": "policies.posterior.thompson",
    "KnowledgeGradient": "policies.posterior.knowledge_gradient",
    "AAHT": "policies.teams.aht",
    "AOMM": "policies.teams.omm",
    "InterviewScreen": "policies.teams.screening",
    "WorkTrial": "policies.teams.screening",
    "EpsilonGreedy": "policies.teams.simple",
    "Threshold": "policies.teams.simple",
    "FixedScheduleGreedy": "policies.teams.simple",
    "KeepTeam": "policies.baselines",
    "Oracle": "policies.baselines",
    "Braked": "policies.brakes",
    "AgentPolicy": "policies.learned.policy",
    "LinearAgent": "policies.learned.linear",
    "make_policy": "policies.registry",
    "check_policy": "policies.checks",
    "PolicyFault": "policies.checks",
    "World": "engine.world",
    "play": "engine.interpreted",
    "Step": "engine.interpreted",
    "simulate": "engine.local",
    "PairedDifference": "engine.results",
    "PolicyResult": "engine.results",
    "Curve": "engine.results",
    "Share": "engine.results",
    "SimulationResult": "engine.results",
    "Summary": "engine.results",
    "Sweep": "engine.sweep",
    "Cell": "engine.sweep",
    "Grid": "engine.sweep.cells",
    "plan_cells": "engine.sweep",
    "run_sweep": "engine.sweep",
    "ReplacementEnv": "engine.gym.scaled",
    "ReplacementVectorEnv": "engine.gym.vector",
    "train_agent": "engine.gym.training",
    "Training": "engine.gym.training",
    "trace": "engine.trace",
    "write_trace": "engine.trace",
    "reproduce": "study.studies",
    "Outcome": "study.outcome",
    "leaderboard": "study.leaderboard",
    "Leaderboard": "study.leaderboard",
    "SettingStandings": "study.leaderboard",
    "PolicyScore": "study.leaderboard",
    "FloorScore": "study.leaderboard",
    "limit": "study.limit.bound",
    "Limit": "study.limit.bound",
    "FAMILIES": "study.families",
    "Family": "study.families",
}
"""The module of each public name; type checkers read the same from the imports below."""

if TYPE_CHECKING:
    from crewlearn.beliefs.estimates import Estimates as Estimates
    from crewlearn.beliefs.estimates import Prior as Prior
    from crewlearn.engine.gym.scaled import ReplacementEnv as ReplacementEnv
    from crewlearn.engine.gym.training import Training as Training
    from crewlearn.engine.gym.training import train_agent as train_agent
    from crewlearn.engine.gym.vector import ReplacementVectorEnv as ReplacementVectorEnv
    from crewlearn.engine.interpreted import Step as Step
    from crewlearn.engine.interpreted import play as play
    from crewlearn.engine.local import simulate as simulate
    from crewlearn.engine.results import Curve as Curve
    from crewlearn.engine.results import PairedDifference as PairedDifference
    from crewlearn.engine.results import PolicyResult as PolicyResult
    from crewlearn.engine.results import Share as Share
    from crewlearn.engine.results import SimulationResult as SimulationResult
    from crewlearn.engine.results import Summary as Summary
    from crewlearn.engine.sweep import Cell as Cell
    from crewlearn.engine.sweep import Sweep as Sweep
    from crewlearn.engine.sweep import plan_cells as plan_cells
    from crewlearn.engine.sweep import run_sweep as run_sweep
    from crewlearn.engine.sweep.cells import Grid as Grid
    from crewlearn.engine.trace import trace as trace
    from crewlearn.engine.trace import write_trace as write_trace
    from crewlearn.engine.world import World as World
    from crewlearn.policies.baselines import KeepTeam as KeepTeam
    from crewlearn.policies.baselines import Oracle as Oracle
    from crewlearn.policies.brakes import Braked as Braked
    from crewlearn.policies.checks import PolicyFault as PolicyFault
    from crewlearn.policies.checks import check_policy as check_policy
    from crewlearn.policies.contract import Foresight as Foresight
    from crewlearn.policies.contract import Hidden as Hidden
    from crewlearn.policies.contract import Interview as Interview
    from crewlearn.policies.contract import Policy as Policy
    from crewlearn.policies.contract import Report as Report
    from crewlearn.policies.contract import Situation as Situation
    from crewlearn.policies.dr_ucb.policy import DRUCB as DRUCB
    from crewlearn.policies.dr_ucb.tuned import TunedDRUCB as TunedDRUCB
    from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving as ValueOfReplacementEvolving
    from crewlearn.policies.explanations import Level as Level
    from crewlearn.policies.explanations import PolicyWait as PolicyWait
    from crewlearn.policies.explanations import Reason as Reason
    from crewlearn.policies.learned.linear import LinearAgent as LinearAgent
    from crewlearn.policies.learned.policy import AgentPolicy as AgentPolicy
    from crewlearn.policies.posterior.knowledge_gradient import KnowledgeGradient as KnowledgeGradient
    from crewlearn.policies.posterior.thompson import Thompson as Thompson
    from crewlearn.policies.registry import make_policy as make_policy
    from crewlearn.policies.rule import Happened as Happened
    from crewlearn.policies.rule import NoMemory as NoMemory
    from crewlearn.policies.rule import Rule as Rule
    from crewlearn.policies.rule import RuleFacts as RuleFacts
    from crewlearn.policies.rule import RulePolicy as RulePolicy
    from crewlearn.policies.rule import no_memory as no_memory
    from crewlearn.policies.teams.aht import AAHT as AAHT
    from crewlearn.policies.teams.omm import AOMM as AOMM
    from crewlearn.policies.teams.screening import InterviewScreen as InterviewScreen
    from crewlearn.policies.teams.screening import WorkTrial as WorkTrial
    from crewlearn.policies.teams.simple import EpsilonGreedy as EpsilonGreedy
    from crewlearn.policies.teams.simple import FixedScheduleGreedy as FixedScheduleGreedy
    from crewlearn.policies.teams.simple import Threshold as Threshold
    from crewlearn.policies.value.policy import ValueOfReplacement as ValueOfReplacement
    from crewlearn.policies.value.policy import ValueOfReplacement2 as ValueOfReplacement2
    from crewlearn.problem.arrays import NOBODY as NOBODY
    from crewlearn.problem.errors import InvalidInput as InvalidInput
    from crewlearn.problem.extras import MissingExtra as MissingExtra
    from crewlearn.problem.instances import benchmark as benchmark
    from crewlearn.problem.laws.delay import AvailabilityDelay as AvailabilityDelay
    from crewlearn.problem.laws.delay import DelayLaw as DelayLaw
    from crewlearn.problem.laws.delay import FixedDelay as FixedDelay
    from crewlearn.problem.laws.delay import GeometricDelay as GeometricDelay
    from crewlearn.problem.laws.delay import NoDelay as NoDelay
    from crewlearn.problem.laws.delay import UniformDelay as UniformDelay
    from crewlearn.problem.laws.output import BernoulliOutput as BernoulliOutput
    from crewlearn.problem.laws.output import BetaOutput as BetaOutput
    from crewlearn.problem.laws.output import OutputLaw as OutputLaw
    from crewlearn.problem.laws.output import TruncatedNormalOutput as TruncatedNormalOutput
    from crewlearn.problem.laws.output import UniformOutput as UniformOutput
    from crewlearn.problem.model import Pool as Pool
    from crewlearn.problem.model import Problem as Problem
    from crewlearn.problem.model import Setting as Setting
    from crewlearn.problem.model import Start as Start
    from crewlearn.problem.people import Drift as Drift
    from crewlearn.problem.people import LevelPath as LevelPath
    from crewlearn.problem.people import Presence as Presence
    from crewlearn.problem.people import Ramp as Ramp
    from crewlearn.problem.recipes import Estimated as Estimated
    from crewlearn.problem.recipes import Recipe as Recipe
    from crewlearn.problem.recipes import Stars as Stars
    from crewlearn.problem.roster import Roster as Roster
    from crewlearn.problem.script import Script as Script
    from crewlearn.problem.toml import problem_from_toml as problem_from_toml
    from crewlearn.problem.toml import problem_to_toml as problem_to_toml
    from crewlearn.problem.toml import read_problem as read_problem
    from crewlearn.study.families import FAMILIES as FAMILIES
    from crewlearn.study.families import Family as Family
    from crewlearn.study.leaderboard import FloorScore as FloorScore
    from crewlearn.study.leaderboard import Leaderboard as Leaderboard
    from crewlearn.study.leaderboard import PolicyScore as PolicyScore
    from crewlearn.study.leaderboard import SettingStandings as SettingStandings
    from crewlearn.study.leaderboard import leaderboard as leaderboard
    from crewlearn.study.limit.bound import Limit as Limit
    from crewlearn.study.limit.bound import limit as limit
    from crewlearn.study.outcome import Outcome as Outcome
    from crewlearn.study.studies import reproduce as reproduce
    from crewlearn.theory.bounds import InstanceBound as InstanceBound
    from crewlearn.theory.bounds import RegretBound as RegretBound
    from crewlearn.theory.bounds import UpToConstant as UpToConstant
    from crewlearn.theory.bounds import cost_growth as cost_growth
    from crewlearn.theory.bounds import cycles_bound as cycles_bound
    from crewlearn.theory.bounds import expected_cycles_bound as expected_cycles_bound
    from crewlearn.theory.bounds import instance_bound as instance_bound
    from crewlearn.theory.bounds import instance_limit as instance_limit
    from crewlearn.theory.bounds import instance_lower_limit as instance_lower_limit
    from crewlearn.theory.bounds import minimax_lower_bound as minimax_lower_bound
    from crewlearn.theory.bounds import regret_bound as regret_bound
    from crewlearn.theory.bounds import trivial_bound as trivial_bound
    from crewlearn.theory.gamma import bound_holds as bound_holds
    from crewlearn.theory.gamma import gamma1 as gamma1
    from crewlearn.theory.gamma import gamma2 as gamma2
    from crewlearn.theory.gamma import gamma_star as gamma_star
else:  # hidden from type checkers, which would let any misspelt name pass as `Any`
    __all__ = ["__version__", *_HOME]  # noqa: PLE0604  # the names are strings, built from the table above

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'crewlearn' has no attribute {name!r}")
        return getattr(importlib.import_module(f"crewlearn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOME])


register_environments()
