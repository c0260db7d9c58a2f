"""Files of output on their way to the record: read as ours, by a profile, or as detection proposes once confirmed."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crewlearn.advisor.files.cells import key_of
from crewlearn.advisor.files.columns import OUTPUT, OutputRow
from crewlearn.advisor.files.detection.layout import Layout
from crewlearn.advisor.files.detection.plan import ROLES, ReadingPlan
from crewlearn.advisor.files.detection.proposing import Wishes, parse_filter, plan_layout, propose
from crewlearn.advisor.files.detection.site_view import SiteView, view_of
from crewlearn.advisor.files.detection.summing import Summed, sum_rows
from crewlearn.advisor.files.detection.writing import Writing
from crewlearn.advisor.files.errors.file_errors import CsvErrors, ErrorCollector
from crewlearn.advisor.files.intake import profiles
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.intake.newcomers import enrol
from crewlearn.advisor.files.intake.rehearsal import Rehearsal, rehearsal_of
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.reading import scan, sound_output_rows
from crewlearn.advisor.files.recording.guard import collect
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.tables import MOST_ROWS, FileTable, read_table
from crewlearn.advisor.ledger.errors import Stale, StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput, unknown_name


@dataclass(frozen=True)
class OutputReading:
    """A file of output, read: its sound rows, the errors in the others, and how it was read.

    `table` has the headers used, by column, and those that are not. `plan` is None for a file laid out as ours;
    `keep` is the name under which the plan is kept as a profile, empty if it is not. `first_team` is whether the team
    is taken from this file because nobody is in it yet.
    """

    rows: list[OutputRow]
    errors: ErrorCollector
    count: int
    table: FileTable
    plan: ReadingPlan | None = None
    keep: str = ""
    sentences: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    first_team: bool = False


def read_output_file(store: Store, site: str, file: ImportFile) -> OutputReading:
    """Read a file of output: by a profile that fits, else as detection proposes if that is accepted, else as ours.

    Errors in rows are collected; a file whose header is not understood raises `CsvErrors`.
    """
    view, options = view_of(store, site), file.options
    for column in options.mapping:
        if column not in (*OUTPUT.names, *ROLES):
            raise unknown_name("map", column, dict.fromkeys((*OUTPUT.names, *ROLES)))
    if not options.mapping and not options.where:
        fitting = profiles.fitting_profile(profiles.profiles_of(store, site), file.sources)
        if fitting is not None:
            plan, writing = plan_layout(fitting.plan, fitting.layout, view, options.decimal, options.dates)
            told = (f"Read by the profile “{fitting.name}”.",)
            return read_by_plan(file, view, plan, fitting.layout, writing, told)
    if options.yes or options.where:
        return _as_proposed(file, view)
    return read_as_ours(file, view)


def read_as_ours(file: ImportFile, view: SiteView) -> OutputReading:
    """Return a file that has a header in its first line, our columns, and a row for each person and day."""
    options = file.options
    table = read_table(file.sources, file.what, OUTPUT, options.mapping)
    scanned = scan(table, OUTPUT, options.decimal, options.dates, view.calendar.day_of)
    rows = sound_output_rows(scanned, blank_ids=options.skip_unknown)
    return OutputReading(rows, scanned.errors, scanned.rows, table)


def _as_proposed(file: ImportFile, view: SiteView) -> OutputReading:
    """Read a file as detection proposes."""
    options = file.options
    wishes = Wishes(options.mapping, options.decimal, options.dates, parse_filter(options.where))
    proposed = propose(file.what, file.sources, view, wishes)
    plan = dataclasses.replace(proposed.plan, team_from_output=options.team_from_output)
    reading = read_by_plan(file, view, plan, proposed.layout, proposed.writing, proposed.sentences)
    if not options.yes:
        return reading
    keep, sentences = profiles.profile_name(file.name), reading.sentences
    if not view.has_team:
        sentences += ("Nobody is in the team yet, so it is taken from who produced.",)
    return dataclasses.replace(reading, keep=keep, sentences=sentences, first_team=not view.has_team)


def read_by_plan(
    file: ImportFile, view: SiteView, plan: ReadingPlan, layout: Layout, writing: Writing, told: Sequence[str]
) -> OutputReading:
    """Return a file as a plan reads it; `told` is the plan in sentences."""
    errors = ErrorCollector(file.what)
    summed: Summed = sum_rows(layout, layout.body(), plan, writing, view, errors)
    columns = {**plan.columns, **({"units": plan.measure.of} if plan.measure.of else {})}
    positions = {name: layout.places[key_of(header)] for name, header in columns.items()}
    used = {key_of(header) for header in plan.headers}
    ignored = tuple(header for header in layout.headers if key_of(header) not in used)
    table = FileTable(layout.source, layout.line, layout.headers, positions, ignored, MOST_ROWS)
    return OutputReading(
        summed.rows,
        errors,
        writing.rows,
        table,
        plan=plan,
        sentences=tuple(told),
        names=summed.names,
        notices=tuple(summed.notices()),
    )


def take_in_output(
    store: Store, site: str, file: ImportFile, actor: str, *, expected: int | None = None
) -> ImportResult:
    """Import a file of output, all of it or nothing; errors of reading and of meaning are raised together.

    A file that is not laid out as ours is refused with the reading that is proposed, unless the caller accepts it.
    """
    try:
        reading = read_output_file(store, site, file)
        return record(store, site, file, reading, actor, expected=expected)
    except CsvErrors as error:
        raise error if file.options.yes else with_reading(store, site, file, actor, error) from None


def record(
    store: Store, site: str, file: ImportFile, reading: OutputReading, actor: str, *, expected: int | None = None
) -> ImportResult:
    """Record what was read, with newcomers and the profile, in one transaction; or raise every error."""
    if reading.errors.total:
        _collect_meaning(rehearsal_of(store), site, file, reading, actor)
        reading.errors.raise_any()
    return _import(store, site, file, reading, actor, expected)


def _collect_meaning(store: Rehearsal, site: str, file: ImportFile, reading: OutputReading, actor: str) -> None:
    """Add the errors that the sound rows would have, to those of the others.

    Days that have few people or are off for everybody are not told: the other rows may be theirs.
    """
    try:
        done = _import(store, site, with_options(file, accept_unusual=True), reading, actor, None)
        if not file.options.accept_unusual:
            collect(reading.errors, [oddity for oddity in done.unusual if oddity.line])
    except CsvErrors as error:
        reading.errors.merge(error)
    except InvalidInput as error:
        if isinstance(error, (Stale, StoreUnavailable)):
            raise
        reading.errors.add(0, error.field, str(error.value), error.remedy)


def _import(
    store: Store, site: str, file: ImportFile, reading: OutputReading, actor: str, expected: int | None
) -> ImportResult:
    options, plan = file.options, reading.plan

    def prepare(work: SiteTransaction) -> None:
        newcomers = options.yes or (plan is not None and plan.newcomers)
        if newcomers and not options.skip_unknown:
            enrol(work, (row.worker_id for row in reading.rows), reading.names, file.data)
        if plan is not None and reading.keep:
            profiles.keep(work, reading.keep, plan)

    done = import_output(
        store,
        site,
        reading.rows,
        file.data,
        actor,
        correct=options.correct,
        skip_unknown=options.skip_unknown,
        overtime=options.yes or options.overtime or (plan is not None and plan.overtime),
        team_from_output=options.team_from_output or reading.first_team or (plan is not None and plan.team_from_output),
        accept_unusual=options.accept_unusual,
        what=file.what,
        expected=expected,
        normalised=True,
        prepare=prepare,
    )
    warnings = (*reading.notices, *done.warnings)
    return dataclasses.replace(done, warnings=warnings, reading=reading.sentences)


def with_reading(store: Store, site: str, file: ImportFile, actor: str, error: CsvErrors) -> CsvErrors:
    """Return a file's errors with how it could be read instead, if that would succeed.

    If it would fail too and none of our columns was found, the errors of that reading are returned in their place.
    """
    accepted = with_options(file, yes=True, accept_unusual=True)
    told: tuple[str, ...] = ()
    try:
        reading = read_output_file(store, site, accepted)
        if reading.plan is None or not reading.rows:
            return error
        told = reading.sentences
        done = record(rehearsal_of(store), site, accepted, reading, actor)
    except CsvErrors as other:
        if not error.misses_all_columns:
            return error
        return CsvErrors(other.what, other.errors, other.total, other.groups, told, readable=False)
    except InvalidInput as other:
        if isinstance(other, (Stale, StoreUnavailable)):
            raise
        return error
    sentences = [*told, *(f"{notice[0].upper()}{notice[1:]}." for notice in reading.notices)]
    if done.enrolled:
        sentences.append(f"People not known yet are enrolled: {done.enrolled:,}.")
    return CsvErrors(error.what, error.errors, error.total, error.groups, tuple(sentences))


def is_output(store: Store, site: str, file: ImportFile) -> bool:
    """Return whether a file can be read as output, by a profile or as detection proposes."""
    try:
        return bool(read_output_file(store, site, with_options(file, yes=True)).rows)
    except InvalidInput as error:
        if isinstance(error, StoreUnavailable):
            raise
        return False


def with_options(file: ImportFile, **changes: Any) -> ImportFile:
    """Return a file with other options; what was parsed of it is kept."""
    changed = dataclasses.replace(file, options=dataclasses.replace(file.options, **changes))
    if "sources" in vars(file):
        vars(changed)["sources"] = file.sources
    return changed
