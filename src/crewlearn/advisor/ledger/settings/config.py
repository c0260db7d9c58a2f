"""A site's configuration: stations, money, horizon, calendar, policy, and limits on replacements."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from crewlearn.advisor.ledger.errors import UnusablePolicy
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.locale import check_currency, zone_of
from crewlearn.advisor.ledger.settings.units import MOST_FEE, Units
from crewlearn.policies.brakes import Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import is_tuned_by_simulation, known_policies, live_policies, make_policy
from crewlearn.problem.errors import InvalidInput, one_of, real, unknown_name, whole
from crewlearn.problem.instances import check_conventions
from crewlearn.problem.model import FEE_DUE, MOST

EARLIEST, LATEST = 1970, 2200
"""The years a site may start in; a year outside them is a typing error."""

DEFAULT_POLICY = "value-of-replacement-evolving"
"""The policy of new sites."""

STATIONARY_POLICY = "value-of-replacement"
"""The default before it, which takes people and days as stationary."""

MOST_BUDGET = 1e15
"""The most money of a budget: more is a typing error."""

DEFAULT_LEAST_TENURE = 10
"""Periods for which nobody is let go at new sites."""

BY_TEAM: Any = object()
"""Stands for the default limit on replacements a week, which depends on the number of stations."""

BUDGETS = ("most_a_month", "budget_a_week", "budget_a_month")
"""Limits beside the one a week that are recorded only where they are set."""

RECORDED_IF_SET: dict[str, Any] = {
    **dict.fromkeys((*BUDGETS, "erase_after", "currency", "time_zone")),
    "second_approver": False,
}
"""Settings that are left out of what is recorded while they have these values, their defaults."""

MOST_ERASE_AFTER = 36_500
"""A century: more days are a typing error."""

_LEFT_OUT = {"policy": STATIONARY_POLICY, "least_tenure": 0, "most_a_week": None}
"""What a recorded configuration means by leaving these out, whatever the defaults of new sites are."""


def default_most_a_week(team: int) -> int:
    """Return the limit on replacements a week at a new site: a fifth of the stations, and at least 2.

    >>> default_most_a_week(4), default_most_a_week(40)
    (2, 8)
    """
    return max(2, team // 5)


@dataclass(frozen=True)
class SiteConfig:
    """A site's settings.

    `fee` is money. `horizon` is the number of planned periods or, if `rolling`, how many the policy always sees ahead.
    `mean_delay` is in periods; with `learn_delay` it is the initial value that the site's own offers update. Nobody is
    let go before `least_tenure` periods, and at most `most_a_week` replacements are proposed in a week (None: no limit;
    left out: as `default_most_a_week` says) and `most_a_month` in a calendar month. `budget_a_week` and
    `budget_a_month` limit their fees, in money. Filling an empty station does not count towards any of them. A worker
    who declined or was rejected is not proposed again for `ask_again_after` periods. `stream_key` names the policy's
    random stream. Who left is erased after `erase_after` days; None: never by itself. With `second_approver`, two users
    approve the same exchange before the offer goes out. `currency` is shown with money; `time_zone` decides what day it
    is, and in which time moments are shown; None: no currency, and the time of this machine.
    """

    team: int
    fee: float
    units: Units
    calendar: WorkCalendar
    horizon: int
    mean_delay: float
    rolling: bool = False
    learn_delay: bool = False
    fee_due: str = "initiation"
    policy: str = DEFAULT_POLICY
    conventions: str = "as-written"
    least_tenure: int = DEFAULT_LEAST_TENURE
    most_a_week: int | None = BY_TEAM
    ask_again_after: int = 10
    stream_key: int = 1
    most_a_month: int | None = None
    budget_a_week: float | None = None
    budget_a_month: float | None = None
    erase_after: int | None = None
    second_approver: bool = False
    currency: str | None = None
    time_zone: str | None = None

    def __post_init__(self) -> None:
        whole("team", self.team, 1, 10**5)
        real("fee", self.fee, 0.0, MOST_FEE)
        whole("horizon", self.horizon, 1, MOST)
        real("mean_delay", self.mean_delay, 0.0, 10**6)
        one_of("fee_due", self.fee_due, FEE_DUE)
        for name in ("rolling", "learn_delay", "second_approver"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(name, getattr(self, name), "must be true or false")
        if not EARLIEST <= self.calendar.start.year <= LATEST:
            remedy = f"must lie between the years {EARLIEST} and {LATEST}"
            raise InvalidInput("start", self.calendar.start.isoformat(), remedy)
        check_conventions(self.conventions)
        whole("least_tenure", self.least_tenure, 0, MOST)
        if self.most_a_week is BY_TEAM:
            object.__setattr__(self, "most_a_week", default_most_a_week(self.team))
        if self.most_a_week is not None:
            whole("most_a_week", self.most_a_week, 0, MOST)
        if self.most_a_month is not None:
            whole("most_a_month", self.most_a_month, 0, MOST)
        for name in ("budget_a_week", "budget_a_month"):
            if getattr(self, name) is not None:
                real(name, getattr(self, name), 0.0, MOST_BUDGET)
        if self.erase_after is not None:
            whole("erase_after", self.erase_after, 0, MOST_ERASE_AFTER)
        if self.currency is not None:
            check_currency(self.currency)
        if self.time_zone is not None:
            zone_of(self.time_zone)
        whole("ask_again_after", self.ask_again_after, 0, MOST)
        whole("stream_key", self.stream_key, 0, 2**63 - 1)
        self.make_policy()

    def make_policy(self) -> Policy[Any]:
        """Build the policy; refuse an oracle, which needs hidden values that only a simulation has."""
        try:
            if ":" not in self.policy and self.policy not in known_policies():
                raise unknown_name("policy", self.policy, live_policies())
            policy = make_policy(self.policy, self.conventions)
        except InvalidInput as error:
            if error.field != "policy":  # the error names one of its parameters
                raise
            raise UnusablePolicy(error.field, error.value, error.remedy) from error.__cause__
        if policy.oracle:
            remedy = "needs true means or delays, which no site knows; choose another"
            raise UnusablePolicy("policy", self.policy, remedy)
        if isinstance(policy, Braked):
            remedy = "a site has brakes of its own; set its least tenure and its most replacements a week instead"
            raise UnusablePolicy("policy", self.policy, remedy)
        if is_tuned_by_simulation(policy):
            remedy = "is tuned by simulating true means, which no site knows; choose another"
            raise UnusablePolicy("policy", self.policy, remedy)
        return policy

    @property
    def limits_months(self) -> bool:
        """Whether replacements in a month are limited."""
        return self.most_a_month is not None or self.budget_a_month is not None

    def local(self, moment: datetime) -> datetime:
        """Return a moment in the site's time zone; as it is if none is set."""
        return moment if self.time_zone is None else moment.astimezone(zone_of(self.time_zone))

    def day_of(self, moment: datetime) -> date:
        """Return the site's day at a moment: before the cut-off hour, the previous day."""
        return self.calendar.day_of(self.local(moment))

    def to_json(self) -> dict[str, Any]:
        """Describe the settings as plain data, without those that are not set."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name, default in RECORDED_IF_SET.items():
            if plain[name] == default:
                del plain[name]
        return {**plain, "units": self.units.to_json(), "calendar": self.calendar.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SiteConfig":
        """Rebuild what `to_json` described, in this version or an earlier one; an optional setting may be None."""
        plain = {name: value for name, value in data.items() if value is not None or name not in RECORDED_IF_SET}
        parts = {"units": Units.from_json(data["units"]), "calendar": WorkCalendar.from_json(data["calendar"])}
        return cls(**{**_LEFT_OUT, **plain, **parts})
