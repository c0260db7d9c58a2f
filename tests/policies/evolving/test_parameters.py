"""The policy's parameters: bad values are refused by name, and what is told is used."""

import math
from typing import Any

import numpy as np
import pytest

from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput
from support.evolving import EXPERIENCED
from support.hostile import EvolvingSite

NAME = "value-of-replacement-evolving"

WRONG: list[tuple[str, Any, str]] = [
    ("margin", -0.1, "0"),
    ("margin", 101.0, "100"),
    ("noise_guess", 0.0, "0.5"),
    ("noise_guess", 0.6, "0.5"),
    ("guess_weight", 0.0, "1e+06"),
    ("guess_weight", -1.0, "1e+06"),
    ("stay_guess", 0.5, "1"),
    ("patience", -1.0, "0"),
    ("sure", 1.5, "1"),
    ("centre", 1.5, "1"),
    ("centre", -0.1, "0"),
    ("between_sd", 0.0, "0.001"),
    ("between_sd", 0.6, "0.5"),
    ("noise_sd", -0.01, "0"),
    ("noise_sd", 0.51, "0.5"),
    ("ramp_depth", -0.1, "0"),
    ("ramp_depth", 1.0, "0.95"),
    ("ramp_days", 0.0, "0.1"),
    ("ramp_days", 51.0, "50"),
    *[(name, math.nan, "") for name in ("margin", "centre", "between_sd", "noise_sd", "ramp_depth", "stay_guess")],
    *[(name, "much", "") for name in ("margin", "centre", "ramp_days")],
    ("ramp_days", math.inf, "50"),
    ("margin", None, ""),
]


@pytest.mark.parametrize(("field", "value", "limit"), WRONG)
def test_bad_values_are_refused_with_field_value_and_range(field: str, value: Any, limit: str) -> None:
    known = {"ramp_days": 4.0} if field == "ramp_depth" else {}
    with pytest.raises(InvalidInput) as refused:
        ValueOfReplacementEvolving(**{**known, field: value})
    assert refused.value.field == field
    assert str(value) in str(refused.value)
    assert limit in str(refused.value)


def test_a_depth_needs_its_days() -> None:
    with pytest.raises(InvalidInput, match="ramp_days"):
        ValueOfReplacementEvolving(ramp_depth=0.3)
    assert ValueOfReplacementEvolving(ramp_depth=0.0).ramp_days is None  # no ramp needs none


def test_what_is_told_in_the_name_is_used() -> None:
    policy = make_policy(f"{NAME}:ramp_depth=0.25,ramp_days=5")
    assert policy == ValueOfReplacementEvolving(ramp_depth=0.25, ramp_days=5)
    assert isinstance(policy, ValueOfReplacementEvolving)
    site = EvolvingSite(policy, 4, 2, [0])
    for day in range(5):
        site.learn(day + 1, {0: 0.6, 1: 0.6})
    readings = policy.readings(site.state, site.situation())
    assert (readings.ramp_depth.mean, readings.ramp_depth.sd) == (0.25, 0.0)
    assert (readings.ramp_days.mean, readings.ramp_days.sd) == (5.0, 0.0)
    assert readings.people[0].share == pytest.approx(1.0 - 0.25 * math.exp(-1.0))
    assert readings.people[0].ramp_days == math.floor(5.0 * math.log(0.25 / 0.02)) + 1
    with pytest.raises(InvalidInput, match="ramp_depth"):
        make_policy(f"{NAME}:ramp_depth=2,ramp_days=5")


def test_the_noise_told_stays() -> None:
    policy = ValueOfReplacementEvolving(noise_sd=0.1)
    site = EvolvingSite(policy, 4, 3, [EXPERIENCED])
    random = np.random.default_rng(1)
    for day in range(30):
        site.learn(day + 1, {worker: 0.5 + random.normal(0.0, 0.02) for worker in range(3)})
    assert policy.readings(site.state, site.situation()).noise_sd.mean == 0.1


def test_people_seen_overrule_a_wrong_pool() -> None:
    """Told a centre of 0.3 and a spread of 0.05 where people are at 0.7: who is seen for 20 days is known all the same.

    The noise is 0.05, so that 20 days give 0.011; 4.5 of them are 1e-5.
    """
    policy = ValueOfReplacementEvolving(centre=0.3, between_sd=0.05)
    site = EvolvingSite(policy, 8, 6, [EXPERIENCED])
    random = np.random.default_rng(1)
    for day in range(20):
        site.learn(day + 1, {worker: 0.7 + random.normal(0.0, 0.05) for worker in range(6)})
    for level in policy.levels(site.state, site.situation())[:6]:
        assert level.mean == pytest.approx(0.7, abs=4.5 * 0.05 / math.sqrt(20) + 0.01)


@pytest.mark.parametrize("told", [{}, {"centre": 0.6}, {"between_sd": 0.1}, {"noise_sd": 0.05}])
def test_somebody_clearly_better_comes_in(told: dict[str, float]) -> None:
    """Whatever is told, a worker known to be far better replaces the worst, and a worse one does not."""
    policy = ValueOfReplacementEvolving(**told)
    site = EvolvingSite(policy, 4, 2, [EXPERIENCED])
    for day in range(20):
        site.learn(day + 1, {0: 0.3, 1: 0.6, 2: 0.8, 3: 0.2})
    pairs, _ = policy.decide(site.state, site.situation(cost=2.0))
    assert pairs == [(0, 2)]
    (reason,) = policy.reasons(site.state, site.situation(cost=2.0), pairs)
    assert (reason.chance_better or 0.0) > 0.99
    assert policy.break_even(site.situation(), reason) == pytest.approx((reason.gain or 0.0) / 2.0)
