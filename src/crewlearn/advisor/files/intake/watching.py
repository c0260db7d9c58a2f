"""A folder of exports: complete files are imported as they appear, and moved to `done` or `failed` with a report.

A file is moved only after its rows are on record. If the process stops in between, the file is still in the folder and
is imported again, which records nothing twice.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.files.errors.failed_imports import failed_import
from crewlearn.advisor.files.intake.import_file import ImportFile, ImportOptions
from crewlearn.advisor.files.intake.output_files import take_in_output
from crewlearn.advisor.files.recording.guard import HeldOutput
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.sources.opening import MOST_BYTES
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.notices import outbox
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import counted
from crewlearn.problem.errors import InvalidInput

DONE, FAILED = "done", "failed"
_ENDINGS = (".csv", ".txt", ".tsv", ".xlsx", ".xlsm", ".xls")


@dataclass(frozen=True)
class WatchedFile:
    """What became of a file: where it is now, and the result or the fault."""

    name: str
    moved_to: Path
    result: ImportResult | None = None
    fault: str = ""

    def report(self) -> str:
        """Return the report in words."""
        if self.result is None:
            return f"{self.name}: nothing was recorded.\n{self.fault}\n"
        done = self.result
        lines = [
            f"{self.name}: {counted(done.recorded, 'row')} recorded, {done.known:,} already on record, "
            f"{done.enrolled:,} newcomers enrolled.",
            *done.reading,
            *(f"Note: {warning}" for warning in done.warnings),
        ]
        return "\n".join(lines) + "\n"

    def document(self) -> dict[str, object]:
        """Return the report as plain data."""
        if self.result is None:
            return {"file": self.name, "outcome": FAILED, "moved_to": str(self.moved_to), "fault": self.fault}
        return {"file": self.name, "outcome": DONE, "moved_to": str(self.moved_to), **self.result.to_json()}


@dataclass
class FolderWatch:
    """A folder whose files are imported into a site; `seen` has the size and time of files not yet complete."""

    store: Store
    site: str
    folder: Path
    actor: str
    options: ImportOptions = field(default_factory=ImportOptions)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InvalidInput("folder", str(self.folder), "must be a folder that exists")

    def complete_files(self) -> list[Path]:
        """Return the files that have not changed since the last look, oldest first; note the others."""
        found: dict[str, tuple[int, int]] = {}
        ready = []
        for path in self.folder.iterdir():
            name = path.name
            if name.startswith((".", "~")) or not name.lower().endswith(_ENDINGS) or path.is_symlink():
                continue
            try:
                facts = path.stat()
            except FileNotFoundError:  # somebody else moved it
                continue
            if not path.is_file():
                continue
            found[name] = (facts.st_size, facts.st_mtime_ns)
            if self.seen.get(name) == found[name]:
                ready.append((facts.st_mtime_ns, path))
        self.seen = found
        return [path for _, path in sorted(ready)]

    def look(self) -> Iterator[WatchedFile]:
        """Import the files that are complete; yield what became of each.

        A store that is busy or away is no fault of the file, which stays for the next look.
        """
        for path in self.complete_files():
            try:
                taken = self._take(path)
            except (FileNotFoundError, StoreUnavailable):
                continue
            self.seen.pop(path.name, None)
            yield taken

    def _take(self, path: Path) -> WatchedFile:
        if path.stat().st_size > MOST_BYTES:
            self._tell(path, None)
            return self._move(path, None, f"The file has more than {MOST_BYTES:,} bytes; split it.")
        data = path.read_bytes()
        file = ImportFile(OUTPUT.kind, data, self.options, path.name)
        try:
            result = take_in_output(self.store, self.site, file, self.actor)
        except StoreUnavailable:
            raise
        except HeldOutput as held:
            self._tell(path, held)
            return self._move(path, None, "\n".join([str(held), *(f"- {oddity}" for oddity in held.oddities)]))
        except InvalidInput as error:
            self._tell(path, error)
            return self._move(path, None, str(error))
        return self._move(path, result, "")

    def _tell(self, path: Path, error: InvalidInput | None) -> None:
        """Put a notice in the outbox before the file is moved: if the process stops in between, it is told again."""
        with self.store.changing() as connection:
            key = self.store.locked_key(connection, self.site)
            outbox.put(connection, key, [failed_import(error, "folder", file=path.name)])

    def _move(self, path: Path, result: ImportResult | None, fault: str) -> WatchedFile:
        """Move a file with a report beside it, which is written first so that a moved file always has one."""
        folder = self.folder / (FAILED if result is None else DONE)
        folder.mkdir(exist_ok=True)
        target = folder / path.name
        number = 1
        while target.exists():
            number += 1
            target = folder / f"{path.stem}-{number}{path.suffix}"
        taken = WatchedFile(path.name, target, result, fault)
        _write(target.with_name(f"{target.name}.report.txt"), taken.report())
        _write(target.with_name(f"{target.name}.report.json"), json.dumps(taken.document(), indent=2) + "\n")
        os.replace(path, target)
        return taken


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def watch(
    folder: FolderWatch, *, every: float = 2.0, once: bool = False, seconds: float | None = None
) -> Iterator[WatchedFile]:
    """Look at a folder again and again; yield what became of each file.

    With `once`, the files that are there now are imported, as soon as they stop growing; with `seconds`, the watch ends
    after so long.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        yield from folder.look()
        if once and not folder.seen:
            return
        pause = every if end is None else min(every, end - time.monotonic())
        if pause <= 0.0:
            return
        time.sleep(pause)
