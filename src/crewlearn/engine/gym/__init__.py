"""The simulated world as Gymnasium environments, for training reinforcement learners.

Needs the extra `crewlearn[gym]`. The ids are registered once both `crewlearn` and `gymnasium` are imported:

- `crewlearn/Replacement-v0`: `ReplacementEnv`, and `ReplacementVectorEnv` for `gymnasium.make_vec`.
- `crewlearn/DelayedReplacement-v0`: `DelayedReplacement`, the first version.

>>> import gymnasium
>>> import numpy as np
>>> from crewlearn import benchmark
>>> env = gymnasium.make("crewlearn/Replacement-v0", problem=benchmark(horizon=30))
>>> observation, info = env.reset(seed=1)
>>> legal = tuple(info["action_mask"].astype(np.int8))
>>> observation, profit, terminated, truncated, info = env.step(env.action_space.sample(mask=legal))
>>> len(info["requested"]) + info["dropped"] <= 10
True
"""

from crewlearn.problem.extras import extra_for

with extra_for("an environment to train in", "gym"):
    import gymnasium as gymnasium

from crewlearn.engine.gym.environment import DelayedReplacement as DelayedReplacement
from crewlearn.engine.gym.scaled import ReplacementEnv as ReplacementEnv
from crewlearn.engine.gym.vector import ReplacementVectorEnv as ReplacementVectorEnv
from crewlearn.gymnasium_ids import ID as ID
from crewlearn.gymnasium_ids import REPLACEMENT_ID as REPLACEMENT_ID
from crewlearn.policies.learned.view import KEEP as KEEP
