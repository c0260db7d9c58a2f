"""Imports: files of workers and of output, each put on record as one event or not at all.

`take_in` imports a file, for commands, pages, the API and jobs alike; `import_workers` and `import_output` import rows
that were read or made otherwise. What only the record can tell of a file (unknown workers, closed or coming days, what
cannot be measured) is checked once the file itself can be read, and collected in a table of errors of the same form.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.files.cells import DateOrder, Decimal
from crewlearn.advisor.files.columns import IMPORTED, OUTPUT, WORKERS, OutputRow, WorkerRow, columns_of
from crewlearn.advisor.files.measuring import MeasuredRow, measure
from crewlearn.advisor.files.reading import ScannedTable, output_rows, scan, worker_rows
from crewlearn.advisor.files.tables import read_table
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import (
    OBSERVED,
    OutputImported,
    RecordedRow,
    WorkerFacts,
    WorkersImported,
    WorkerUpdate,
    added_values,
    digest_of_rows,
)
from crewlearn.advisor.ledger.settings.units import MOST_FEE
from crewlearn.advisor.ledger.site import POOL, STATUSES, Site
from crewlearn.advisor.ledger.stints import read_stints
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_ID, LONGEST_NAME, checked_text, counted, some_of
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput, one_of, real, unknown_name, whole

DayRule = Callable[[datetime], date]


@dataclass(frozen=True)
class ImportResult:
    """What an import did: how many facts it put on record, how many were there already, and what to be warned of.

    Of those recorded, `corrected` replace others; `skipped` rows are of workers whom nobody knows here.
    """

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    skipped: int = 0


# Files


@dataclass(frozen=True)
class ImportOptions:
    """How a file is read and put on record; dates, `correct` and `skip_unknown` are for output only.

    `mapping` names the header of a column where it is not found by itself; with `check_only` nothing is recorded.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    decimal: Decimal | None = None
    dates: DateOrder | None = None
    correct: bool = False
    skip_unknown: bool = False
    check_only: bool = False


@dataclass(frozen=True)
class ImportFile:
    """A file to import: its kind, `output` or `workers`, its bytes, how it is read, and its name in errors."""

    kind: str
    data: bytes = field(repr=False)
    options: ImportOptions = field(default_factory=ImportOptions)
    name: str = ""

    @property
    def what(self) -> str:
        """What errors call it."""
        return self.name or f"{self.kind}.csv"


def mapping_of(pairs: Iterable[str] | None) -> dict[str, str]:
    """Parse `column=header` pairs, as commands and the API take them.

    >>> mapping_of(["units=Pieces made"])
    {'units': 'Pieces made'}
    """
    mapping = {}
    for text in pairs or ():
        column, equals, header = text.partition("=")
        if not equals:
            raise InvalidInput("map", text, "is written column=header, such as units=Pieces")
        mapping[column.strip()] = header
    return mapping


def kind_of(data: bytes) -> str | None:
    """Return the kind of a file by its header; None if it fits none."""
    for kind, columns in IMPORTED.items():
        try:
            read_table(data, kind, columns)
        except InvalidInput:
            continue
        return kind
    return None


def take_in(
    store: Store,
    site: str,
    file: ImportFile,
    actor: str,
    *,
    expected: int | None = None,
    scanned: ScannedTable | None = None,
) -> ImportResult:
    """Put a file on record, all of it or nothing.

    With `expected`, the version of the site that the caller has seen, an older one is refused. `scanned` is the file as
    `scan_file` returned it, if the caller has that already.
    """
    scanned = scanned or scan_file(file, day_rule(store, site, file.kind))
    options = file.options
    if file.kind == WORKERS.kind:
        return import_workers(store, site, worker_rows(scanned), file.data, actor, expected=expected)
    if file.kind == OUTPUT.kind:
        return import_output(
            store,
            site,
            output_rows(scanned, blank_ids=options.skip_unknown),
            file.data,
            actor,
            correct=options.correct,
            skip_unknown=options.skip_unknown,
            what=file.what,
            expected=expected,
            normalised=True,
        )
    raise unknown_name("kind", file.kind, IMPORTED)


def day_rule(store: Store, site: str, kind: str) -> DayRule:
    """Return to which day a date and time of a kind of file belong: by the site's calendar, where it has dates."""
    if "date" not in columns_of(kind).names:
        return datetime.date
    with store.reading() as connection:
        _, state, _ = store.site(connection, site)
    return state.config.calendar.day_of


def scan_file(file: ImportFile, day_of: DayRule) -> ScannedTable:
    """Find a file's columns, and how it writes numbers and dates."""
    columns, options = columns_of(file.kind), file.options
    table = read_table(file.data, file.what, columns, options.mapping)
    return scan(table, columns, options.decimal, options.dates, day_of)


# Workers


def import_workers(
    store: Store, name: str, rows: Sequence[WorkerRow], data: bytes, actor: str, *, expected: int | None = None
) -> ImportResult:
    """Take in workers: newcomers join, what changed of others is recorded; the same file again changes nothing.

    Names are kept apart from the record, which is told only whose changed.
    """
    with store.writing(name, actor, expected) as work:
        known = work.people()
        site = work.site
        seated = site.has_begun
        facts: list[WorkerUpdate] = []
        renamed: list[dict[str, Any]] = []
        people, warnings, too_late = [], [], []
        next_number, clipped = len(site.workers), 0
        for row in _checked_people(rows):
            prior = _prior(site, row)
            clipped += prior is not None and prior[2]
            if row.worker_id not in known:
                facts.append(WorkerUpdate(next_number, _newcomer(row, prior), active=bool(row.active) and not seated))
                if row.active and seated:
                    too_late.append(row.worker_id)
                people.append({"site": work.key, "worker": next_number, "external_id": row.worker_id, "name": row.name})
                next_number += 1
            else:
                number, called = known[row.worker_id]
                changes, starts = _changes(site, number, row, prior), bool(row.active) and not seated
                if row.active and seated and number not in site.roster.active:
                    too_late.append(row.worker_id)
                if changes or starts:
                    facts.append(WorkerUpdate(number, changes, active=starts))
                if row.name is not None and row.name != called:
                    renamed.append({"of_worker": number, "name": row.name})
        active = sum(update.active for update in facts)
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
        touched = {update.worker for update in facts} | {rename["of_worker"] for rename in renamed}
        if touched:
            digest = hashlib.sha256(data).hexdigest()
            work.add(WorkersImported(digest, tuple(facts), tuple(rename["of_worker"] for rename in renamed)))
            work.check_interviews()
        return ImportResult(len(touched), len(rows) - len(touched), tuple(warnings))


def _write_people(
    work: SiteTransaction, people: Sequence[Mapping[str, Any]], renamed: Sequence[Mapping[str, Any]]
) -> None:
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
    """Return a worker's number of earlier observations, their mean in the policy's units, and if it was clipped."""
    if row.prior_n is None:
        return None
    count = whole("prior_n", row.prior_n, 0, 10**9)
    if count == 0:
        return 0, 0.0, False
    if row.prior_mean is None:
        raise InvalidInput("prior_mean", row.worker_id, "must be given beside prior_n")
    hour = 1.0 if site.config.units.hours_per_period is not None else None  # a rate is given per hour, as the range is
    return count, *site.config.units.policy_output(row.prior_mean, hour)


def _newcomer(row: WorkerRow, prior: tuple[int, float, bool] | None) -> WorkerFacts:
    """Return the facts of a worker who joins."""
    count, mean, _ = prior or (0, 0.0, False)
    return {
        "status": _status(row),
        "pinned": bool(row.pinned),
        "fee": None if row.fee is None else real("fee", row.fee, 0.0, MOST_FEE),
        "prior_n": count,
        "prior_mean": mean,
        "prior_given": row.prior_mean if count else None,
        "interview": None if row.interview is None else real("interview", row.interview),
    }


def _changes(site: Site, number: int, row: WorkerRow, prior: tuple[int, float, bool] | None) -> WorkerFacts:
    """Return what a file says anew of somebody known; what it leaves blank stays."""
    worker, changes = site.workers[number], WorkerFacts()
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


# Output


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
    normalised: bool = False,
) -> ImportResult:
    """Put output on record, all rows or none: rows on record already are passed over, other values are a conflict.

    Rows of workers whom nobody knows here, such as those erased, are errors or, with `skip_unknown`, left out.
    `normalised` rows come from a reader, which has checked each by itself.
    """
    if not rows:
        return ImportResult()
    with store.writing(name, actor, expected) as work:
        site, known = work.site, work.identities({row.worker_id for row in rows})
        warnings, taken = [], rows
        if skip_unknown:
            taken = [row for row in rows if row.worker_id in known]
            warnings = _left_out(rows, known)
        now = today or site.config.calendar.day_of(store.clock())
        measured = measure(site, known, now, what, taken, normalised=normalised)
        standing = work.rows_in_place_of([entry.row for entry in measured])
        fresh: list[MeasuredRow] = []
        replaced: list[tuple[MeasuredRow, int, RecordedRow]] = []
        for entry in measured:
            event, old = standing.get((entry.row.worker, entry.row.period), (0, None))
            if old is None:
                fresh.append(entry)
            elif old != entry.row:
                fresh.append(entry)
                replaced.append((entry, event, old))
        if replaced and not correct:
            raise _conflict(replaced)
        skipped = len(rows) - len(taken)
        if not fresh:
            return ImportResult(known=len(taken), warnings=tuple(warnings), skipped=skipped)
        fresh.sort(key=itemgetter(0))
        warnings += _warnings(work, fresh)
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
        return ImportResult(len(fresh), len(taken) - len(fresh), tuple(warnings), len(replaced), skipped)


def _left_out(rows: Sequence[OutputRow], known: Mapping[str, int]) -> list[str]:
    """Return warnings that count the rows left out, as nobody knows their workers."""
    unknown = [row.worker_id for row in rows if row.worker_id and row.worker_id not in known]
    nameless = sum(not row.worker_id for row in rows)
    warnings = []
    if unknown:
        people = counted(len(set(unknown)), "worker")
        warnings.append(f"{counted(len(unknown), 'row')} of {people} not known here left out")
    if nameless:
        warnings.append(f"{counted(nameless, 'row')} without a worker's id, as of people who were erased, left out")
    return warnings


def _conflict(replaced: Sequence[tuple[MeasuredRow, int, RecordedRow]]) -> Conflict:
    new, _, old = replaced[0]
    source = new.source
    shown = f"line {source.line}, worker {source.worker_id}: {_shown(old)} is on record, the file has {_shown(new.row)}"
    return Conflict(
        "output",
        counted(len(replaced), "row"),
        f"{'differs' if len(replaced) == 1 else 'differ'} from the record ({shown}); `correct` replaces them",
    )


def _shown(row: RecordedRow) -> str:
    """Return a row's units, or how somebody was not there; hours and added columns, where recorded."""
    made = row.attendance if row.units is None else f"{row.units}"
    if row.hours is not None:
        made += f" in {row.hours:g} h"
    return ", ".join([made, *(f"{name} {value}" for name, value in added_values(row).items())])


def _warnings(work: SiteTransaction, rows: Sequence[MeasuredRow]) -> list[str]:
    """Return warnings of output outside the range, and of people who were not in the team that day."""
    held: dict[int, list[tuple[int, float]]] = {}
    for stint in read_stints(work.connection, work.key):
        held.setdefault(stint.worker, []).append((stint.since, math.inf if stint.until is None else stint.until))
    clipped = strangers = 0
    for row, _, outside, _ in rows:
        if row.units is not None and row.attendance in OBSERVED:
            clipped += outside
            strangers += not any(since <= row.period < until for since, until in held.get(row.worker, ()))
    warnings = []
    if clipped:
        warnings.append(f"{_of_outputs(clipped, rows)} outside the range: kept as given, each counts as its end")
    if strangers:
        who = "somebody who was" if strangers == 1 else "people who were"
        warnings.append(
            f"{_of_outputs(strangers, rows)} of {who} not in the team then, as far as is on record; "
            f"{'it is' if strangers == 1 else 'they are'} kept and learned from"
        )
    return warnings


def _of_outputs(count: int, rows: Sequence[MeasuredRow]) -> str:
    return f"{count:,} of {counted(len(rows), 'output')} {'is' if count == 1 else 'are'}"
