"""Shared by the parts of the benchmark: timing, limits, and a main program that reports missed limits.

A limit is a mapping with a measured number and `at_most` or `at_least`. Results may nest limits freely.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

Results = dict[str, Any]
MEASURES = ("ratio", "count", "geometric_mean", "gibibytes", "milliseconds", "seconds")
"""Keys of a limit's measured number; the first one present counts."""


def timed(work: Callable[[], object]) -> float:
    """Return the duration of a call in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best_of(times: int, work: Callable[[], object]) -> float:
    """Return the shortest of several timings in seconds, which is the least disturbed by other load."""
    return min(timed(work) for _ in range(times))


def missed(results: object, path: str = "") -> Iterator[str]:
    """Yield a line for each missed limit in nested results."""
    if not isinstance(results, dict):
        return
    if "at_most" in results or "at_least" in results:
        value = next(results[name] for name in MEASURES if name in results)
        if "at_most" in results and not value <= results["at_most"]:
            yield f"{path}: {value:.3g}, at most {results['at_most']:g}"
        if "at_least" in results and not value >= results["at_least"]:
            yield f"{path}: {value:.3g}, at least {results['at_least']:g}"
    for key, value in results.items():
        yield from missed(value, f"{path}/{key}" if path else key)


def part_options(part: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser for the options that every part has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="skip measurements that take minutes")
    parser.add_argument("--out", type=Path, default=Path(f"bench-{part}.json"))
    return parser


def report(results: Results, out: Path) -> NoReturn:
    """Write and print the results and the missed limits; exit with 1 if a limit was missed."""
    misses = list(missed(results))
    out.write_text(json.dumps({**results, "missed": misses}, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    print(f"written to {out}; " + ("every limit kept" if not misses else "MISSED:"))
    for line in misses:
        print(f"  {line}")
    sys.exit(1 if misses else 0)


def run_part(part: str, measure: Callable[[bool], Results], description: str | None) -> NoReturn:
    """Run a part's measurements and report the results."""
    options = part_options(part, description).parse_args()
    report(measure(options.quick), options.out)
