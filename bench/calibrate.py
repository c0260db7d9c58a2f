"""Calibrate what people are told against the truth of simulated firms: `make calibrate`.

Every case measured is appended to `reports/calibrate/PART.jsonl` at once, so that a run that was stopped goes on where
it was: a rerun skips the cases on file. `--fresh` measures all again, as after a change of what is measured. At the end
each part's table is printed as the docs have it, and written beside the results, with every limit missed.

`--record` writes the figures of the parts that the package has into it, where the model card reads them. The table in
docs/evidence/gain.md has to be the same, which a test checks.

A new part is a module of `calibration` with a `PART`, and its name in `PARTS`.
"""

import argparse
import importlib
import json
import math
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from calibration.parts import Case, Limit, Line, Part, Row

PARTS: tuple[str, ...] = ("gain", "plan", "backtest", "pilot")
"""The parts, each the name of a module of `calibration`."""

RESULTS = Path("reports/calibrate")
RECORD = Path("src/crewlearn/advisor/evidence/calibration.json")
"""The figures that the package has: only of the parts that are in it."""
_ANY = Limit()


def part_named(name: str) -> Part:
    """Return a part of the calibration."""
    part = importlib.import_module(f"calibration.{name}").PART
    assert isinstance(part, Part)
    return part


def on_file(path: Path) -> list[Row]:
    """Return the rows of a results file; a last line that was cut short is left out."""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def identity(case: Case) -> str:
    """Return a case as text that is the same for the same case."""
    return json.dumps(case, sort_keys=True)


def measure(name: str, case: Case) -> Row:
    """Measure a case of a part, in whichever process."""
    return part_named(name).measure(case)


def measured(name: str, cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, Row]]:
    """Yield cases with what they came to, in order."""
    if jobs == 1:
        for case in cases:
            yield case, measure(name, case)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from zip(cases, pool.map(measure, [name] * len(cases), cases, chunksize=4), strict=True)


def calibrate(name: str, folder: Path, *, quick: bool, jobs: int, fresh: bool) -> list[Line]:
    """Measure the cases of a part that are not on file, and return its table."""
    part, path = part_named(name), folder / f"{name}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if fresh:
        path.unlink(missing_ok=True)
    cases = list(part.cases(quick))
    done = {identity(row["case"]): row for row in on_file(path)}
    left = [case for case in cases if identity(case) not in done]
    with path.open("a", encoding="utf-8") as file:
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            file.write("\n")
        for number, (case, row) in enumerate(measured(name, left, jobs), 1):
            done[identity(case)] = {"case": case, **row}
            file.write(json.dumps(done[identity(case)]) + "\n")
            file.flush()
            if number % 50 == 0 or number == len(left):
                print(f"{name}: {number} of {len(left)}", file=sys.stderr, flush=True)
    return list(part.table([{**case, **done[identity(case)]} for case in cases]))


def markdown(lines: Sequence[Line]) -> str:
    """Return a table as Markdown; a figure outside of its limits is in bold."""
    columns = list(dict.fromkeys(name for line in lines for name in line.figures))
    rows = [["", *columns], ["---"] * (1 + len(columns))]
    for line in lines:
        cells = []
        for name in columns:
            value = float(line.figures.get(name, math.nan))
            text = "–" if math.isnan(value) else f"{value:,.0f}" if value.is_integer() else f"{value:,.3g}"
            cells.append(text if line.limits.get(name, _ANY).holds(value) or text == "–" else f"**{text}**")
        rows.append([line.title, *cells])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def record(path: Path, name: str, lines: Sequence[Line]) -> None:
    """Write a part's lines to the package's figures, with three digits as in the docs, if it has that part."""
    parts = json.loads(path.read_text(encoding="utf-8"))
    if name not in parts:
        return
    parts[name] = [
        {
            "title": line.title,
            "figures": {key: float(f"{value:.3g}") for key, value in line.figures.items() if not math.isnan(value)},
            "limits": {key: [limit.least, limit.most] for key, limit in line.limits.items()},
        }
        for line in lines
    ]
    written = [
        f"{json.dumps(part)}: [\n" + ",\n".join(f"  {json.dumps(line)}" for line in own) + "\n]"
        for part, own in parts.items()
    ]
    path.write_text("{\n" + ",\n".join(written) + "\n}\n", encoding="utf-8")


def recorded(path: Path, name: str) -> list[Line]:
    """Return a part's lines as the package has them."""
    return [
        Line(line["title"], line["figures"], {key: Limit(*ends) for key, ends in line["limits"].items()})
        for line in json.loads(path.read_text(encoding="utf-8"))[name]
    ]


def main() -> None:
    """Calibrate the parts named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="measure fewer cases")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (2)")
    parser.add_argument("--fresh", action="store_true", help="measure again what is on file")
    parser.add_argument("--record", action="store_true", help=f"write the figures to {RECORD} too")
    parser.add_argument("--out", type=Path, default=RESULTS, help=f"folder of the results ({RESULTS})")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the processes to come: threads of theirs disturb each other
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    misses = []
    for name in options.parts or PARTS:
        lines = calibrate(name, options.out, quick=options.quick, jobs=options.jobs, fresh=options.fresh)
        text = markdown(lines)
        (options.out / f"{name}.md").write_text(text, encoding="utf-8")
        print(f"\n== {name}\n\n{text}")
        if options.record:
            record(RECORD, name, lines)
        misses += [f"{name}: {miss}" for line in lines for miss in line.missed()]
    print("== all parts: " + ("every limit kept" if not misses else f"{len(misses)} missed"))
    for miss in misses:
        print(f"  {miss}")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
