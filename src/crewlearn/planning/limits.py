"""Limits of a plan: periods still ahead, policies that a site can use, and the amount of work.

Nothing here loads the compiler, so that a request for a plan is answered at once.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from crewlearn.advisor.ledger.settings.config import STATIONARY_POLICY, SiteConfig
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput, one_of, whole

KEEP = "keep-team"
COMPARED = (STATIONARY_POLICY, "dr-ucb", KEEP)
"""Policies that are compared with the site's own by default."""

CHANGES = ("team", "fee", "horizon", "mean_delay", "policy", "least_tenure", "most_a_week")
"""Settings that a what-if may change, with the meaning they have for the site."""

FEWEST_RUNS, MOST_RUNS = 2, 10**5
MOST_REPLAYS = 10**4
MOST_PERIODS = 100_000
MOST_WORK, MOST_PLAIN_WORK = 5e9, 5e7
"""Limit on workers × periods × runs × policies.

Extrapolated from short runs, compiled policies, a firm's own among them, take one to about twenty minutes on one core
for this much; a policy without a rule, in plain Python, takes a minute for a hundredth of it.
"""


def as_it_stands(site: Site) -> dict[str, Any]:
    """Return the settings that a what-if may change, with the mean delay learned so far."""
    config = site.config
    plain = {name: getattr(config, name) for name in CHANGES}
    return {**plain, "mean_delay": site.mean_delay if config.learn_delay else config.mean_delay}


def check(
    site: Site, policies: Sequence[str] | None, runs: int, changes: Mapping[str, Any]
) -> tuple[SiteConfig, tuple[str, ...]]:
    """Return the settings to simulate and the policies to play; refuse plans that are impossible or too long.

    By default the policies are the site's own and `COMPARED`; keep-team is always added.
    """
    whole("runs", runs, FEWEST_RUNS, MOST_RUNS)
    config = _changed(site.config, changes)
    if isinstance(policies, str):
        raise InvalidInput("policies", policies, "must be a list of names")
    chosen = tuple(dict.fromkeys([*((config.policy, *COMPARED) if policies is None else policies), KEEP]))
    for spec in chosen:
        try:
            dataclasses.replace(config, policy=spec)  # raises for a policy that no site can use
        except InvalidInput as error:
            raise InvalidInput("policies", spec, error.remedy) from error
    _check_work(site, config, runs, chosen)
    return config, chosen


def periods_left(site: Site, config: SiteConfig) -> int:
    """Return the number of periods ahead."""
    left = config.horizon if config.rolling else config.horizon - site.period + 1
    if left < 1:
        remedy = f"the planned periods are over, the coming one is {site.period}; try a horizon beyond it"
        raise InvalidInput("horizon", config.horizon, remedy)
    return left


def _changed(config: SiteConfig, changes: Mapping[str, Any]) -> SiteConfig:
    """Return the settings to simulate; a given mean delay is not learned."""
    for name in changes:
        one_of("change", name, CHANGES)
    if not isinstance(changes.get("policy", ""), str):
        raise InvalidInput("policy", changes["policy"], "must be a policy's name")
    learn_delay = config.learn_delay and "mean_delay" not in changes
    return dataclasses.replace(config, learn_delay=learn_delay, **changes)


def _check_work(site: Site, config: SiteConfig, runs: int, policies: Sequence[str]) -> None:
    if not site.workers:
        raise InvalidInput("workers", 0, "there is nobody to plan with; import workers first")
    periods = periods_left(site, config)
    if periods > MOST_PERIODS:
        raise InvalidInput("horizon", periods, f"must be at most {MOST_PERIODS:,} periods ahead")
    compiled = all(rule_of(make_policy(spec, config.conventions)) is not None for spec in policies)
    budget, whom = MOST_WORK if compiled else MOST_PLAIN_WORK, counted(len(site.workers), "worker")
    per_run = len(site.workers) * len(policies)
    most = int(budget / (per_run * periods))
    if most < FEWEST_RUNS:
        ahead = int(budget / (per_run * FEWEST_RUNS))
        if ahead < 1:
            raise InvalidInput("workers", len(site.workers), "are too many to plan with")
        played = counted(len(policies), "policy", "policies")
        remedy = f"must be at most {counted(ahead, 'period')} ahead for {whom} and {played}"
        raise InvalidInput("horizon", periods, remedy)
    if runs > most:
        raise InvalidInput("runs", runs, f"must be at most {most:,} for {whom} over {counted(periods, 'period')}")
