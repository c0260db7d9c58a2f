"""Files of who was at which station, from when until when."""

from collections.abc import Mapping

from crewlearn.advisor.files import cells
from crewlearn.advisor.files.cells import DateOrder
from crewlearn.advisor.files.columns import WORKERS, Column, Columns
from crewlearn.advisor.files.reading import parsed_rows, scan
from crewlearn.advisor.files.tables import read_table
from crewlearn.advisor.ledger.team.recording import TeamRow

TEAM = Columns(
    "team",
    (
        WORKERS["worker_id"],
        Column("station", "Station", cells.PERIOD, ("place", "workplace", "seat", "Platz", "poste")),
        Column(
            "from", "First day", cells.DATE, ("since", "start", "first day", "von", "seit", "du"), True, field="first"
        ),
        Column("until", "Last day", cells.DATE, ("to", "end", "last day", "bis", "au"), field="last"),
    ),
)


def read_team(
    data: bytes,
    mapping: Mapping[str, str] | None = None,
    *,
    what: str = "team.csv",
    dates: DateOrder | None = None,
) -> list[TeamRow]:
    """Read a file of stints, or raise `CsvErrors` with every error in it; `until` is the last day, or blank.

    >>> read_team(b"Badge no;Station;From;Until\\n007;2;16.11.2026;\\n")
    [TeamRow(worker_id='007', first=datetime.date(2026, 11, 16), last=None, station=2)]
    """
    scanned = scan(read_table(data, what, TEAM, mapping), TEAM, dates=dates)
    rows = []
    for line, values, sound in parsed_rows(scanned, TEAM, TeamRow):
        if not sound:
            continue
        worker, first, last, station = values
        if first is None:
            scanned.errors.add(line, "from", "", "the first day at the station")
        elif last is not None and last < first:
            scanned.errors.add(line, "until", str(last), f"no day before the first one, {first}")
        else:
            rows.append(TeamRow(worker, first, last, station))
    scanned.errors.raise_any()
    return rows
