"""What requests and answers look like: checked on the way in, and described in the OpenAPI document.

Limits are those of the advisor, which checks everything again; a field that is not known is refused, so that a misspelt
one is never silently left out.
"""

import re
from datetime import date
from functools import partial
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)

from crewlearn.advisor import units
from crewlearn.advisor.text import LONGEST_ID, LONGEST_NAME, LONGEST_REASON
from crewlearn.policies.registry import live_policies, registered
from crewlearn.problem.model import MOST
from crewlearn.web.api.examples import EXAMPLES
from crewlearn.web.work import MOST_RUNS

MOST_WORKERS, MOST_ROWS = 10_000, 10_000
LONGEST_POLICY = 500
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def _iso_day(value: object) -> object:
    """Let only days such as 2026-11-16 through: a number or a moment is no day."""
    if isinstance(value, date) or (isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)):
        return value
    raise ValueError("must be a day such as 2026-11-16")


Day = Annotated[date, BeforeValidator(_iso_day)]
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Money = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=units.MOST)]
Fee = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=units.MOST_FEE)]
Amount = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-units.MOST, le=units.MOST)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=units.MOST)]
Policy = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_POLICY,
        description=f"A policy, as name or name:parameter=value,…: {', '.join(live_policies())}.",
        examples=["value-of-replacement", "dr-ucb:gamma=20"],
    ),
    AfterValidator(partial(registered, "policy")),
]
WorkerId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, description="The firm's own id of a worker.")]
Status = Literal["pool", "blocked", "left"]
Attendance = Literal["worked", "partial", "absent", "no-show", "sent-home"]
ProposalStatus = Literal[
    "proposed",
    "approved",
    "rejected",
    "withdrawn",
    "offered",
    "accepted",
    "declined",
    "expired",
    "started",
    "no-show",
    "cancelled",
]
Outcome = Literal["offered", "accepted", "started", "declined", "expired", "no-show", "cancelled"]


class Model(BaseModel):
    """Anything sent or received: no field but those named."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the model, with its examples."""
        schema = handler(core)
        if cls.__name__ in EXAMPLES:
            handler.resolve_ref_schema(schema)["examples"] = EXAMPLES[cls.__name__]
        return schema


class Page(Model, Generic[T]):
    """A piece of a list; `next` is the cursor of the piece after it, null at the end."""

    items: list[T]
    next: str | None = Field(description="Give this as `cursor` to go on; null at the end.")


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def all_optional(model: type[M]) -> type[M]:
    """Make every field of a model one that may be left out; what was given is its `model_fields_set`."""
    for info in model.model_fields.values():
        info.default = None
        info.json_schema_extra = _without_default
    model.model_rebuild(force=True)
    return model


# Sites


class Units(Model):
    """What output means: `low` counts as nothing, `high` as the best there is; `high` below `low`: less is better."""

    low: Amount
    high: Amount
    value_per_unit: Positive = Field(default=1.0, description="Money that one more recorded unit brings.")
    hours_per_period: Positive | None = Field(default=None, description="Hours of a period, if output is a rate.")


class Calendar(Model):
    """Which days count."""

    start: Day = Field(description="The first working day, or a day before it.")
    weekdays: list[Annotated[int, Field(strict=True, ge=0, le=6)]] = Field(
        default=[0, 1, 2, 3, 4], min_length=1, max_length=7, description="0 is Monday, 6 is Sunday."
    )
    closures: list[Day] = Field(default=[], max_length=10_000)
    shifts_per_day: Annotated[int, Field(strict=True, ge=1, le=24)] = 1
    cutoff_hour: Annotated[int, Field(strict=True, ge=0, le=23)] = Field(
        default=0, description="A moment before this hour belongs to the day before."
    )


class SiteSettings(Model):
    """How a site is set up."""

    team: Annotated[int, Field(strict=True, ge=1, le=10**5)] = Field(description="Stations to staff.")
    fee: Fee = Field(description="What a replacement costs, in money.")
    units: Units
    calendar: Calendar
    horizon: Annotated[int, Field(strict=True, ge=1, le=MOST)] = Field(
        description="Planned periods; if rolling, how many are always ahead."
    )
    mean_delay: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=10**6)] = Field(
        description="Mean periods from an offer to the first day."
    )
    rolling: Flag = Field(default=False, description="No planned end: the horizon moves along.")
    learn_delay: Flag = Field(default=False, description="Learn the mean delay from the site's own offers.")
    fee_due: Literal["initiation", "completion"] = "initiation"
    policy: Policy = "value-of-replacement"
    conventions: Literal["as-written", "as-released"] = "as-written"
    least_tenure: Annotated[int, Field(strict=True, ge=0, le=MOST)] = Field(
        default=0, description="Periods before somebody may be replaced."
    )
    most_a_week: Annotated[int, Field(strict=True, ge=0, le=MOST)] | None = Field(
        default=None, description="Most replacements proposed in a week; null for no limit."
    )
    ask_again_after: Annotated[int, Field(strict=True, ge=0, le=MOST)] = Field(
        default=10, description="Periods for which somebody who declined or was rejected is not proposed again."
    )
    stream_key: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] | None = Field(
        default=None, description="Names the policy's random stream; drawn if left out, and never shown."
    )


class NewSite(Model):
    """A site to set up."""

    site: str = Field(
        min_length=1,
        max_length=100,
        description="Its name: letters, digits, spaces and . ( ) + - _, the first a letter or digit.",
    )
    settings: SiteSettings


@all_optional
class UnitsChange(Units):
    """What to change of the units; the range itself stays once output is recorded."""


@all_optional
class CalendarChange(Calendar):
    """What to change of the calendar, for days to come."""


@all_optional
class SiteChanges(SiteSettings):
    """Settings to change from now on; those left out stay as they are, in `units` and `calendar` too."""

    units: UnitsChange
    calendar: CalendarChange


class SiteLine(Model):
    """A site in a line."""

    site: str
    version: Count = Field(description="The number of its last event.")
    advice: str = Field(description="The advice in a sentence.")
    period: Count = Field(description="The coming period.")
    date: Day = Field(description="Its day.")
    stations: Count
    filled: Count
    proposals: Count = Field(description="Proposals that wait for an answer.")


class SiteFault(Model):
    """A site whose kept state cannot be read, as when its policy's module is gone; the others are listed as usual."""

    site: str
    fault: str = Field(description="Why, and what to do.")


class SiteLines(Page[SiteLine | SiteFault]):
    """Sites by name."""


class SiteView(SiteLine):
    """A site and how it is set up."""

    settings: SiteSettings


# Advice, status, proposals


class Estimate(Model):
    """What was thought of a worker, in the firm's own units: expected output with the ends of a 95% interval."""

    days: Count = Field(description="Days observed here.")
    prior: Count = Field(description="Days observed before.")
    mean: Number
    low: Number
    high: Number


class Why(Model):
    """What spoke for a proposal, in the firm's units and money, as it was then; null where a policy does not say."""

    out: Estimate | None = Field(description="Who makes room, or would; null for an empty station.")
    into: Estimate
    settled_on_arrival: Flag
    chance_better: Number | None = Field(description="Null for an empty station.")
    periods: Number = Field(description="Periods left after the wait.")
    mean_delay: Number
    gain: Number = Field(description="What it would gain in those, if for good, before the fee.")
    fee: Number
    break_even: Number | None = Field(description="The fee above which it would not have been proposed.")
    optimistic_gain: Number | None
    needed_gain: Number | None
    trial_periods: Number | None
    trial_value: Number | None


class Proposal(Model):
    """A replacement: `out`, or as `place` says, by `in`."""

    id: Count
    status: ProposalStatus
    period: Count = Field(description="The period it was proposed for.")
    date: Day
    out: str | None = Field(description="Who makes room, or made it; null if nobody does so far, or somebody erased.")
    place: Literal["worker", "empty station", "settled on arrival"] = Field(description="Which place is taken.")
    into: str | None = Field(alias="in", description="Who comes in; null for somebody erased.")
    fee: Number
    reason: str | None = Field(description="Why it was rejected.")
    why: Why


class ProposalUnderWay(Proposal):
    """A proposal that is open."""

    overdue: Flag = Field(description="Whether the offer takes much longer than offers do.")


class Explanation(Proposal):
    """A proposal with why it was made, as it was then."""

    explanation: list[str] = Field(description="In plain words, line by line.")


class Proposals(Page[Proposal]):
    """Proposals by number."""


class Waiting(Model):
    """What is waited for; which fields there are depends on the policy."""

    awaited: list[str | None] = Field(description="Whose first day is awaited.")
    too_dear: list[str | None] = Field(default=[], description="Who would be proposed, but not at their fee.")
    cycle: Count | None = None
    phase: str | None = None
    least_observed: str | None = Field(default=None, description="Who must still be seen.")
    still_needed: Count | None = Field(default=None, description="On how many days.")
    look_again: Count | None = Field(default=None, description="The period in which waiting is thought over again.")


class Advice(Model):
    """What to do about the coming period."""

    site: str
    period: Count
    date: Day
    sentence: str = Field(description="All of it in a sentence.", examples=["Wait (2026-11-16, period 1): …"])
    kind: Literal["propose", "wait"]
    proposals: list[Proposal]
    waiting: Waiting
    held_back: Count = Field(description="Proposals held back by the weekly limit.")
    changed: str | None = Field(description="How it differs from what was said of the same period before.")


class Worker(Model):
    """A worker, where they stand, and what is thought of them: expected output with a 95% interval, in own units."""

    worker_id: str | None = Field(description="The firm's own id; null for somebody erased.")
    name: str | None
    station: Count | None = Field(description="Counted from 1; null if not in the team.")
    status: Status
    days: Count = Field(description="Days observed, prior data included.")
    estimate: Number
    low: Number
    high: Number
    note: str


class WorkerView(Worker):
    """A worker with everything that was said of them."""

    pinned: Flag
    fee: Number | None = Field(description="Their own fee; null for the site's.")
    prior_n: Count
    prior_mean: Number | None
    interview: Number | None
    since: Day | None = Field(description="When they took their station.")
    not_before: Day | None = Field(description="The day before which they are not proposed again.")
    recorded_to: Day | None = Field(description="The last day with output of theirs.")


class Workers(Page[Worker]):
    """Workers in the order asked for."""


class Gain(Model):
    """Money gained against keeping the first team, fees taken off, as estimated now, with a 95% interval."""

    expected: Number
    low: Number
    high: Number


class SiteStatus(Model):
    """The team, the pool, what is under way, and money so far."""

    site: str
    period: Count
    date: Day
    sentence: str
    stations: Count
    filled: Count
    earned: Number = Field(description="What recorded output was worth, in money.")
    fees: Number
    mean_delay: Number = Field(description="Mean periods from an offer to the first day, as set or as learned.")
    gain: Gain
    cycle: Waiting
    proposals: list[ProposalUnderWay]
    workers: list[Worker]


class Approval(Model):
    """An approval; somebody else may make room than was proposed."""

    out: WorkerId | None = Field(default=None, description="Somebody else to make room.")


class Rejection(Model):
    """A rejection, with a reason for the record."""

    reason: str = Field(default="", max_length=LONGEST_REASON)
    keep_out: Flag = Field(default=False, description="Block who was to come in, for good.")


class Offer(Model):
    """How an offer went."""

    outcome: Outcome
    on: Day | None = Field(default=None, description="The day it happened; the coming one if left out.")
    out: WorkerId | None = Field(default=None, description="Who makes room after all, when somebody started.")


class Answered(Model):
    """A proposal after an answer, and the advice that stands now: a decline brings the next candidate."""

    proposal: Proposal
    warnings: list[str] = Field(description="What speaks against it; it is done all the same.")
    advice: Advice


class Undone(Model):
    """What was taken back, and the advice that stands now."""

    taken_back: str | None = Field(description="Which answer it was; null if it was taken back before.")
    advice: Advice


# Workers and output


class NewWorker(Model):
    """A worker who joins, or what is new of one who is known."""

    worker_id: WorkerId
    name: str | None = Field(default=None, max_length=LONGEST_NAME)
    active: Flag | None = Field(default=None, description="In the team at the start; proposals bring people in later.")
    fee: Fee | None = Field(default=None, description="Their own fee, in money.")
    prior_n: Annotated[int, Field(strict=True, ge=0, le=10**9)] | None = Field(
        default=None, description="Days seen before this site, with prior_mean."
    )
    prior_mean: Amount | None = None
    status: Status | None = None
    interview: Amount | None = None
    pinned: Flag | None = None


class NewWorkers(Model):
    """Workers to take in, all or none."""

    workers: list[NewWorker] = Field(min_length=1, max_length=MOST_WORKERS)


@all_optional
class WorkerChanges(Model):
    """What to record of a worker; what is left out stays as it is."""

    status: Status
    pinned: Flag = Field(description="Keep them whatever is advised.")
    fee: Fee | None = Field(description="Their own fee, in money; null for the site's.")


class NewOutput(Model):
    """One worker's output of one day, or of one period where a day has several."""

    date: Day | None = None
    period: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    shift: Annotated[int, Field(strict=True, ge=1, le=24)] | None = Field(
        default=None, description="Which of the day's shifts, where a day has several."
    )
    worker_id: WorkerId
    units: Money | None = Field(default=None, description="What was made; left out where nobody worked.")
    hours: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=24)] | None = None
    attendance: Attendance | None = Field(default=None, description="worked, if left out and there are units.")

    @model_validator(mode="after")
    def _when(self) -> "NewOutput":
        if (self.date is None) == (self.period is None):
            raise ValueError("give either date or period")
        return self


class NewOutputs(Model):
    """Output to record, all rows or none."""

    rows: list[NewOutput] = Field(min_length=1, max_length=MOST_ROWS)


class Output(Model):
    """Output that stands on record."""

    date: Day
    period: Count
    worker_id: str | None = Field(description="Null for somebody erased.")
    units: Number | None
    hours: Number | None
    attendance: Attendance
    event: Count = Field(description="The event that brought it.")


class Outputs(Page[Output]):
    """Output by worker, in the order they joined, and then by day."""


class Recorded(Model):
    """What an import put on record."""

    recorded: Count = Field(description="Facts put on record.")
    known: Count = Field(description="Facts that were on record already.")
    corrected: Count = Field(description="Of those recorded, how many replace others.")
    skipped: Count = Field(description="Rows left out, as nobody knows their workers here.")
    warnings: list[str]
    advice: str = Field(description="The advice that stands now, in a sentence.")


class CellError(Model):
    """One thing that is wrong in a file."""

    line: Count = Field(description="0 if it is about the whole file.")
    column: str
    value: str
    expected: str


class Checked(Model):
    """What importing a file would do; nothing was recorded."""

    sound: Flag = Field(description="Whether it can be imported as it is.")
    columns: dict[str, str] = Field(description="Which header of the file is taken for which column.")
    ignored: list[str] = Field(description="Headers that are not used.")
    rows: Count
    recorded: Count
    known: Count
    corrected: Count
    skipped: Count
    warnings: list[str]
    errors: list[CellError] = Field(description="The first hundred errors.")
    total_errors: Count


# The record, plans, jobs


class Event(Model):
    """An event of the record; numbers stand for people. The export has its payload and rows in full."""

    number: Count
    at: str = Field(description="UTC.", examples=["2026-11-16T06:30:00.000+00:00"])
    actor: str
    rule_version: str
    type: str
    payload: dict[str, Any] = Field(description="What was said; without the policy's memory.")
    previous: str
    hash: str


class Events(Page[Event]):
    """Events by number."""


class PlanRequest(Model):
    """What to simulate: the site as it is, or what if some settings were other."""

    policies: list[Policy] | None = Field(
        default=None, max_length=20, description="Played beside keeping the team; a usual choice if left out."
    )
    runs: Annotated[int, Field(strict=True, ge=2, le=MOST_RUNS)] = Field(default=500, description="Simulated futures.")
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 1
    team: Annotated[int, Field(strict=True, ge=1, le=10**5)] | None = None
    fee: Fee | None = None
    horizon: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    mean_delay: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=10**6)] | None = None
    policy: Policy | None = None


JobKind = Literal["plan", "verify", "output-import"]


class Job(Model):
    """Long work, how far it is, and what came of it."""

    id: Count
    site: str
    kind: JobKind
    actor: str
    input: dict[str, Any] = Field(description="What was asked for.")
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Annotated[float, Field(ge=0, le=1)]
    message: str = Field(description="What it is at, why it failed, or who cancelled it.")
    result: dict[str, Any] | None = Field(
        description="What came of it: a plan, with the version of the site that was simulated; what a check found; or "
        "what an import did. Of a failed one, a problem."
    )
    created: str
    started: str | None
    finished: str | None
    attempts: Count


class Jobs(Page[Job]):
    """Jobs, the newest first."""


# Users

Role = Literal["viewer", "manager", "admin"]


class Token(Model):
    """What may be known of a token after it was shown."""

    id: Count
    label: str
    created: str
    expires: str
    revoked: str | None


class User(Model):
    """Somebody who may sign in."""

    name: str
    role: Role
    sites: list[str] | None = Field(description="The sites they may see; null for all.")
    disabled: Flag
    created: str
    tokens: list[Token]


class Users(Page[User]):
    """Users by name."""


class NewUser(Model):
    """A user to add."""

    name: str = Field(min_length=1, max_length=100)
    role: Role
    sites: list[str] | None = Field(
        default=None, min_length=1, max_length=1000, description="Sites they are limited to; all if left out."
    )


class NewToken(Model):
    """A token to make."""

    days: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=3650)] = 90.0
    label: str = Field(default="", max_length=100)


class ShownToken(Token):
    """A token, shown this once."""

    token: str = Field(description="Keep it: it is never shown again.")
