"""A file to import, and how it is to be read and recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from crewlearn.advisor.files.cells import DateOrder, Decimal
from crewlearn.advisor.files.sources.opening import sources_of
from crewlearn.advisor.files.sources.source import Source


@dataclass(frozen=True)
class ImportOptions:
    """How a file is read and recorded; all but `mapping`, `decimal` and `check_only` are for output only.

    Parameters
    ----------
    mapping
        The header of a column that is not recognised, by column.
    decimal, dates
        The decimal mark and the order of dates, if the file is ambiguous.
    correct
        Recorded values that differ are replaced.
    skip_unknown
        Rows of unknown workers are left out.
    check_only
        Nothing is recorded.
    yes
        What is found in the file is accepted: its layout, columns and sums, newcomers and overtime days. The reading is
        kept as a profile.
    where
        Conditions such as `Area=Pick` that rows must meet.
    overtime, team_from_output, accept_unusual
        Days that are not working days are recorded, the team is taken from the output, and output far from what is
        expected is recorded.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    decimal: Decimal | None = None
    dates: DateOrder | None = None
    correct: bool = False
    skip_unknown: bool = False
    check_only: bool = False
    yes: bool = False
    where: Sequence[str] = ()
    overtime: bool = False
    team_from_output: bool = False
    accept_unusual: bool = False


@dataclass(frozen=True)
class ImportFile:
    """A file to import: its kind, `output` or `workers`, its bytes, how it is read, and its name in errors."""

    kind: str
    data: bytes = field(repr=False)
    options: ImportOptions = field(default_factory=ImportOptions)
    name: str = ""

    @property
    def what(self) -> str:
        """The file's name in errors."""
        return self.name or f"{self.kind}.csv"

    @cached_property
    def sources(self) -> Sequence[Source]:
        """The ways in which the file can be read; a workbook is parsed once."""
        return sources_of(self.what, self.data)
