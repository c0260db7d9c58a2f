"""Run all parts of the benchmark, or those named, and list all missed limits at the end.

Each part runs in a separate process, so that its memory use and start-up time are measured alone. A part that fails
counts as a miss, and the next one still runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PARTS = (
    "engine",
    "floors",
    "processes",
    "planning",
    "advisor",
    "value",
    "evolving",
    "learners",
    "web",
    "pages",
    "sites",
)
FOLDER = Path(__file__).parent


def misses_of(part: str, options: Sequence[str], folder: Path = FOLDER) -> list[str]:
    """Run a part and return its missed limits; a part without results is itself a miss."""
    print(f"\n== {part}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "results.json"
        command = [sys.executable, str(folder / f"{part}.py"), *options, "--out", str(results)]
        status = subprocess.run(command, check=False).returncode
        if not results.exists():
            return [f"{part}: exited with status {status} without results"]
        Path(f"bench-{part}.json").write_text(results.read_text())
        return [f"{part}: {miss}" for miss in json.loads(results.read_text())["missed"]]


def main() -> None:
    """Run the parts in sequence, then list the missed limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="skip measurements that take minutes")
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    misses = [miss for part in options.parts or PARTS for miss in misses_of(part, ["--quick"] if options.quick else [])]
    print("\n== all parts: " + ("every limit kept" if not misses else f"{len(misses)} missed"))
    for miss in misses:
        print(f"  {miss}")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
