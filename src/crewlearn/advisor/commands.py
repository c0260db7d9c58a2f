"""What people do to a site: each command is one transaction that checks first, then puts facts on record.

A command raises before anything is written, or everything it says is on record when it returns.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import events, schema
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.csv_in import OutputRow, WorkerRow
from crewlearn.advisor.events import ATTENDANCE, Row, digest_of_rows
from crewlearn.advisor.fold import OBSERVED
from crewlearn.advisor.site import (
    ACCEPTED,
    APPROVED,
    BLOCKED,
    FAILURES,
    LEFT,
    OFFERED,
    POOL,
    PROPOSED,
    STARTED,
    STATUSES,
    UNDER_WAY,
    Proposal,
    Site,
)
from crewlearn.advisor.store import Conflict, Store, Writing
from crewlearn.advisor.text import checked_text
from crewlearn.advisor.units import MOST
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, Unknown, one_of, real, whole
from crewlearn.problem.transitions import LEGAL, completion_fault

OUTCOMES = (OFFERED, ACCEPTED, STARTED, *FAILURES)
LONGEST_ID, LONGEST_NAME, LONGEST_REASON = 100, 200, 10_000
_NAME = re.compile(r"[\w][\w .()+-]{0,99}")


@dataclass(frozen=True)
class Done:
    """What a command did: how many facts it put on record, how many were there already, and what to be warned of."""

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    proposals: tuple[int, ...] = field(default=())


def create_site(store: Store, name: str, config: SiteConfig, actor: str) -> None:
    """Begin a site."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "site", name, "must be letters, digits, spaces and . ( ) + - _, and begin with one of the first two"
        )
    store.create(name, {"config": config.to_json()}, actor)


def change_site(
    store: Store, name: str, changes: Mapping[str, Any], actor: str, *, expected: int | None = None
) -> None:
    """Change settings from now on; the output range stays once output is on record, as the record is in its terms."""
    with store.writing(name, actor, expected) as work:
        config = work.site.config.to_json()
        unknown = changes.keys() - config.keys()
        if unknown:
            raise InvalidInput("setting", sorted(unknown)[0], f"is none; choose from {', '.join(config)}")
        news = {key: value for key, value in changes.items() if config[key] != value}
        if not news:
            return
        try:
            SiteConfig.from_json({**config, **news})
        except (TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(
                "setting", news, "cannot be read; give each setting as `site create` takes it"
            ) from error
        recorded = any(worker.recorded_to for worker in work.site.workers)
        if recorded and {"units", "calendar"} & news.keys():
            fixed = ("low", "high", "hours_per_period")
            if "units" in news and any(news["units"][key] != config["units"][key] for key in fixed):
                raise InvalidInput(
                    "output range", news["units"], "cannot change once output is recorded; make a new site"
                )
            if "calendar" in news:
                _check_calendar(config["calendar"], news["calendar"], work.site)
        work.add(events.CHANGED, {"changes": news})


def _check_calendar(before: Mapping[str, Any], after: Mapping[str, Any], site: Site) -> None:
    """Refuse a calendar that would give recorded periods other dates."""
    from crewlearn.advisor.calendar import WorkCalendar

    old, new = WorkCalendar.from_json(before), WorkCalendar.from_json(after)
    for period in range(1, site.period):
        if old.date_of(period) != new.date_of(period):
            raise InvalidInput(
                "calendar", str(old.date_of(period)), "has output on record; only coming days can change"
            )


def import_workers(
    store: Store, name: str, rows: Sequence[WorkerRow], data: bytes, actor: str, *, expected: int | None = None
) -> Done:
    """Take in workers: newcomers join, what changed of others is recorded; the same file again changes nothing."""
    with store.writing(name, actor, expected) as work:
        known = work.people()
        site = work.site
        seated = bool(site.roster.active) or site.period > 1
        facts: list[dict[str, Any]] = []
        people, renamed, warnings = [], [], []
        next_number = len(site.workers)
        for row in _checked_people(rows):
            if row.worker_id not in known:
                given = _newcomer(site, row, next_number)
                if row.active and not seated:
                    given["active"] = True
                elif row.active:
                    warnings.append(f"{row.worker_id}: active counts at the start only; proposals bring people in")
                facts.append(given)
                people.append({"site": work.key, "worker": next_number, "external_id": row.worker_id, "name": row.name})
                next_number += 1
            else:
                number, called = known[row.worker_id]
                changes = _changes(site, row, number)
                if changes:
                    facts.append({"worker": number, **changes})
                if row.name is not None and row.name != called:
                    renamed.append({"of_worker": number, "name": row.name})
        active = sum(bool(given.get("active")) for given in facts)
        if active > site.config.team:
            raise InvalidInput("active", active, f"the site has {site.config.team} stations; mark no more than that")
        table = schema.identities
        if people:
            work.connection.execute(table.insert(), people)
        if renamed:
            whose = (table.c.site == work.key, table.c.worker == sa.bindparam("of_worker"))
            work.connection.execute(table.update().where(*whose).values(name=sa.bindparam("name")), renamed)
        if facts:
            work.add(events.WORKERS, {"digest": hashlib.sha256(data).hexdigest(), "workers": facts})
        return Done(len(facts), len(rows) - len(facts), tuple(warnings))


def _checked_people(rows: Sequence[WorkerRow]) -> Sequence[WorkerRow]:
    """Check what is said of people before any of it is written."""
    seen: set[str] = set()
    for row in rows:
        checked_text("worker_id", row.worker_id, LONGEST_ID, least=1)
        if row.name is not None:
            checked_text("name", row.name, LONGEST_NAME)
        if row.worker_id in seen:
            raise InvalidInput("worker_id", row.worker_id, "stands twice in the file; keep one row for each worker")
        seen.add(row.worker_id)
    return rows


def _newcomer(site: Site, row: WorkerRow, number: int) -> dict[str, Any]:
    """Give the facts of a worker who joins; prior data come in people's units."""
    prior_n = whole("prior_n", row.prior_n or 0, 0, 10**9)
    if prior_n and row.prior_mean is None:
        raise InvalidInput("prior_mean", row.worker_id, "must be given beside prior_n")
    hour = 1.0 if site.config.units.hours_per_period is not None else None  # a rate is given per hour, as the range is
    mean = (
        site.config.units.policy_output(row.prior_mean, hour).value if prior_n and row.prior_mean is not None else 0.0
    )
    return {
        "worker": number,
        "status": _status(row),
        "fee": _money(row.fee),
        "prior_n": prior_n,
        "prior_mean": mean,
        "interview": None if row.interview is None else real("interview", row.interview),
    }


def _money(fee: object) -> float | None:
    return None if fee is None else real("fee", fee, 0.0, MOST)


def _changes(site: Site, row: WorkerRow, number: int) -> dict[str, Any]:
    worker = site.workers[number]
    changes: dict[str, Any] = {}
    if row.fee is not None and row.fee != worker.fee:
        changes["fee"] = _money(row.fee)
    if row.interview is not None and row.interview != worker.interview:
        changes["interview"] = real("interview", row.interview)
    if row.status is not None and _status(row) != worker.status:
        changes["status"] = _status(row)
    return changes


def _status(row: WorkerRow) -> str:
    return one_of("status", row.status or POOL, STATUSES)


def change_worker(
    store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None, **changes: Any
) -> None:
    """Record that a worker left, returned, was blocked or pinned, or has a fee of their own."""
    for key in changes:
        one_of("setting", key, ("status", "pinned", "fee"))
    if "status" in changes:
        one_of("status", changes["status"], STATUSES)
    if "fee" in changes:
        changes["fee"] = _money(changes["fee"])
    if "pinned" in changes:
        changes["pinned"] = bool(changes["pinned"])
    with store.writing(name, actor, expected) as work:
        number = _number(work, worker_id)
        worker = work.site.workers[number]
        news = {key: value for key, value in changes.items() if getattr(worker, key) != value}
        if news:
            work.add(events.WORKER, {"worker": number, "changes": news})


def erase_worker(store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None) -> None:
    """Remove a person from the store; the record keeps their number and nothing else of them."""
    with store.writing(name, actor, expected) as work:
        number = _number(work, worker_id)
        table = schema.identities
        work.connection.execute(
            table.update().where(table.c.site == work.key, table.c.worker == number).values(external_id=None, name=None)
        )
        work.add(events.ERASED, {"worker": number})
    store.scrub()


def import_output(
    store: Store,
    name: str,
    rows: Sequence[OutputRow],
    data: bytes,
    actor: str,
    *,
    correct: bool = False,
    today: date | None = None,
    expected: int | None = None,
) -> Done:
    """Take in output, all rows or none: rows on record already are passed over, other values are a conflict."""
    if not rows:
        return Done()
    with store.writing(name, actor, expected) as work:
        site, known = work.site, work.identities()
        given = _rows(site, rows, known)
        _check_future(store, site, [row for row, _ in given], today)
        standing = work.standing([row for row, _ in given])
        fresh: list[Row] = []
        replaced: list[tuple[OutputRow, int, Row, Row]] = []
        for row, source in given:
            event, old = standing.get((row.worker, row.period), (0, None))
            if old is None:
                fresh.append(row)
            elif old != row:
                fresh.append(row)
                replaced.append((source, event, old, row))
        if replaced and not correct:
            raise _conflict(replaced)
        if not fresh:
            return Done(known=len(rows))
        fresh.sort()
        warnings = _warnings(site, fresh)
        work.add(
            events.OUTPUT,
            {
                "digest": hashlib.sha256(data).hexdigest(),
                "rows": len(fresh),
                "rows_digest": digest_of_rows(fresh),
                "corrected": len(replaced),
                "warnings": warnings,
            },
            fresh,
            {(old.worker, old.period, event) for _, event, old, _ in replaced},
        )
        return Done(len(fresh), len(rows) - len(fresh), tuple(warnings), len(replaced))


def _rows(site: Site, rows: Sequence[OutputRow], known: Mapping[str, int]) -> list[tuple[Row, OutputRow]]:
    """Give the rows of the record and what they come from; the same row twice is one, two values are an error."""
    given: dict[tuple[int, int], tuple[Row, OutputRow]] = {}
    periods: dict[date, int] = {}
    for source in rows:
        try:
            row = _row(site, source, known, periods)
        except InvalidInput as error:
            raise InvalidInput(f"line {source.line}: {error.field}", error.value, error.remedy) from error
        first, before = given.setdefault((row.worker, row.period), (row, source))
        if first != row:
            remedy = f"has other values for the same period in line {before.line}; keep one of the two"
            raise InvalidInput(f"line {source.line}: worker_id", source.worker_id, remedy)
    return list(given.values())


def _row(site: Site, row: OutputRow, known: Mapping[str, int], periods: dict[date, int]) -> Row:
    """Give a row of the record: plain numbers, no negative zero, as that is what every database gives back."""
    if row.worker_id not in known:
        raise InvalidInput("worker_id", row.worker_id, "is not known here; import the worker first")
    if row.day is None:
        period = whole("period", row.period, 1)
    else:
        if row.day not in periods:
            periods[row.day] = site.config.calendar.period_of(row.day)
        period = periods[row.day]
    if row.attendance not in ATTENDANCE:
        one_of("attendance", row.attendance, ATTENDANCE)
    units = None if row.units is None else real("units", row.units) + 0.0
    hours = None if row.hours is None else real("hours", row.hours, 0.0, MOST) + 0.0
    if units is not None and row.attendance in OBSERVED:
        site.config.units.policy_output(units, hours)  # raises on what cannot be measured
    return Row(period, known[row.worker_id], units, hours, row.attendance)


def _check_future(store: Store, site: Site, rows: Sequence[Row], today: date | None) -> None:
    """Refuse output of days that have not come."""
    now = today or site.config.calendar.day_of(store.clock())
    last = max(row.period for row in rows)
    if site.config.calendar.date_of(last) > now:
        raise InvalidInput("date", str(site.config.calendar.date_of(last)), f"lies in the future; today is {now}")


def _conflict(replaced: Sequence[tuple[OutputRow, int, Row, Row]]) -> Conflict:
    source, _, old, new = replaced[0]
    shown = f"line {source.line}, worker {source.worker_id}: {old.units} is on record, the file has {new.units}"
    return Conflict("output", f"{len(replaced)} rows", f"differ from the record ({shown}); --correct replaces them")


def _warnings(site: Site, rows: Sequence[Row]) -> list[str]:
    """Say what is kept but odd: output beyond the range, and of people who are not in the team."""
    active = set(site.roster.active)
    clipped = strangers = 0
    for row in rows:
        if row.units is not None and row.attendance in OBSERVED:
            clipped += site.config.units.policy_output(row.units, row.hours).clipped
            strangers += row.worker not in active and row.period == site.period
    said = []
    if clipped:
        said.append(
            f"{clipped} of {len(rows)} outputs are outside the range: they count as its ends and are kept as given"
        )
    if strangers:
        said.append(f"{strangers} outputs are of people who are not in the team; they are kept and learned from")
    return said


def approve(
    store: Store, name: str, number: int, actor: str, *, out: str | None = None, expected: int | None = None
) -> None:
    """Approve a proposal: the offer goes out; another outgoing worker may be chosen."""
    with store.writing(name, actor, expected) as work:
        proposal = _proposal(work.site, number, PROPOSED)
        leaver = proposal.out if out is None else _number(work, out)
        work.add(events.APPROVED, {"proposal": number, "out": leaver})


def reject(store: Store, name: str, number: int, actor: str, reason: str = "", *, expected: int | None = None) -> None:
    """Reject a proposal, with a reason for the record."""
    checked_text("reason", reason, LONGEST_REASON)
    with store.writing(name, actor, expected) as work:
        _proposal(work.site, number, PROPOSED)
        work.add(events.REJECTED, {"proposal": number, "reason": reason})


def record_offer(
    store: Store,
    name: str,
    number: int,
    outcome: str,
    actor: str,
    *,
    on: date | None = None,
    period: int | None = None,
    out: str | None = None,
    expected: int | None = None,
) -> None:
    """Record how an offer went; on arrival a person may choose another outgoing worker."""
    one_of("outcome", outcome, OUTCOMES)
    with store.writing(name, actor, expected) as work:
        site = work.site
        proposal = _proposal(site, number, *UNDER_WAY)
        when = site.config.calendar.period_of(on) if on is not None else period or site.period
        if not proposal.decided_in <= when <= site.period:
            raise InvalidInput(
                "on", str(on or period), f"must be from the approval to the coming period, {site.period}"
            )
        payload: dict[str, Any] = {"proposal": number, "outcome": outcome, "period": when}
        if outcome == STARTED:
            leaver = _leaver(site, proposal, None if out is None else _number(work, out))
            if leaver is None:
                remedy = "nobody can make room for them; name somebody with --out, or record cancelled"
                raise InvalidInput("started", f"proposal {number}", remedy)
            payload["leaver"] = leaver
        work.add(events.OFFER, payload)


def _leaver(site: Site, proposal: Proposal, chosen: int | None) -> int | None:
    """Give who makes room: as chosen, as committed, or as the policy says now; None if nobody can."""
    pending = next(place for place, one in enumerate(site.roster.pending) if one.into == proposal.into)
    out = chosen if chosen is not None else site.roster.pending[pending].out
    if out == NOBODY:
        policy = site.policy
        assert site.after is not None
        out = policy.assign(policy.state_from_json(site.after), site.situation(), proposal.into)
    fault = completion_fault(site.roster.arrays, pending, out)
    if fault != LEGAL and chosen is not None:
        raise InvalidInput("out", chosen, "cannot make room: not in the team, or leaving for somebody else")
    return out if fault == LEGAL else None


def undo(store: Store, name: str, actor: str, *, expected: int | None = None) -> int:
    """Take back the last answer; give its number on record."""
    with store.writing(name, actor, expected) as work:
        slip = work.site.undo
        if slip is None:
            raise InvalidInput("undo", name, "there is no answer to take back since other facts were recorded")
        work.add(events.UNDONE, {"number": slip["number"]})
        return int(slip["number"])


def _proposal(site: Site, number: int, *statuses: str) -> Proposal:
    """Find a proposal that is in one of these states."""
    proposal = site.proposals.get(number)
    if proposal is None or proposal.status not in statuses:
        now = "does not exist" if proposal is None else f"is {proposal.status}"
        there = [one.id for one in site.open_proposals(*statuses)]
        raise Conflict("proposal", number, f"{now}; {' or '.join(statuses)} are {there or 'none'}")
    return proposal


def _number(work: Writing, worker_id: str) -> int:
    """Give the number of a worker by the firm's own id."""
    known = work.identities()
    if worker_id not in known:
        raise Unknown("worker", worker_id, f"is not known at this site; there are {len(known)} workers")
    return known[worker_id]


__all__ = [
    "APPROVED",
    "BLOCKED",
    "LEFT",
    "Done",
    "approve",
    "change_site",
    "change_worker",
    "create_site",
    "erase_worker",
    "import_output",
    "import_workers",
    "record_offer",
    "reject",
    "undo",
]
