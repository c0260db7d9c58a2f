"""How events change a site: the one place where facts become state, for commands and for rebuilding alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crewlearn.advisor import events, undo
from crewlearn.advisor.advice import take_up
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.events import OBSERVED, Event, Row
from crewlearn.advisor.site import (
    ACCEPTED,
    APPROVED,
    BLOCKED,
    FAILURES,
    LEFT,
    OFFERED,
    OPEN,
    REJECTED,
    STARTED,
    UNDER_WAY,
    WITHDRAWN,
    Proposal,
    Site,
    Worker,
)
from crewlearn.advisor.stints import seats_now
from crewlearn.policies.estimates import grown, record
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.roster import Roster

History = Callable[[int], Sequence[Row]]
"""Gives a worker's current rows in order of period, those of the event at hand included."""

KEPT_PERIODS = 15
"""How long answered proposals stay in the state, to be told about; those of this week stay anyway, for its limit.

Those that came to nothing stay for one period: a firm that does not answer would gather thousands. The record has all.
"""


def apply(site: Site | None, event: Event, rows: Sequence[Row] = (), history: History = lambda worker: ()) -> Site:
    """Give the site after an event; the site given may be changed on the way."""
    payload = event.payload
    if event.type == events.CREATED:
        return Site.empty(SiteConfig.from_json(payload["config"]))
    if site is None:
        raise InvalidInput("event", event.type, "a record begins with site-created")
    if event.type == events.UNDONE:
        return undo.taken_back(site, payload["number"])
    if event.type == events.ADVISED:
        take_up(site, payload)
        return site
    earlier, workers = (site.answered_json(), list(site.workers)) if event.type in undo.ANSWERS else (None, [])
    _note(site, event)
    if event.type == events.OUTPUT:
        _take_output(site, rows, history)
    elif event.type == events.WORKERS:
        _take_workers(site, payload, history)
    else:
        _STEPS[event.type](site, payload)
    site.seats = seats_now(site.seats, site)
    site.undo = None if earlier is None else undo.slip(event.number, earlier, workers, site)
    return site


def _note(site: Site, event: Event) -> None:
    """Note what bears on the next advice, to tell later why it changed; of an import, that there was one."""
    told = {} if event.type in (events.OUTPUT, events.WORKERS) else dict(event.payload)
    site.because.append({"type": event.type, **told})


def observation(site: Site, row: Row) -> float | None:
    """Give what a row tells the policy, in its units; None if it tells nothing."""
    rate = site.config.units.hours_per_period is not None
    if row.units is None or row.attendance not in OBSERVED or (row.attendance == "partial" and not rate):
        return None
    return site.config.units.policy_output(row.units, row.hours).value


def _change_site(site: Site, payload: Mapping[str, Any]) -> None:
    """Take new settings from now on; another policy begins anew."""
    before = site.config
    site.config = SiteConfig.from_json({**before.to_json(), **payload["changes"]})
    if site.config.units.value_per_unit != before.units.value_per_unit:
        earlier = [(since, value) for since, value in site.values if since < site.period]
        site.values = [*earlier, (site.period, site.config.units.value_per_unit)]
    if site.config.team != before.team:
        site.roster = site.roster.resized(site.config.team)
    if (site.config.policy, site.config.conventions) != (before.policy, before.conventions):
        site.memory = site.after = None
    site.revised = True


def _take_workers(site: Site, payload: Mapping[str, Any], history: History) -> None:
    """Take in newcomers and what changed of others; seat the first team if nobody is seated yet."""
    known = len(site.workers)
    for given in payload["workers"]:
        number, facts = given["worker"], {name: value for name, value in given.items() if name != "worker"}
        facts.pop("active", None)
        if number == len(site.workers):
            site.workers.append(Worker(**facts))
        else:
            site.set_worker(number, **facts)
    count = len(site.workers)
    site.roster, site.estimates = site.roster.grown(count), grown(site.estimates, count)
    for given in payload["workers"]:
        if given["worker"] >= known:
            _sum_anew(site, given["worker"], ())
        elif "prior_n" in given:
            _sum_anew(site, given["worker"], history(given["worker"]))
    seated = [given["worker"] for given in payload["workers"] if given.get("active")]
    if seated:
        site.roster = Roster.start(count, seated, site.config.team)
        for number in seated:
            site.set_worker(number, since=site.period)
    for given in payload["workers"]:
        if site.workers[given["worker"]].status == LEFT:
            _let_go(site, given["worker"])
    site.revised = site.revised or bool(payload["workers"])  # a new name alone changes nothing for the policy


def _sum_anew(site: Site, number: int, rows: Sequence[Row]) -> None:
    """Make a worker's sums from what they brought along and their rows, in order of period."""
    worker = site.workers[number]
    site.estimates.counts[number] = worker.prior_n
    site.estimates.sums[number] = site.estimates.squares[number] = worker.prior_n * worker.prior_mean
    site.set_worker(number, earned=0.0)
    _add_up(site, number, rows)


def _add_up(site: Site, number: int, rows: Sequence[Row]) -> None:
    """Add a worker's rows to their sums."""
    earned = site.workers[number].earned
    for row in rows:
        earned += _record(site, row)
    site.set_worker(number, earned=earned)


def _change_worker(site: Site, payload: Mapping[str, Any]) -> None:
    """Take in that a worker left, returned, was blocked, pinned or has another fee."""
    site.set_worker(payload["worker"], **payload["changes"])
    if payload["changes"].get("status") == LEFT:
        _let_go(site, payload["worker"])
    site.revised = True


def _erase(site: Site, payload: Mapping[str, Any]) -> None:
    """Take in that a person was erased: the number stays, as one who left."""
    _change_worker(site, {"worker": payload["worker"], "changes": {"status": LEFT, "pinned": False}})


def _let_go(site: Site, number: int) -> None:
    """Empty the worker's station and take back the hires that would bring them."""
    for proposal in site.open_proposals(*UNDER_WAY):
        if proposal.into == number:
            _fail(site, proposal, "cancelled", site.period)
        elif proposal.out == number:
            site.set_proposal(proposal.id, out=NOBODY)  # the hire fills the empty station
    if number in site.roster.active:
        site.roster.vacate(number)
        site.set_worker(number, since=0)


def _take_output(site: Site, rows: Sequence[Row], history: History) -> None:
    """Take in output: newer rows are added, corrected or late ones make a worker's sums anew, in order of period."""
    late = False
    by_worker: dict[int, list[Row]] = {}
    for row in rows:
        by_worker.setdefault(row.worker, []).append(row)
        late = late or row.period < site.period
    for number, own in by_worker.items():
        worker = site.workers[number]
        own.sort(key=lambda row: row.period)
        if own[0].period > worker.recorded_to:
            _add_up(site, number, own)
        else:
            _sum_anew(site, number, history(number))
        site.set_worker(number, recorded_to=max(worker.recorded_to, own[-1].period))
    last = max(row.period for row in rows)
    if last >= site.period:
        seen = {row.worker: observation(site, row) for row in rows if row.period == last}
        site.last_output = {worker: value for worker, value in seen.items() if value is not None}
        site.period = last + 1
        for number in [one.id for one in site.proposals.values() if _is_past(site, one)]:
            del site.proposals[number]
    site.changed = site.changed or late


def _is_past(site: Site, proposal: Proposal) -> bool:
    """Say whether a proposal need not be kept at hand any more."""
    if proposal.status in OPEN:
        return False
    if proposal.status in (REJECTED, WITHDRAWN):
        return proposal.period + 1 < site.period
    week_of = site.config.calendar.week_of
    return proposal.period + KEPT_PERIODS < site.period and week_of(proposal.decided_in) != week_of(site.period)


def _record(site: Site, row: Row) -> float:
    """Learn from a row; give what it was worth in money, at the value of a unit in its period.

    Where less is better, only what tells the policy something is worth something: fewer errors on half a day are none.
    """
    value, units = observation(site, row), site.config.units
    if value is not None:
        record(site.estimates, row.worker, value)
    if row.units is None or (value is None and units.lower_is_better):
        return 0.0
    return units.worth(row.units, row.hours) * site.value_in(row.period)


def _approve(site: Site, payload: Mapping[str, Any]) -> None:
    """Begin a replacement; the person may have chosen another outgoing worker."""
    proposal = site.proposals[payload["proposal"]]
    out = payload["out"]
    site.roster.initiate(out, proposal.into, site.period)
    fee = site.fee_of(proposal.into)
    due = site.config.fee_due == "initiation"  # as agreed now, whatever is changed before they start
    if due:
        site.fees += fee
    paid_in = site.period if due else 0
    site.set_proposal(proposal.id, status=APPROVED, out=out, decided_in=site.period, fee=fee, paid_in=paid_in)


def _reject(site: Site, payload: Mapping[str, Any]) -> None:
    """Drop a proposal; its incoming worker is left alone for a while, or kept out for good."""
    proposal = site.set_proposal(payload["proposal"], status=REJECTED, reason=payload["reason"], decided_in=site.period)
    _bar(site, proposal.into)
    if payload.get("keep_out"):
        site.set_worker(proposal.into, status=BLOCKED)
        site.revised = True
    site.failed.append((proposal.out, proposal.into))
    site.changed = True


def _record_offer(site: Site, payload: Mapping[str, Any]) -> None:
    """Take in how an offer went."""
    proposal, outcome = site.proposals[payload["proposal"]], payload["outcome"]
    if outcome in (OFFERED, ACCEPTED):
        site.set_proposal(proposal.id, status=outcome)
    elif outcome in FAILURES:
        _fail(site, proposal, outcome, payload["period"])
        if outcome != "cancelled":
            _bar(site, proposal.into)
        site.changed = True
    elif outcome == STARTED:
        site.roster.complete(proposal.into, payload["leaver"])
        site.completed.append((payload["leaver"], proposal.into))
        site.set_proposal(proposal.id, status=STARTED, leaver=payload["leaver"], settled_in=payload["period"])
        site.set_worker(proposal.into, since=payload["period"])
        if payload["leaver"] != NOBODY:
            site.set_worker(payload["leaver"], since=0)
        if not proposal.paid:
            site.fees += proposal.fee
            site.set_proposal(proposal.id, paid_in=payload["period"])
        count, total = site.delays
        site.delays = (count + 1, total + payload["period"] - proposal.decided_in)


def _fail(site: Site, proposal: Proposal, outcome: str, period: int) -> None:
    """Take back a replacement that is under way."""
    site.roster.fail(proposal.into)
    site.failed.append((proposal.out, proposal.into))
    site.set_proposal(proposal.id, status=outcome, settled_in=period)


def _bar(site: Site, number: int) -> None:
    site.set_worker(number, barred_until=site.period + site.config.ask_again_after)


_STEPS: Mapping[str, Callable[[Site, Mapping[str, Any]], None]] = {
    events.CHANGED: _change_site,
    events.WORKER: _change_worker,
    events.ERASED: _erase,
    events.APPROVED: _approve,
    events.REJECTED: _reject,
    events.OFFER: _record_offer,
}
