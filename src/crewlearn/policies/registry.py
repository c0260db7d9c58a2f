"""The registry of policies by name, with the parameters that the two conventions preset.

Beside those of crewlearn, a name may be that of another package's policy (`installed`), or `module:Class`.
"""

import dataclasses
import importlib
import os
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from crewlearn.policies.baselines import KeepTeam, Oracle
from crewlearn.policies.brakes import Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.dr_ucb.tuned import TunedDRUCB
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.installed import check_clash, installed, load_installed
from crewlearn.policies.posterior.knowledge_gradient import KnowledgeGradient
from crewlearn.policies.posterior.thompson import Thompson
from crewlearn.policies.teams.aht import AAHT
from crewlearn.policies.teams.omm import AOMM
from crewlearn.policies.teams.screening import InterviewScreen, WorkTrial
from crewlearn.policies.teams.simple import EpsilonGreedy, FixedScheduleGreedy, Threshold
from crewlearn.policies.value.policy import ValueOfReplacement, ValueOfReplacement2
from crewlearn.problem.errors import InvalidInput, unknown_name
from crewlearn.problem.instances import check_conventions
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class Entry:
    """A registered policy: its class, a one-line description, fixed parameters, and presets by convention."""

    policy: type[Policy[Any]]
    line: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_DR_UCB = {
    "as-written": {"radius": "log-T", "pairing": "rank-lcb"},
    "as-released": {"radius": "log-t", "pairing": "rank-ucb"},
}

_SCREENING = {
    "as-written": {"interview_cost": "once"},
    "as-released": {"interview_cost": "per-candidate"},
}

REGISTRY: Mapping[str, Entry] = {
    "dr-ucb": Entry(DRUCB, "the paper's policy: adaptive timing, constrained selection, rank matching", {}, _DR_UCB),
    "dr-ucb-tuned": Entry(
        TunedDRUCB, "DR-UCB with the gamma that earned most in simulations of the problem", {}, _DR_UCB
    ),
    "dr-ucb-v": Entry(
        DRUCB,
        "DR-UCB with a radius that uses the observed variance",
        {"radius": "empirical-bernstein"},
        _DR_UCB,
    ),
    "dr-ucb+fixed-calendar": Entry(
        DRUCB, "DR-UCB deciding on dates fixed at the start", {"timing": "fixed-calendar"}, _DR_UCB
    ),
    "dr-ucb-without-screening": Entry(
        DRUCB, "DR-UCB aiming at the top m UCBs, whatever the fee", {"selection": "top-m"}, _DR_UCB
    ),
    "dr-ucb+random-pairing": Entry(DRUCB, "DR-UCB pairing at random", {"pairing": "random"}, _DR_UCB),
    "dr-ucb+oracle-delayed-pairing": Entry(
        DRUCB, "DR-UCB pairing with knowledge of true means and delays", {"pairing": "oracle"}, _DR_UCB
    ),
    "dr-ucb+late-pairing": Entry(
        DRUCB, "DR-UCB settling who leaves when the incoming worker arrives", {"pairing": "late"}, _DR_UCB
    ),
    "a-aht": Entry(
        AAHT,
        "Agrawal, Hegde and Teneketzis: one candidate at a time challenges the leaders, in blocks that grow",
        {},
        {"as-written": {"begin": "clean"}, "as-released": {"begin": "as-released"}},
    ),
    "a-omm": Entry(AOMM, "optimistic matroid maximisation: the m highest optimistic scores, every period"),
    "interview-screen": Entry(InterviewScreen, "hires the m best interview scores, for good", {}, _SCREENING),
    "work-trial": Entry(
        WorkTrial, "tries the 2m best interview scores, m at a time, and keeps the m best", {}, _SCREENING
    ),
    "epsilon-greedy": Entry(EpsilonGreedy, "tries someone at random now and then, less and less often"),
    "threshold": Entry(Threshold, "replaces whoever stays below a fixed level"),
    "fixed-schedule-greedy": Entry(FixedScheduleGreedy, "moves to the m best means on fixed dates, the untried first"),
    "value-of-replacement": Entry(
        ValueOfReplacement,
        "replaces where the expected gain over the periods left exceeds the fees, unless waiting gains more",
    ),
    "value-of-replacement-2": Entry(
        ValueOfReplacement2,
        "value of replacement for stations that go on searching after a failed trial",
    ),
    "value-of-replacement-evolving": Entry(
        ValueOfReplacementEvolving,
        "value of replacement for people who ramp up, drift and vary, on days that differ for everybody",
    ),
    "thompson": Entry(
        Thompson,
        "Thompson sampling: replaces where a sample from the posterior gains more than the fee over the periods left",
    ),
    "knowledge-gradient": Entry(
        KnowledgeGradient,
        "replaces where one more look is worth more at a worker outside, net of the fee, than at the worker in place",
    ),
    "keep-team": Entry(KeepTeam, "never replaces anyone"),
    "oracle": Entry(Oracle, "knows the means and replaces once, in period 1, where it pays"),
}
"""The registered policies by name."""

ALLOWED = "CREWLEARN_POLICIES"
"""The environment variable that names policies, beside crewlearn's, which users of a server may choose.

Names are separated by spaces or commas: those of installed packages, or `module:Class`.
"""

_BRAKES = {"least_tenure": int, "most_a_week": int | None}
"""The parameters that every policy takes, with their types."""


def make_policy(spec: str, conventions: str = "as-written") -> Policy[Any]:
    """Build a policy from its name and parameters; explicit parameters override the conventions.

    Your own class is named `module:Class`, with parameters after another colon; `module:object` is a policy that the
    module has made. Policies of other installed packages have the names of their entry points. Every policy takes the
    brakes `least_tenure` and `most_a_week` as parameters too, which act in a simulation.

    >>> make_policy("dr-ucb:gamma=20,radius=log-t").radius
    'log-t'
    >>> make_policy("dr-ucb", conventions="as-released").pairing
    'rank-ucb'
    >>> make_policy("value-of-replacement:least_tenure=20,most_a_week=2").most_a_week
    2
    """
    check_conventions(conventions)
    name, rest = split_spec(spec)
    entry = REGISTRY.get(name)
    made = _found(name) if entry is None else entry.policy
    kind = made if isinstance(made, type) else type(made)
    given = _parameters(name, kind, rest)
    own = {item.name for item in dataclasses.fields(kind)}
    brakes = {key: value for key, value in given.items() if key not in own}
    parameters = {key: value for key, value in given.items() if key in own}
    if entry is not None:
        check_clash(name, REGISTRY)
        parameters = {**entry.presets.get(conventions, {}), **entry.fixed, **parameters}
    try:
        policy = made(**parameters) if isinstance(made, type) else dataclasses.replace(made, **parameters)
    except TypeError as error:  # a user's own class with missing parameters or methods
        raise InvalidInput("policy", spec, f"cannot be built: {error}") from error
    return Braked(policy, **brakes) if brakes else policy


def split_spec(spec: str) -> tuple[str, str]:
    """Split a policy's specification into its name (or module:Class) and its parameters.

    >>> split_spec("dr-ucb:gamma=20"), split_spec("mine:Patient:least=5")
    (('dr-ucb', 'gamma=20'), ('mine:Patient', 'least=5'))
    """
    name, _, rest = spec.partition(":")
    if name in REGISTRY or not rest or (name in installed() and "=" in rest.partition(":")[0]):
        return name, rest
    class_name, _, rest = rest.partition(":")
    return f"{name}:{class_name}", rest


def known_policies() -> tuple[str, ...]:
    """Return the names of all policies: those of crewlearn, then those of other installed packages.

    >>> known_policies()[0]
    'dr-ucb'
    """
    return tuple(dict.fromkeys([*REGISTRY, *sorted(installed())]))


def line_of(spec: str) -> str:
    """Return the line about a policy: from the registry, or the first one of a class's docstring.

    >>> line_of("keep-team")
    'never replaces anyone'
    """
    name = split_spec(spec)[0]
    if name in REGISTRY:
        return REGISTRY[name].line
    made = _found(name)
    kind = made if isinstance(made, type) else type(made)
    first = (kind.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    generated = first.startswith(f"{kind.__name__}(")  # what dataclasses write where there is no docstring
    return "a policy of one's own" if generated or not first else first


def with_parameters(spec: str, parameters: Mapping[str, Any]) -> str:
    """Return the policy's specification with some parameters replaced.

    >>> with_parameters("dr-ucb:gamma=20,radius=log-t", {"gamma": 5})
    'dr-ucb:radius=log-t,gamma=5'
    """
    name, rest = split_spec(spec) if ":" in spec else (spec, "")
    kept = [item for item in rest.split(",") if item and item.partition("=")[0].strip() not in parameters]
    return f"{name}:{','.join([*kept, *(f'{key}={_text(value)}' for key, value in parameters.items())])}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def is_tuned_by_simulation(policy: Policy[Any]) -> bool:
    """Return whether a policy is chosen among candidates by simulating the problem, as in any setting."""
    return bool(policy.candidates(Setting(workers=2, team=1, horizon=2, cost=1.0, mean_delay=1.0)))


def allowed_policies() -> tuple[str, ...]:
    """Return the policies, beside those of crewlearn, that the operator lets users of a server choose.

    >>> allowed_policies()
    ()
    """
    return tuple(dict.fromkeys(os.environ.get(ALLOWED, "").replace(",", " ").split()))


def allow_policies(names: Sequence[str]) -> None:
    """Let users of a server choose these policies too; refuse those that no site can use."""
    for name in names:
        if split_spec(name)[1]:
            raise InvalidInput("allow_policy", name, "allow a policy without parameters; who chooses it sets these")
        try:
            policy = make_policy(name)
        except InvalidInput as error:
            raise InvalidInput("allow_policy", name, error.remedy) from error
        if policy.oracle or is_tuned_by_simulation(policy):
            raise InvalidInput("allow_policy", name, "needs true means, which no site knows; leave it out")
    os.environ[ALLOWED] = " ".join(names)


def live_policies() -> Mapping[str, str]:
    """Return the descriptions, by name, of the policies that a live site can use.

    Oracles and policies that are tuned by simulation need what no firm knows. What the operator allows comes last.

    >>> "dr-ucb" in live_policies(), "oracle" in live_policies()
    (True, False)
    """
    return _live(allowed_policies())


@cache
def _live(allowed: tuple[str, ...]) -> Mapping[str, str]:
    policies = {name: make_policy(name) for name in REGISTRY}
    own = [name for name, policy in policies.items() if not policy.oracle and not is_tuned_by_simulation(policy)]
    return {name: line_of(name) for name in dict.fromkeys([*own, *allowed])}


def registered(field: str, spec: str, own: str | None = None) -> str:
    """Check that a policy is crewlearn's, allowed by the operator, or the site's `own`, and return it.

    Others are refused, because `module:Class` imports the module and callers of a server must not.
    """
    name = split_spec(spec)[0]
    if spec != own and name not in REGISTRY and name not in allowed_policies():
        if name in installed():
            remedy = f"is not allowed here; let the operator start the server with --allow-policy {name}"
            raise InvalidInput(field, name, remedy)
        raise unknown_name(field, spec.partition(":")[0], live_policies())
    return spec


def _found(name: str) -> type[Policy[Any]] | Policy[Any]:
    """Return the class, or the policy, that the name of an installed package's policy or module:Class stands for."""
    module, _, class_name = name.partition(":")
    if name in installed():
        check_clash(name, REGISTRY)
        found = load_installed(name)
    elif class_name:
        try:
            found = getattr(importlib.import_module(module), class_name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            remedy = f"is neither a registered name ({', '.join(known_policies())}) nor module:Class ({error})"
            raise InvalidInput("policy", name, remedy) from error
    else:
        raise unknown_name("policy", name, known_policies())
    if not isinstance(found, Policy) and not (isinstance(found, type) and issubclass(found, Policy)):
        raise InvalidInput("policy", name, "the class must derive from crewlearn.Policy")
    return found


def _parameters(name: str, policy: type[Policy[Any]], text: str) -> dict[str, Any]:
    hints = typing.get_type_hints(policy)
    known = {**_BRAKES, **{item.name: hints[item.name] for item in dataclasses.fields(policy)}}
    parameters = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = item.partition("=")
        if not equals:
            raise InvalidInput(f"policy {name}", item, "parameters are written name=value")
        if key in parameters:
            raise InvalidInput(f"policy {name} parameter", key, "is given twice")
        if key not in known:
            raise unknown_name(f"policy {name} parameter", key, known)
        parameters[key] = _parse(f"policy {name} parameter {key}", known[key], value)
    return parameters


def _parse(field_name: str, kind: Any, text: str) -> Any:
    kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in kinds and text.lower() == "none":
        return None
    if bool in kinds:
        if text.lower() not in ("true", "false"):
            raise InvalidInput(field_name, text, "must be true or false")
        return text.lower() == "true"
    for number in (int, float):
        if number in kinds:
            try:
                return number(text)
            except ValueError:
                expected = "a whole number" if number is int else "a number"
                raise InvalidInput(field_name, text, f"must be {expected}") from None
    return text
