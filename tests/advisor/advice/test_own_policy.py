"""A firm's own policy explains itself through the contract, like the built-in ones."""

import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest

from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.wording.explain import explain
from crewlearn.policies.baselines import Nothing
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.explanations import PolicyWait, Reason
from crewlearn.problem.arrays import FloatArray
from support.lives import Life


@dataclass(frozen=True)
class Explaining(Policy[Nothing]):
    """Always wants worker 3 in the place of worker 0."""

    state_type: ClassVar[type[Nothing]] = Nothing

    @property
    def name(self) -> str:
        return "explaining"

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        return [(0, 3)] if situation.may_enter[3] else [], state

    def reasons(
        self, state: Nothing, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[Reason]:
        assert costs is not None
        return [
            Reason(out=out, into=into, optimistic_gain=0.25, threshold=cost / 10)
            for (out, into), cost in zip(pairs, costs, strict=True)
        ]

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        return 0.5

    def waiting(self, state: Nothing, situation: Situation) -> PolicyWait:
        return PolicyWait(look_again=situation.period + 4)


@pytest.fixture
def own_policy(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("own_policy")
    vars(module)["Explaining"] = Explaining
    monkeypatch.setitem(sys.modules, "own_policy", module)
    return "own_policy:Explaining"


def test_its_reasons_are_recorded_and_put_into_people_s_units(own_policy: str, life: Life) -> None:
    life.create(policy=own_policy, units=Units(0.0, 20.0), fee=8.0)
    proposal = life.first()
    assert proposal.why.policy == {"out": 0, "into": 3, "optimistic_gain": 0.25, "threshold": 8.0 / 20.0 / 10}
    numbers = facts(life.site, proposal)
    assert numbers.needed_gain == pytest.approx(0.8)
    assert (numbers.optimistic_gain, numbers.break_even) == (5.0, 10.0)
    assert "the exchange gains 5.00 a period; to pay its fee it must gain 0.80" in " ".join(
        explain(life.site, life.people, proposal)
    )
    assert life.site.advice.waiting == {"awaited": [], "look_again": 5, "too_dear": []}
