"""A small agent: two linear scores, of who should leave and who should come."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from crewlearn.policies.learned.view import FEE, PERIODS, Observation
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput

LEAVING = ("always", "level", "seen", "worked", "break_even", "on_the_way", "empty")
"""What the score of a station is made of: `weights_of` its holder, of the fee, and of hires that are on their way."""

ENTERING = ("level", "seen")
"""What the score of a worker outside is made of."""

NEARLY_ONE = 1.0 - 1e-6


@dataclass(frozen=True)
class LinearAgent:
    """Pairs the stations with the highest scores with the best workers outside, while the sum is positive.

    `leaving` has a weight for each of `LEAVING`, `entering` one for each of `ENTERING`. A level is the mean output
    times how far it has been `seen`, so that a weight on `seen` says what is expected of people of whom little was
    seen. `break_even` is the fee divided by the periods left: what a replacement must bring in each of them.

    It takes one observation or a batch of them, and `AgentPolicy` plays it. `train_agent` finds the weights.

    >>> agent = LinearAgent((-0.1, -1.0, 0.5, 0.0, -1.0, 0.0, 1.0), (1.0, -0.5))
    >>> from crewlearn import AgentPolicy, check_policy
    >>> check_policy(AgentPolicy(agent))
    """

    leaving: tuple[float, ...]
    entering: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, weights, features in (("leaving", self.leaving, LEAVING), ("entering", self.entering, ENTERING)):
            whole = isinstance(weights, tuple) and len(weights) == len(features)
            if not whole or not all(isinstance(weight, (int, float)) and math.isfinite(weight) for weight in weights):
                raise InvalidInput(name, weights, f"must be a tuple of finite weights, for {', '.join(features)}")

    def __call__(self, observation: Observation) -> IntArray:
        """Return the action in an observation, or the actions in a batch."""
        return choices_of(np.array(self.leaving), np.array(self.entering), observation)


def choices_of(leaving: FloatArray, entering: FloatArray, observation: Observation) -> IntArray:
    """Return the choices of linear agents; with a batch, the weights may have an axis in front, for an agent each.

    Everything is computed one number at a time, so that a batch has the bits of its parts.
    """
    mask, stations = observation["action_mask"], observation["stations"]
    seen, worked = (observation[name].astype(np.float64) for name in ("seen", "worked"))
    level = seen * observation["means"]
    holder, holds = stations.argmax(axis=-1), stations.any(axis=-1)
    team, workers = stations.shape[-2:]
    break_even = _break_even(observation)
    on_the_way = observation["arriving"].any(axis=-1).sum(axis=-1, keepdims=True) / team
    of_holder = [np.where(holds, np.take_along_axis(each, holder, axis=-1), 0.0) for each in (level, seen, worked)]
    features = [np.ones(holds.shape), *of_holder, break_even, on_the_way, ~holds]
    out = np.where(mask[..., 1:].any(axis=-1), _score(leaving, features), -np.inf)
    into = np.where(mask[..., 1:].any(axis=-2), _score(entering, [level, seen]), -np.inf)
    pairs = min(team, workers)
    first = np.argsort(-out, axis=-1, kind="stable")[..., :pairs]
    best = np.argsort(-into, axis=-1, kind="stable")[..., :pairs]
    total = np.take_along_axis(out, first, axis=-1) + np.take_along_axis(into, best, axis=-1)
    action = np.zeros(holds.shape, dtype=np.int64)
    np.put_along_axis(action, first, np.where(total > 0.0, best + 1, 0), axis=-1)
    return action


def _score(weights: FloatArray, features: list[Any]) -> Any:
    return sum(weights[..., place, None] * feature for place, feature in enumerate(features))


def _break_even(observation: Observation) -> Any:
    """Return the fee divided by the periods left, at most 1, which no output can pay."""
    fee, left = (np.minimum(observation[name].astype(np.float64), NEARLY_ONE) for name in ("fee", "periods_left"))
    return np.minimum(FEE * fee / (1.0 - fee) / np.maximum(PERIODS * left / (1.0 - left), 1.0), 1.0)
