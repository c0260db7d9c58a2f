"""Importing workers: newcomers join, and changes to known workers are recorded."""

import hashlib
import math
from collections.abc import Sequence

from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.events import WorkerFacts, WorkersImported, WorkerUpdate
from crewlearn.advisor.ledger.identities import Identity
from crewlearn.advisor.ledger.settings.units import MOST_FEE
from crewlearn.advisor.ledger.site import POOL, STATUSES, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_ID, LONGEST_NAME, checked_text, counted, is_worker_id, some_of
from crewlearn.problem.errors import InvalidInput, one_of, real, whole


def import_workers(
    store: Store, name: str, rows: Sequence[WorkerRow], data: bytes, actor: str, *, expected: int | None = None
) -> ImportResult:
    """Import workers: newcomers join, and changes to known ones are recorded. The same file again changes nothing.

    Names are stored apart from the record, which notes only whose name changed.
    """
    with store.writing(name, actor, expected) as work:
        known = work.people()
        site = work.site
        seated = site.has_begun
        facts: list[WorkerUpdate] = []
        people, renamed = list[Identity](), list[Identity]()
        warnings, too_late = list[str](), list[str]()
        next_number, clipped = len(site.workers), 0
        for row in _checked_people(rows):
            prior = _prior(site, row)
            clipped += prior is not None and prior[2]
            if row.worker_id not in known:
                _check_new_id(row.worker_id)
                facts.append(WorkerUpdate(next_number, _newcomer(row, prior), active=bool(row.active) and not seated))
                if row.active and seated:
                    too_late.append(row.worker_id)
                people.append(Identity(next_number, row.worker_id, row.name))
                next_number += 1
            else:
                number, called = known[row.worker_id]
                changes, starts = _changes(site, number, row, prior), bool(row.active) and not seated
                if row.active and seated and number not in site.roster.active:
                    too_late.append(row.worker_id)
                if changes or starts:
                    facts.append(WorkerUpdate(number, changes, active=starts))
                if row.name is not None and row.name != called:
                    renamed.append(Identity(number, row.worker_id, row.name))
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
            warnings.append(f"{some_of(too_late)}: active counts at the start only; record later changes as the team")
        commitments = identities.enrol(work.connection, work.key, people)
        commitments += identities.rename(work.connection, work.key, renamed)
        touched = {update.worker for update in facts} | {who.worker for who in renamed}
        if touched:
            digest = hashlib.sha256(data).hexdigest()
            work.keep_answer(recorded=len(touched), known=len(rows) - len(touched))
            work.add(WorkersImported(digest, tuple(facts), tuple(who.worker for who in renamed), commitments))
            work.check_interviews()
        return ImportResult(len(touched), len(rows) - len(touched), tuple(warnings))


def _checked_people(rows: Sequence[WorkerRow]) -> Sequence[WorkerRow]:
    """Check ids and names before anything is written."""
    seen: set[str] = set()
    for row in rows:
        checked_text("worker_id", row.worker_id, LONGEST_ID, least=1)
        if row.name is not None:
            checked_text("name", row.name, LONGEST_NAME)
        if row.worker_id in seen:
            raise InvalidInput("worker_id", row.worker_id, "occurs twice in the file; keep one row for each worker")
        seen.add(row.worker_id)
    return rows


def _check_new_id(worker: str) -> None:
    """Refuse an id that would be another one after an export and an import; people who have such ids keep them."""
    if not is_worker_id(worker):
        remedy = "must have no blanks around it, no line breaks or invisible characters, and composed accents (NFC)"
        raise InvalidInput("worker_id", worker, remedy)


def _prior(site: Site, row: WorkerRow) -> tuple[int, float, bool] | None:
    """Return a worker's count of earlier observations, their mean in the policy's units, and if it was clipped."""
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
    """Return what a row changes for a known worker; blank cells change nothing."""
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
        same = given == known or (  # an export of an older record is rounded
            given is not None and known is not None and math.isclose(given, known, rel_tol=1e-9, abs_tol=1e-12)
        )
        if count != worker.prior_n or not same:
            changes |= {"prior_n": count, "prior_mean": mean, "prior_given": given}
    return changes


def _status(row: WorkerRow) -> str:
    return one_of("status", row.status or POOL, STATUSES)
