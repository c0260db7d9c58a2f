"""Reading a file of output before there is a site: nothing is known yet but what the file says."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from crewlearn.advisor.files.cells import key_of
from crewlearn.advisor.files.columns import OUTPUT, OutputRow
from crewlearn.advisor.files.detection.layout import Layout
from crewlearn.advisor.files.detection.measures import kind_of
from crewlearn.advisor.files.detection.plan import ROLES, Measure, ReadingPlan
from crewlearn.advisor.files.detection.proposing import Wishes, parse_filter, propose
from crewlearn.advisor.files.detection.roles import facts_of
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.words.names import KnownPeople
from crewlearn.advisor.files.detection.writing import Writing
from crewlearn.advisor.files.errors.file_errors import CsvErrors
from crewlearn.advisor.files.errors.grouping import CsvError
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.intake.output_files import OutputReading, read_as_ours, read_by_plan
from crewlearn.advisor.files.intake.profiles import profile_name
from crewlearn.advisor.files.tables import read_table
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import EARLIEST, SiteConfig
from crewlearn.advisor.ledger.settings.units import MOST, Units
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput, unknown_name

LESS_IS_BETTER = ("errors", "handle", "total_handle")
"""Kinds of output of which less is better, by the words of their header."""


@dataclass(frozen=True)
class FirstReading:
    """A file of output as it is read without a site.

    `measured` is the header of the output and `kind` what its words say it is, such as `rate` or `errors`; empty if
    they say nothing. `layout` and `writing` are None for a file laid out as ours.
    """

    read: OutputReading
    measured: str
    kind: str
    layout: Layout | None = None
    writing: Writing | None = None

    @property
    def rows(self) -> list[OutputRow]:
        """The rows that were read without errors."""
        return self.read.rows

    @property
    def measure(self) -> Measure:
        """What of the file is the output."""
        return Measure("sum", self.measured) if self.read.plan is None else self.read.plan.measure

    @property
    def cutoff_hour(self) -> int:
        """The hour at which days change."""
        return 0 if self.read.plan is None else self.read.plan.cutoff or 0

    def for_site(self, file: ImportFile, config: SiteConfig, today: date) -> OutputReading:
        """Return the file as it is read for a site with these settings; the reading becomes the site's profile."""
        view = SiteView(config.calendar, config.units, KnownPeople({}), today)
        if self.read.plan is None or self.layout is None or self.writing is None:
            return read_as_ours(file, view)
        plan = replace(self.read.plan, cutoff=None)  # it is the calendar's now, where people may change it
        reading = read_by_plan(file, view, plan, self.layout, self.writing, self.read.sentences)
        return replace(reading, keep=profile_name(file.name))


def read_first(file: ImportFile, today: date) -> FirstReading:
    """Read a file of output without a site; every error is raised as `CsvErrors`."""
    for column in file.options.mapping:
        if column not in (*OUTPUT.names, *ROLES):
            raise unknown_name("map", column, dict.fromkeys((*OUTPUT.names, *ROLES)))
    view = SiteView(
        WorkCalendar(date(EARLIEST, 1, 1), tuple(range(7))),
        Units(-MOST, MOST),
        KnownPeople({}),
        today,
        range_known=False,
    )
    first = _as_ours(file, view) if _is_ours(file) else _as_found(file, view)
    first.read.errors.raise_any()
    if not first.rows:
        raise InvalidInput("file", file.what, _("has no output; choose a file with days, workers and what they made"))
    if any(row.day is None for row in first.rows):
        remedy = _("a column of dates, from which the working days of the site follow")
        raise CsvErrors(file.what, [CsvError(1, "date", ", ".join(first.read.table.headers)[:200], remedy)], 1)
    return first


def _is_ours(file: ImportFile) -> bool:
    """Return whether a file has our own headers, as exports of a site have."""
    if file.options.mapping or file.options.where:
        return False
    try:
        headers = set(read_table(file.sources, file.what, OUTPUT).headers)
    except CsvErrors:
        return False
    return {"worker_id", "units"} <= headers and bool({"date", "period"} & headers)


def _as_ours(file: ImportFile, view: SiteView) -> FirstReading:
    read = read_as_ours(file, view)
    header = read.table.headers[read.table.positions["units"]]
    told = (
        _("The header is in line {header_line}.", header_line=read.table.header_line),
        _("A day's output is “{header}”.", header=header),
    )
    return FirstReading(replace(read, sentences=told), header, "")


def _as_found(file: ImportFile, view: SiteView) -> FirstReading:
    options = file.options
    wishes = Wishes(options.mapping, options.decimal, options.dates, parse_filter(options.where))
    found = propose(file.what, file.sources, view, wishes)
    plan: ReadingPlan = replace(found.plan, team_from_output=False)
    read = read_by_plan(file, view, plan, found.layout, found.writing, found.sentences)
    return FirstReading(read, plan.measure.of, _kind(found.layout, plan), found.layout, found.writing)


def _kind(layout: Layout, plan: ReadingPlan) -> str:
    """Return what the header of the output says it is."""
    if plan.measure.kind in ("count", "product"):
        return "units"
    if plan.measure.kind == "ratio":
        return "percent" if plan.measure.scale == 100.0 else "handle"
    wanted = key_of(plan.measure.of)
    kinds: Mapping[str, str] = {key_of(column.header): kind_of(column) for column in facts_of(layout)}
    return kinds.get(wanted, "")
