"""How much can be planned: as much as is simulated in minutes, and what is too large is named."""

from pathlib import Path

import pytest

from crewlearn.advisor.site import Site
from crewlearn.advisor.store import open_store
from crewlearn.planning import limits
from crewlearn.planning.limits import check
from crewlearn.problem.errors import InvalidInput
from stores import site_with_proposals, state_of

OURS, PLAIN = "dr-ucb", "crewlearn.policies.baselines:KeepTeam"
"""One that is compiled, and one that is named as a firm names its own; keeping the team is played beside either."""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Six workers."""
    with open_store(f"sqlite:///{tmp_path}/site.db") as store:
        site_with_proposals(store, rolling=True, horizon=1000)
        return state_of(store)


def refused(site: Site, policies: list[str], runs: int, horizon: int) -> InvalidInput:
    with pytest.raises(InvalidInput) as found:
        check(site, policies, runs, {"horizon": horizon})
    return found.value


@pytest.mark.parametrize(("policy", "most"), [(OURS, 8_333), (PLAIN, 83)])
def test_so_many_runs_as_take_minutes(site: Site, policy: str, most: int) -> None:
    """Six workers times 50,000 periods times two policies are 600,000 a run: of 5,000,000,000, or a hundredth."""
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
