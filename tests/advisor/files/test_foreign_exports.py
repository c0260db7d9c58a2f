"""Exports of other systems go in unedited: one command with --yes, and the next one without options."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.cli.main import app
from support.exports import FOLDER, SHAPES, WEEKS, Shape, drafted, path_of

EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
Days = dict[tuple[str, str], tuple[float | None, float | None]]


def run(url: str, *arguments: str, code: int = 0) -> Any:
    outcome = CliRunner().invoke(app, [*arguments, "--db", url])
    assert outcome.exit_code == code, (arguments, outcome.output, outcome.exception)
    return outcome


def create(url: str, shape: Shape) -> None:
    low, high = shape.output_range
    rate = [] if shape.hours_per_period is None else ["--hours", str(shape.hours_per_period)]
    run(
        url,
        *("site", "create", "s", "--team", "3", "--cost", "5", "--horizon", "200", "--mean-delay", "2"),
        *("--output-range", f"{low}:{high}", "--start", "2026-01-05", "--policy", "keep-team", *rate),
    )


def recorded(store: Store) -> Days:
    """Return the units and hours on record by worker and day, as they stand."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, "s")
        people = read_people(connection, key)
        rows = list(standing_rows(connection, key, range(len(site.workers))))
    day_of = site.config.calendar.date_of
    return {(people.ids[row.worker] or "", str(day_of(row.period))): (row.units, row.hours) for _, row in rows}


def expected(shape: Shape, *weeks: int) -> Days:
    rows = [row for week in weeks for row in EXPECTED[path_of(shape, week).name]]
    return {(worker, day): (units, hours) for worker, day, units, hours in rows}


def rounded(days: Days) -> Days:
    return {place: (to_six(units), to_six(hours)) for place, (units, hours) in days.items()}


def to_six(value: float | None) -> float | None:
    """Return a value rounded to six decimals."""
    return None if value is None else round(value, 6)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_export_goes_in_with_one_command_and_the_next_without_options(shape: Shape, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    create(url, shape)
    first = run(url, "output", "import", "s", str(path_of(shape, 0)), "--yes")
    with open_store(url) as store:
        assert rounded(recorded(store)) == rounded(expected(shape, 0)), first.output
    run(url, "output", "import", "s", str(path_of(shape, 1)))
    again = run(url, "output", "import", "s", str(path_of(shape, 0)))
    assert "0 rows recorded" in again.output
    with open_store(url) as store:
        assert rounded(recorded(store)) == rounded(expected(shape, 0, 1))
        assert verify(store, "s").sound


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_files_are_those_that_the_script_writes(shape: Shape) -> None:
    for week in range(len(WEEKS)):
        draft, data = drafted(shape, week)
        assert path_of(shape, week).read_bytes() == data
        written = {(worker, day): tuple(values) for worker, day, *values in EXPECTED[path_of(shape, week).name]}
        assert written == draft.truth
