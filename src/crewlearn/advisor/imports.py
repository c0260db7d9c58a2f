"""Files taken in: workers and output, each file one event or nothing at all.

What only the record can tell of a file (unknown workers, closed or coming days, what cannot be measured) is looked at
once the file itself can be read, gathered like the errors of reading it, and said in a table of the same form.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import events, schema
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.conflict import Conflict
from crewlearn.advisor.csv_in import OutputRow, WorkerRow, attended
from crewlearn.advisor.csv_table import Found
from crewlearn.advisor.events import ATTENDANCE, OBSERVED, Row, digest_of_rows
from crewlearn.advisor.interviews import check_interviews
from crewlearn.advisor.site import POOL, STATUSES, Site
from crewlearn.advisor.stints import read_stints
from crewlearn.advisor.store import Store
from crewlearn.advisor.text import LONGEST_ID, LONGEST_NAME, checked_text, counted, some_of
from crewlearn.advisor.units import MOST, MOST_FEE
from crewlearn.advisor.writing import Writing
from crewlearn.problem.errors import InvalidInput, one_of, real, whole


@dataclass(frozen=True)
class Done:
    """What an import did: how many facts it put on record, how many were there already, and what to be warned of.

    Of those recorded, `corrected` replace others; `skipped` rows are of workers whom nobody knows here.
    """

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    skipped: int = 0


def import_workers(
    store: Store, name: str, rows: Sequence[WorkerRow], data: bytes, actor: str, *, expected: int | None = None
) -> Done:
    """Take in workers: newcomers join, what changed of others is recorded; the same file again changes nothing.

    Names are kept apart from the record, which is told only whose changed.
    """
    with store.writing(name, actor, expected) as work:
        known = work.people()
        site = work.site
        seated = site.has_begun
        facts: list[dict[str, Any]] = []
        people, renamed, warnings, too_late = [], [], [], []
        next_number, clipped = len(site.workers), 0
        for row in _checked_people(rows):
            prior = _prior(site, row)
            clipped += prior is not None and prior[2]
            if row.worker_id not in known:
                given = _newcomer(row, next_number, prior)
                facts.append({**given, "active": True} if row.active and not seated else given)
                if row.active and seated:
                    too_late.append(row.worker_id)
                people.append({"site": work.key, "worker": next_number, "external_id": row.worker_id, "name": row.name})
                next_number += 1
            else:
                number, called = known[row.worker_id]
                changes = _changes(site, number, row, prior)
                if row.active and not seated:
                    changes["active"] = True
                elif row.active and number not in site.roster.active:
                    too_late.append(row.worker_id)
                if changes:
                    facts.append({"worker": number, **changes})
                if row.name is not None and row.name != called:
                    renamed.append({"of_worker": number, "name": row.name})
        active = sum(bool(given.get("active")) for given in facts)
        if active > site.config.team:
            stations = counted(site.config.team, "station")
            raise InvalidInput("active", active, f"the site has {stations}; mark no more than that")
        if clipped:
            are = "is" if clipped == 1 else "are"
            warnings.append(
                f"{counted(clipped, 'prior mean')} {are} outside the range: kept as given, each counts as its end"
            )
        if too_late:
            warnings.append(f"{some_of(too_late)}: active counts at the start only; proposals bring people in")
        _write_people(work, people, renamed)
        touched = {given["worker"] for given in facts} | {one["of_worker"] for one in renamed}
        if touched:
            payload = {"digest": hashlib.sha256(data).hexdigest(), "workers": facts}
            work.add(events.WORKERS, {**payload, "renamed": [one["of_worker"] for one in renamed]})
            check_interviews(work)
        return Done(len(touched), len(rows) - len(touched), tuple(warnings))


def _write_people(work: Writing, people: Sequence[Mapping[str, Any]], renamed: Sequence[Mapping[str, Any]]) -> None:
    """Write who the newcomers are, and the new names of others."""
    table = schema.identities
    if people:
        work.connection.execute(table.insert(), people)
    if renamed:
        whose = (table.c.site == work.key, table.c.worker == sa.bindparam("of_worker"))
        work.connection.execute(table.update().where(*whose).values(name=sa.bindparam("name")), renamed)


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


def _prior(site: Site, row: WorkerRow) -> tuple[int, float, bool] | None:
    """Give how many earlier observations a worker brings, their mean in the policy's units, and if it was clipped."""
    if row.prior_n is None:
        return None
    count = whole("prior_n", row.prior_n, 0, 10**9)
    if count == 0:
        return 0, 0.0, False
    if row.prior_mean is None:
        raise InvalidInput("prior_mean", row.worker_id, "must be given beside prior_n")
    hour = 1.0 if site.config.units.hours_per_period is not None else None  # a rate is given per hour, as the range is
    return count, *site.config.units.policy_output(row.prior_mean, hour)


def _newcomer(row: WorkerRow, number: int, prior: tuple[int, float, bool] | None) -> dict[str, Any]:
    """Give the facts of a worker who joins."""
    count, mean, _ = prior or (0, 0.0, False)
    return {
        "worker": number,
        "status": _status(row),
        "pinned": bool(row.pinned),
        "fee": None if row.fee is None else real("fee", row.fee, 0.0, MOST_FEE),
        "prior_n": count,
        "prior_mean": mean,
        "prior_given": row.prior_mean if count else None,
        "interview": None if row.interview is None else real("interview", row.interview),
    }


def _changes(site: Site, number: int, row: WorkerRow, prior: tuple[int, float, bool] | None) -> dict[str, Any]:
    """Give what a file says anew of somebody known; what it leaves blank stays."""
    worker, changes = site.workers[number], dict[str, Any]()
    if row.fee is not None and row.fee != worker.fee:
        changes["fee"] = real("fee", row.fee, 0.0, MOST_FEE)
    if row.interview is not None and row.interview != worker.interview:
        changes["interview"] = real("interview", row.interview)
    if row.status is not None and _status(row) != worker.status:
        changes["status"] = _status(row)
    if row.pinned is not None and row.pinned != worker.pinned:
        changes["pinned"] = row.pinned
    if prior is not None:
        count, mean, _ = prior
        given, known = row.prior_mean if count else None, site.prior_mean_of(number)
        same = given == known or (  # of an older record, an export is rounded on its way
            given is not None and known is not None and math.isclose(given, known, rel_tol=1e-9, abs_tol=1e-12)
        )
        if count != worker.prior_n or not same:
            changes |= {"prior_n": count, "prior_mean": mean, "prior_given": given}
    return changes


def _status(row: WorkerRow) -> str:
    return one_of("status", row.status or POOL, STATUSES)


def import_output(
    store: Store,
    name: str,
    rows: Sequence[OutputRow],
    data: bytes,
    actor: str,
    *,
    correct: bool = False,
    skip_unknown: bool = False,
    today: date | None = None,
    what: str = "output.csv",
    expected: int | None = None,
) -> Done:
    """Take in output, all rows or none: rows on record already are passed over, other values are a conflict.

    Rows of workers whom nobody knows here, such as those erased, are errors or, with `skip_unknown`, left out.
    """
    if not rows:
        return Done()
    with store.writing(name, actor, expected) as work:
        site, known = work.site, work.identities({row.worker_id for row in rows})
        warnings, taken = [], rows
        if skip_unknown:
            taken = [row for row in rows if row.worker_id in known]
            warnings = _left_out(rows, known)
        now = today or site.config.calendar.day_of(store.clock())
        given = _Measuring(site, known, now, what).all(taken)
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
        skipped = len(rows) - len(taken)
        if not fresh:
            return Done(known=len(taken), warnings=tuple(warnings), skipped=skipped)
        fresh.sort()
        warnings += _warnings(work, fresh)
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
        return Done(len(fresh), len(taken) - len(fresh), tuple(warnings), len(replaced), skipped)


class _Measuring:
    """Makes rows of the record from those of a file, gathering what cannot be."""

    def __init__(self, site: Site, known: Mapping[str, int], today: date, what: str) -> None:
        self.units, self.calendar = site.config.units, site.config.calendar
        self.known, self.today = known, today
        self.last = self.calendar.periods_between(self.calendar.start, today).stop - 1
        self.found = Found(what)
        self.periods: dict[tuple[date, int | None, int | None], int] = {}

    def all(self, rows: Sequence[OutputRow]) -> list[tuple[Row, OutputRow]]:
        """Give the rows of the record and what they come from; the same row twice is one, two values are an error."""
        given: dict[tuple[int, int], tuple[Row, OutputRow]] = {}
        for source in rows:
            try:
                row = self.row(source)
            except InvalidInput as error:
                self.add(source.line, error)
                continue
            first, before = given.setdefault((row.worker, row.period), (row, source))
            if first != row:
                expected = f"the same values as line {before.line}, which has this worker and period too; keep one"
                self.found.add(source.line, "worker_id", source.worker_id, expected)
        self.found.raise_any()
        return list(given.values())

    def add(self, line: int, error: InvalidInput) -> None:
        """Note an error under the column that it is about."""
        if error.field == "day":
            self.found.add(line, "date", str(error.value), f"a working day; this {error.remedy}")
        else:
            self.found.add_error(line, error)

    def row(self, row: OutputRow) -> Row:
        """Give a row of the record: plain numbers, no negative zero, as that is what every database gives back."""
        if row.worker_id not in self.known:
            raise InvalidInput("worker_id", row.worker_id, _UNKNOWN)
        period = self.period(row)
        if period > self.last:
            when = row.period if row.day is None else row.day
            raise InvalidInput("date" if row.day else "period", when, f"no time in the future; today is {self.today}")
        if row.attendance not in ATTENDANCE:
            one_of("attendance", row.attendance, ATTENDANCE)
        made, _ = attended(row.units, row.hours, row.attendance)
        units = None if made is None else real("units", made) + 0.0
        hours = None if row.hours is None else real("hours", row.hours, 0.0, MOST) + 0.0
        if units is not None and row.attendance in OBSERVED:
            self.units.policy_output(units, hours)  # raises on what cannot be measured
        return Row(period, self.known[row.worker_id], units, hours, row.attendance)

    def period(self, row: OutputRow) -> int:
        """Give a row's period: by its day, and its shift where a day has several."""
        if row.day is None:
            return whole("period", row.period, 1)
        key = (row.day, row.shift, row.period)
        if key not in self.periods:
            period = self.calendar.period_of(row.day, _shift(self.calendar, row))
            if row.period is not None and row.period != period:
                which = f"{row.day}, shift {_shift(self.calendar, row)}," if row.shift is not None else f"{row.day}"
                raise InvalidInput("period", row.period, f"the period of the date; {which} is period {period}")
            self.periods[key] = period
        return self.periods[key]


_UNKNOWN = (
    "a worker known here; import the worker first, or leave rows of people who were erased out of the file "
    "(--skip-unknown does)"
)


def _shift(calendar: WorkCalendar, row: OutputRow) -> int:
    """Give the shift of a row with a day: as the file says, or as its period has it."""
    if row.shift is not None:
        return row.shift
    if calendar.shifts_per_day == 1:
        return 1
    if row.period is not None:
        return calendar.shift_of(row.period)
    raise InvalidInput("shift", "", f"which of the day's {calendar.shifts_per_day} shifts it was, counted from 1")


def _left_out(rows: Sequence[OutputRow], known: Mapping[str, int]) -> list[str]:
    """Say how many rows are left out as nobody knows their workers."""
    unknown = [row.worker_id for row in rows if row.worker_id and row.worker_id not in known]
    nameless = sum(not row.worker_id for row in rows)
    said = []
    if unknown:
        people = counted(len(set(unknown)), "worker")
        said.append(f"{counted(len(unknown), 'row')} of {people} not known here left out")
    if nameless:
        said.append(f"{counted(nameless, 'row')} without a worker's id, as of people who were erased, left out")
    return said


def _conflict(replaced: Sequence[tuple[OutputRow, int, Row, Row]]) -> Conflict:
    source, _, old, new = replaced[0]
    shown = f"line {source.line}, worker {source.worker_id}: {_said(old)} is on record, the file has {_said(new)}"
    return Conflict(
        "output",
        counted(len(replaced), "row"),
        f"{'differs' if len(replaced) == 1 else 'differ'} from the record ({shown}); --correct replaces them",
    )


def _said(row: Row) -> str:
    """Say what a row says: its units, or how somebody was not there; hours, where given."""
    said = row.attendance if row.units is None else f"{row.units}"
    return said if row.hours is None else f"{said} in {row.hours:g} h"


def _warnings(work: Writing, rows: Sequence[Row]) -> list[str]:
    """Say what is kept but odd: output beyond the range, and of people who were not in the team that day."""
    units = work.site.config.units
    held: dict[int, list[tuple[int, float]]] = {}
    for one in read_stints(work.connection, work.key):
        held.setdefault(one.worker, []).append((one.since, math.inf if one.until is None else one.until))
    clipped = strangers = 0
    for row in rows:
        if row.units is not None and row.attendance in OBSERVED:
            clipped += units.policy_output(row.units, row.hours).clipped
            strangers += not any(since <= row.period < until for since, until in held.get(row.worker, ()))
    said = []
    if clipped:
        said.append(f"{_of_outputs(clipped, rows)} outside the range: kept as given, each counts as its end")
    if strangers:
        who = "somebody who was" if strangers == 1 else "people who were"
        said.append(
            f"{_of_outputs(strangers, rows)} of {who} not in the team then, as far as is on record; "
            f"{'it is' if strangers == 1 else 'they are'} kept and learned from"
        )
    return said


def _of_outputs(some: int, rows: Sequence[Row]) -> str:
    return f"{some:,} of {counted(len(rows), 'output')} {'is' if some == 1 else 'are'}"
