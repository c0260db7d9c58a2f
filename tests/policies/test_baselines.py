"""The two ends: keeping the team, and an oracle that knows the means."""

import itertools
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.estimates import no_data
from crewlearn.policies.baselines import KeepTeam, Oracle
from crewlearn.policies.contract import Hidden, Situation
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import NoDelay
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from support.live_site import LiveSite


def earned(before: set[int], after: set[int], means: FloatArray, setting: Setting) -> float:
    """Return the gain of changing the team at once over the remaining periods, net of fees."""
    gain = sum(means[list(after)]) - sum(means[list(before)])
    return float(gain * (setting.horizon - setting.mean_delay) - setting.cost * len(after - before))


def test_keep_team_and_oracle_are_the_two_ends() -> None:
    """The oracle's replacements earn the most, net of fees, over all teams: brute force at k = 7."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        team = int(rng.integers(1, 7))
        setting = Setting(7, team, int(rng.integers(5, 60)), float(rng.uniform(0, 8)), float(rng.integers(0, 5)))
        means, active = rng.random(7), set(rng.choice(7, team, replace=False).tolist())
        roster, hidden = Roster.start(7, sorted(active)), Hidden(means, NoDelay().form(7), 0)
        first, second = (Situation.open_to_all(t, setting, roster, no_data(7), hidden) for t in (1, 2))
        pairs, _ = Oracle().decide(Oracle().start(first, 0), first)
        chosen = active - {out for out, _ in pairs} | {into for _, into in pairs}
        best = max(earned(active, set(other), means, setting) for other in itertools.combinations(range(7), team))
        assert earned(active, chosen, means, setting) == pytest.approx(best)
        assert Oracle().decide(Oracle().start(second, 0), second)[0] == []
        assert KeepTeam().decide(KeepTeam().start(first, 0), first)[0] == []


@pytest.mark.parametrize("policy", [Oracle(), DRUCB(pairing="oracle", gamma=1.0)])
def test_an_oracle_without_hidden_facts_is_refused(policy: Any) -> None:
    site = LiveSite(policy, Setting(6, 2, 100, 0.1, 1.0), [0, 1])
    with pytest.raises(InvalidInput, match="only a simulation has"):
        site.run(5)
