"""The simulated world as a Gymnasium environment, for learners from that ecosystem; needs the extra `crewlearn[gym]`.

Importing this module registers the environment; `gymnasium.make` also does so itself if the id names the module:

>>> env = gymnasium.make("crewlearn.engine.gym:crewlearn/DelayedReplacement-v0")
>>> observation, info = env.reset(seed=1)
>>> observation, profit, terminated, truncated, info = env.step(env.action_space.sample(mask=masks(info)))
>>> info["dropped"] <= len(info["requested"])
True
"""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("crewlearn.engine.gym needs Gymnasium: pip install 'crewlearn[gym]'") from error
from gymnasium import spaces

from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.estimates import Estimates, record, with_prior
from crewlearn.problem.arrays import BoolArray, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import Problem
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import FREE, LEGAL, request_fault

ID = "crewlearn/DelayedReplacement-v0"

KEEP = 0
"""The choice that leaves a station's worker where they are; choice j+1 asks for worker j."""

Observation = dict[str, npt.NDArray[Any]]
