"""A policy of another package, with a rule, in 30 lines."""

from dataclasses import dataclass
from typing import Any

from crewlearn import NoMemory, Rule, RuleFacts, RulePolicy, no_memory


def decide(parameters: Any, memory: NoMemory, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    """Exchange the worst at work for the best outside, once the worst has been seen for long enough."""
    roster, seen = facts.roster, facts.estimates
    worst, best = -1, -1
    for worker in range(len(roster.role)):
        if roster.role[worker] != 0:  # in a pending exchange already
            continue
        level = seen.sums[worker] / max(1, seen.counts[worker])
        if roster.station_of[worker] >= 0:
            patient = seen.counts[worker] >= parameters.least and facts.may_leave[worker]
            if patient and (worst < 0 or level < seen.sums[worst] / seen.counts[worst]):
                worst = worker
        elif facts.may_enter[worker] and (best < 0 or level > seen.sums[best] / max(1, seen.counts[best])):
            best = worker
    left = facts.horizon - period
    if worst < 0 or best < 0 or left * (0.5 - seen.sums[worst] / seen.counts[worst]) <= facts.cost:
        return 0
    outs[0], ins[0] = worst, best
    return 1


@dataclass(frozen=True)
class Patient(RulePolicy):
    """Exchanges the worst for the best outside after some patience."""

    rule = Rule(no_memory, decide)
    least: int = 10
    name = "patient"
