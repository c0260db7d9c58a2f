"""Importing output: rows are measured, compared with the record, and recorded all or none."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import itemgetter

from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.measuring import MeasuredFile, MeasuredRow, measure
from crewlearn.advisor.files.recording.guard import HeldOutput, Oddity, UnusualOutput, find_oddities
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.recording.team_inference import CONTEXT, inferred_spans
from crewlearn.advisor.files.tables import MOST_ERRORS
from crewlearn.advisor.ledger.events import (
    AWAY,
    OBSERVED,
    DaysOpened,
    OutputImported,
    RecordedRow,
    TeamRecorded,
    added_values,
    digest_of_rows,
)
from crewlearn.advisor.ledger.events.people.team import FROM_OUTPUT
from crewlearn.advisor.ledger.queries import read_events, read_proposals, standing_rows
from crewlearn.advisor.ledger.site import STARTED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.recording import record_spans
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.ledger.transaction import SiteTransaction


def import_output(
    store: Store,
    name: str,
    rows: Sequence[OutputRow],
    data: bytes,
    actor: str,
    *,
    correct: bool = False,
    skip_unknown: bool = False,
    overtime: bool = True,
    team_from_output: bool = False,
    accept_unusual: bool = False,
    today: date | None = None,
    what: str = "output.csv",
    expected: int | None = None,
    normalised: bool = False,
    prepare: Callable[[SiteTransaction], None] | None = None,
) -> ImportResult:
    """Record output, all rows or none. Rows already on record are skipped; other values for them are a conflict.

    With `correct`, such values replace the old ones. Rows of unknown workers, such as erased ones, are errors or, with
    `skip_unknown`, left out. Output on days that nobody planned to work is recorded as `overtime`, or is an error if
    that is off; days before the calendar's start are opened either way. With `team_from_output`, who holds which
    station follows from who had output. Output far from what the record leads one to expect raises `UnusualOutput`,
    unless `accept_unusual` confirms it. `normalised` rows come from a reader that has checked each of them. `prepare`
    is called first in the transaction, for instance to enrol newcomers.
    """
    if not rows:
        return ImportResult()
    with store.writing(name, actor, expected) as work:
        work.await_answer()
        known_before = len(work.site.workers)
        if prepare is not None:
            prepare(work)
        enrolled = len(work.site.workers) - known_before
        site, known = work.site, work.identities({row.worker_id for row in rows})
        warnings, taken = [], rows
        if skip_unknown:
            taken = [row for row in rows if row.worker_id in known]
            warnings = _left_out(rows, known)
        now = today or site.config.day_of(store.clock())
        file = measure(site, known, now, what, taken, normalised=normalised, overtime=overtime)
        warnings += _of_days(file)
        if file.opened:
            work.add(DaysOpened(file.opened))
        measured = file.rows
        standing = work.rows_in_place_of([entry.row for entry in measured])
        fresh: list[MeasuredRow] = []
        replaced: list[_Replaced] = []
        for entry in measured:
            event, old = standing.get((entry.row.worker, entry.row.period), (0, None))
            if old is None:
                fresh.append(entry)
            elif old != entry.row:
                fresh.append(entry)
                replaced.append((entry, event, old))
        if replaced and not correct:
            raise _conflict(site, replaced)
        skipped = len(rows) - len(taken)
        work.keep_answer(known=len(taken) - len(fresh), skipped=skipped, enrolled=enrolled)
        if not fresh:
            warnings += _take_team(work, [entry.row for entry in measured]) if team_from_output and measured else []
            return ImportResult(known=len(taken), warnings=tuple(warnings), skipped=skipped, enrolled=enrolled)
        fresh.sort(key=itemgetter(0))
        unusual = find_oddities(work, fresh)
        if unusual and not accept_unusual:
            raise UnusualOutput(unusual)
        warnings += _warnings(work, fresh, strange=not team_from_output)
        if unusual:
            warnings.append(f"unusual for this site: {counted(len(unusual), 'finding')}")
        fresh_rows = [entry.row for entry in fresh]
        work.add(
            OutputImported(
                digest=hashlib.sha256(data).hexdigest(),
                rows=len(fresh),
                rows_digest=digest_of_rows(fresh_rows),
                corrected=len(replaced),
                warnings=tuple(warnings),
            ),
            fresh_rows,
            {(old.worker, old.period, event) for _, event, old in replaced},
            [entry.observed for entry in fresh],
        )
        if team_from_output:
            warnings += _take_team(work, fresh_rows)
        return ImportResult(
            len(fresh),
            len(taken) - len(fresh),
            tuple(warnings),
            len(replaced),
            skipped,
            enrolled,
            unusual=unusual,
            differing=_differences(site, replaced),
        )


def _take_team(work: SiteTransaction, rows: Sequence[RecordedRow]) -> list[str]:
    """Record the team that follows from output; return what changed in words."""
    site, calendar = work.site, work.site.config.calendar
    first = min(calendar.order_of(row.period) for row in rows) - CONTEXT
    begin = calendar.date_of(calendar.period_at(first))
    workers = range(len(site.workers))
    standing = standing_rows(work.connection, work.key, workers, calendar.ranges_between(begin, date.max))
    recent = (row for _, row in standing if row.units is not None or row.attendance in AWAY)
    spans = inferred_spans(calendar, site.config.team, work.stints(), recent, _known_starts(work))
    if not spans:
        return []
    record_spans(work, spans, FROM_OUTPUT, {})
    return [f"the team was taken from the output: {counted(len(spans), 'change')}"]


def _known_starts(work: SiteTransaction) -> set[tuple[int, int]]:
    """Return who took a station in which period, as people recorded it."""
    starts = {(worker, 1) for worker in work.site.first_team}
    started = {proposal.id: proposal for proposal in read_proposals(work.connection, work.key, statuses=[STARTED])}
    for proposal in (started | work.site.proposals).values():
        if proposal.status == STARTED:
            starts.add((proposal.into, proposal.settled_in))
    for event in read_events(work.connection, work.key, kinds=[TeamRecorded]):
        assert isinstance(event.fact, TeamRecorded)
        if event.fact.source != FROM_OUTPUT:
            starts |= {(span.worker, span.since) for span in event.fact.spans}
    return starts


def _left_out(rows: Sequence[OutputRow], known: Mapping[str, int]) -> list[str]:
    """Return warnings that count the rows of unknown workers left out."""
    unknown = [row.worker_id for row in rows if row.worker_id and row.worker_id not in known]
    nameless = sum(not row.worker_id for row in rows)
    warnings = []
    if unknown:
        people = counted(len(set(unknown)), "worker")
        warnings.append(f"{counted(len(unknown), 'row')} of {people} not known here left out")
    if nameless:
        warnings.append(f"{counted(nameless, 'row')} without a worker's id, as of people who were erased, left out")
    return warnings


def _of_days(file: MeasuredFile) -> list[str]:
    """Return warnings about days that nobody planned to work."""
    warnings = []
    if file.overtime:
        days = counted(len({entry.source.day for entry in file.rows if entry.source.day in file.opened}), "day")
        warnings.append(f"{counted(file.overtime, 'row')} on {days} that nobody planned to work: recorded as overtime")
    if file.idle:
        warnings.append(f"{counted(file.idle, 'row')} without output on days on which nobody worked left out")
    return warnings


_Replaced = tuple[MeasuredRow, int, RecordedRow]
"""A row of the file, and the row on record that it replaces, with its event."""


def _conflict(site: Site, replaced: Sequence[_Replaced]) -> HeldOutput:
    new, _, old = replaced[0]
    source = new.source
    shown = f"line {source.line}, worker {source.worker_id}: {_shown(old)} is on record, the file has {_shown(new.row)}"
    return HeldOutput(
        counted(len(replaced), "row"),
        f"{'differs' if len(replaced) == 1 else 'differ'} from the record ({shown}); `correct` replaces them",
        _differences(site, replaced),
    )


def _differences(site: Site, replaced: Sequence[_Replaced]) -> tuple[Oddity, ...]:
    """Return the rows that differ from the record, the first of them if they are many."""
    date_of = site.config.calendar.date_of
    return tuple(
        Oddity(
            new.source.line,
            str(date_of(new.row.period)),
            new.source.worker_id,
            _shown(new.row),
            f"on record is {_shown(old)}",
        )
        for new, _, old in replaced[:MOST_ERRORS]
    )


def _shown(row: RecordedRow) -> str:
    """Return a row's units, or its attendance if there are none, with hours and added columns if recorded."""
    made = row.attendance if row.units is None else f"{row.units}"
    if row.hours is not None:
        made += f" in {row.hours:g} h"
    return ", ".join([made, *(f"{name} {value}" for name, value in added_values(row).items())])


def _warnings(work: SiteTransaction, rows: Sequence[MeasuredRow], *, strange: bool) -> list[str]:
    """Return warnings about output outside the range and, if that is `strange`, of workers not in the team that day."""
    held: dict[int, list[tuple[int, float]]] = {}
    order_of = work.site.config.calendar.order_of
    for stint in read_stints(work.connection, work.key):
        until = math.inf if stint.until is None else order_of(stint.until)
        held.setdefault(stint.worker, []).append((order_of(stint.since), until))
    clipped = strangers = 0
    for row, _, outside, _ in rows:
        if row.units is not None and row.attendance in OBSERVED:
            clipped += outside
            place = order_of(row.period)
            strangers += not any(since <= place < until for since, until in held.get(row.worker, ()))
    warnings = []
    if clipped:
        warnings.append(f"{_of_outputs(clipped, rows)} outside the range: kept as given, each counts as its end")
    if strangers and strange:
        who = "somebody who was" if strangers == 1 else "people who were"
        warnings.append(
            f"{_of_outputs(strangers, rows)} of {who} not in the team then, as far as is on record; "
            f"{'it is' if strangers == 1 else 'they are'} kept and learned from; if the team changed, it can be taken "
            "from the output: `team_from_output`"
        )
    return warnings


def _of_outputs(count: int, rows: Sequence[MeasuredRow]) -> str:
    return f"{count:,} of {counted(len(rows), 'output')} {'is' if count == 1 else 'are'}"
