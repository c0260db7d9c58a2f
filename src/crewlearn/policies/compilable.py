"""Whether a policy can be compiled: whether a rule describes all that it does."""

from typing import Any

from crewlearn.policies.brakes import Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.rule import Rule

PLAYED = ("start", "decide", "assign", "observe", "revise")
"""The methods of a policy that its rule replaces."""


def rule_of(policy: Policy[Any]) -> Rule | None:
    """Return the policy's rule, or None if the policy must be played in plain Python.

    A rule replaces the methods of the class that names it. If a subclass overrides one of them, the rule no longer
    describes the policy. Brakes act in the loop, on the rule of the policy that they hold back.
    """
    if isinstance(policy, Braked):
        return rule_of(policy.policy)
    for kind in type(policy).__mro__:
        rule = vars(kind).get("rule")
        if rule is not None:
            return rule if isinstance(rule, Rule) else None
        if any(name in vars(kind) for name in PLAYED):
            return None
    return None
