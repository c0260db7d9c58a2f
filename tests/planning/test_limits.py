"""Limits of a plan: what takes minutes to simulate is accepted, and the error names what is too large."""

from pathlib import Path

import pytest

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.site import Site
from crewlearn.planning import limits
from crewlearn.planning.limits import check
from crewlearn.problem.errors import InvalidInput
from support.stores import site_with_proposals, state_of

OURS, OWN, PLAIN = "dr-ucb", "crewlearn.policies.value.policy:ValueOfReplacement", "support.own_code:Plain"
"""A policy, one with a rule named as a firm's own, and an own one without; keep-team is simulated beside each."""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site with six workers."""
    with open_store(f"sqlite:///{tmp_path}/site.db") as store:
        site_with_proposals(store, rolling=True, horizon=1000)
        return state_of(store)


def refused(site: Site, policies: list[str], runs: int, horizon: int) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check(site, policies, runs, {"horizon": horizon})
    return caught.value


@pytest.mark.parametrize(("policy", "most"), [(OURS, 8_333), (OWN, 8_333), (PLAIN, 83)])
def test_so_many_runs_as_take_minutes(site: Site, policy: str, most: int) -> None:
    """A run is 6 workers x 50,000 periods x 2 policies = 600,000; the limit is 5e9, or 5e7 if interpreted."""
    check(site, [policy], most, {"horizon": 50_000})
    error = refused(site, [policy], most + 1, 50_000)
    assert (error.field, error.remedy) == ("runs", f"must be at most {most:,} for 6 workers over 50,000 periods")


def test_where_no_two_runs_are_possible_the_horizon_is_too_far(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WORK", 6.0 * 2 * 2 * 10)
    check(site, [OURS], 2, {"horizon": 10})
    assert refused(site, [OURS], 3, 10).field == "runs"
    error = refused(site, [OURS], 2, 11)
    assert (error.field, error.value) == ("horizon", 11)
    assert error.remedy == "must be at most 10 periods ahead for 6 workers and 2 policies"
    monkeypatch.setattr(limits, "MOST_WORK", 6.0 * 2 * 2 - 1)
    error = refused(site, [OURS], 2, 1)
    assert (error.field, error.value, error.remedy) == ("workers", 6, "are too many to plan with")
