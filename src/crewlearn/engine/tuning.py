"""Policies that are chosen by simulating the problem before play."""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from crewlearn.engine.blocks import blocks_of
from crewlearn.engine.scale_out.player import Player, Waiting, choose_player
from crewlearn.policies.contract import Policy
from crewlearn.problem.chance import mix
from crewlearn.problem.model import Problem

RUNS = 64
"""Runs by which each candidate is judged."""

APART = 0x7475_6E65
"""Sets the seeds of tuning apart from all that are reported."""

MOST_KNOWN = 256
"""Upper limit on the choices held in memory."""

_known: OrderedDict[tuple[Policy[Any], Problem, int], Policy[Any]] = OrderedDict()


def settled(
    policy: Policy[Any], problem: Problem, seed: int, player: Player | None = None, waiting: Waiting | None = None
) -> Policy[Any]:
    """Return the policy to play: the best of its candidates if it has any, else itself.

    Candidates are judged by their mean net over the same runs, with a seed derived from the one of the simulation.
    They are played by `player`, by default on all cores; the choice does not depend on it. `waiting` is called several
    times a second meanwhile, and what it raises ends the tuning, as an interrupt does.
    """
    candidates = policy.candidates(problem.setting)
    if not candidates:
        return policy
    key = (policy, problem, seed)
    best = _known.get(key)
    if best is None:
        best = _known[key] = _best(candidates, problem, seed, choose_player() if player is None else player, waiting)
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return best


def _best(
    candidates: Sequence[Policy[Any]], problem: Problem, seed: int, player: Player, waiting: Waiting | None
) -> Policy[Any]:
    """Return the candidate that earned most; the first of several."""
    tuning_seed = mix(mix(APART, seed), APART)
    by_candidate = [blocks_of(problem, candidate, RUNS, tuning_seed, (problem.horizon,)) for candidate in candidates]
    with closing(player([block for blocks in by_candidate for block in blocks], waiting)) as played:
        earned = [sum(float(next(played)[0].net.sum()) for _ in blocks) for blocks in by_candidate]
    return candidates[max(range(len(candidates)), key=lambda place: earned[place])]
