"""Files of workers and of output, taken in or tried: one way for pages, the API and jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Literal

from crewlearn.advisor import csv_in, imports
from crewlearn.advisor.csv_table import Columns, read_table
from crewlearn.advisor.imports import Done
from crewlearn.advisor.rehearsal import Checked, check_import
from crewlearn.advisor.store import Store
from crewlearn.web import reads

OUTPUT, WORKERS = KINDS = ("output", "workers")
COLUMNS: Mapping[str, Columns] = {OUTPUT: csv_in.OUTPUT, WORKERS: csv_in.WORKERS}


@dataclass(frozen=True)
class Options:
    """How a file is to be read and taken in; workers know no order of dates, nor the ticks."""

    mapping: Mapping[str, str]
    decimal: Literal[".", ","] | None = None
    dates: Literal["day-first", "month-first"] | None = None
    correct: bool = False
    skip_unknown: bool = False
    check_only: bool = False


@dataclass(frozen=True)
class File:
    """A file that somebody gave: what it is about, how it is to be read, and what errors call it."""

    kind: str
    data: bytes
    options: Options
    name: str = ""

    @property
    def called(self) -> str:
        """What errors call it."""
        return self.name or f"{self.kind}.csv"


def take_in(store: Store, site: str, actor: str, file: File, expected: int | None = None) -> Done:
    """Put a file on record, all of it or nothing."""
    return _take_in(store, site, actor, file, _day_of(store, site), expected)


def check(store: Store, site: str, actor: str, file: File, expected: int | None = None) -> Checked:
    """Say what taking a file in would do, with all that is wrong with it."""
    day_of = _day_of(store, site)
    return check_import(
        store,
        partial(read_table, file.data, file.called, COLUMNS[file.kind], file.options.mapping),
        lambda into: _take_in(into, site, actor, file, day_of, expected),
    )


def _day_of(store: Store, site: str) -> Callable[[datetime], date]:
    return reads.snapshot(store, site).site.config.calendar.day_of


def _take_in(
    into: Store,
    site: str,
    actor: str,
    file: File,
    day_of: Callable[[datetime], date],
    expected: int | None,
) -> Done:
    data, options = file.data, file.options
    if file.kind == WORKERS:
        people = csv_in.read_workers(data, options.mapping, what=file.called, decimal=options.decimal)
        return imports.import_workers(into, site, people, data, actor, expected=expected)
    rows = csv_in.read_output(
        data,
        options.mapping,
        what=file.called,
        decimal=options.decimal,
        dates=options.dates,
        day_of=day_of,
        blank_ids=options.skip_unknown,
    )
    return imports.import_output(
        into,
        site,
        rows,
        data,
        actor,
        correct=options.correct,
        skip_unknown=options.skip_unknown,
        what=file.called,
        expected=expected,
    )
