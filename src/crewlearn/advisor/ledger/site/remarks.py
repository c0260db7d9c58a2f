"""What people said of workers: whom to keep, whom not to bring in, which exchange not now, and notes.

Each has a day on which it ends by itself, a reason, and who said it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from crewlearn.policies.contract import Pair


@dataclass(frozen=True)
class Remark:
    """A reason or note, by whom and when (UTC), and the day from which it no longer holds; None: until it is lifted."""

    text: str
    by: str
    at: str
    until: date | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Remark":
        """Rebuild what `to_json` described."""
        until = data.get("until")
        return cls(data["text"], data["by"], data["at"], None if until is None else date.fromisoformat(until))

    def to_json(self) -> dict[str, Any]:
        """Describe the remark as plain data, without an end that is not set."""
        plain = {"text": self.text, "by": self.by, "at": self.at}
        return plain if self.until is None else {**plain, "until": self.until.isoformat()}

    def holds_on(self, day: date) -> bool:
        """Return whether it holds on a day.

        >>> [Remark("", "", "", date(2026, 12, 1)).holds_on(date(2026, month, 1)) for month in (11, 12)]
        [True, False]
        """
        return self.until is None or day < self.until


@dataclass(frozen=True)
class Remarks:
    """The remarks at a site, by worker number.

    `protected` are not to be replaced, `blocked` not to be brought in. The flag of a worker decides about one without
    an end (`pinned`, status blocked); the remark then says why. `set_aside` are exchanges not to be proposed before a
    period. `notes` are for people only.
    """

    protected: Mapping[int, Remark] = field(default_factory=dict)
    blocked: Mapping[int, Remark] = field(default_factory=dict)
    set_aside: Mapping[Pair, int] = field(default_factory=dict)
    notes: Mapping[int, tuple[Remark, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(vars(self).values())

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Remarks":
        """Rebuild what `to_json` described."""
        return cls(
            protected={int(worker): Remark.from_json(remark) for worker, remark in data["protected"].items()},
            blocked={int(worker): Remark.from_json(remark) for worker, remark in data["blocked"].items()},
            set_aside={(out, into): period for out, into, period in data["set_aside"]},
            notes={int(worker): tuple(map(Remark.from_json, listed)) for worker, listed in data["notes"].items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Describe the remarks as plain data, in a stable order."""
        return {
            "protected": {str(worker): remark.to_json() for worker, remark in sorted(self.protected.items())},
            "blocked": {str(worker): remark.to_json() for worker, remark in sorted(self.blocked.items())},
            "set_aside": [[out, into, period] for (out, into), period in sorted(self.set_aside.items())],
            "notes": {
                str(worker): [remark.to_json() for remark in listed] for worker, listed in sorted(self.notes.items())
            },
        }

    def protection_of(self, worker: int, day: date, *, for_good: bool) -> Remark | None:
        """Return what protects a worker on a day; `for_good` is the flag that decides about one without an end."""
        return _holding(self.protected.get(worker), day, for_good=for_good)

    def block_on(self, worker: int, day: date, *, for_good: bool) -> Remark | None:
        """Return what blocks a worker on a day; `for_good` is the flag that decides about one without an end."""
        return _holding(self.blocked.get(worker), day, for_good=for_good)

    def notes_on(self, worker: int, day: date) -> tuple[Remark, ...]:
        """Return the notes on a worker that hold on a day, oldest first."""
        return tuple(note for note in self.notes.get(worker, ()) if note.holds_on(day))

    def protecting(self, worker: int, remark: Remark) -> "Remarks":
        """Return the remarks with a worker protected."""
        return replace(self, protected={**self.protected, worker: remark})

    def blocking(self, worker: int, remark: Remark) -> "Remarks":
        """Return the remarks with a worker blocked."""
        return replace(self, blocked={**self.blocked, worker: remark})

    def setting_aside(self, pair: Pair, until: int, period: int) -> "Remarks":
        """Return the remarks with an exchange set aside until a period, without those that ended by `period`."""
        standing = {other: end for other, end in self.set_aside.items() if end > period}
        return replace(self, set_aside={**standing, pair: until})

    def noting(self, worker: int, note: Remark, day: date) -> "Remarks":
        """Return the remarks with one more note on a worker; notes on them that ended by `day` are dropped."""
        return replace(self, notes={**self.notes, worker: (*self.notes_on(worker, day), note)})

    def without(self, worker: int, *kinds: str) -> "Remarks":
        """Return the remarks without those of some kinds on a worker.

        >>> Remarks(protected={3: Remark("trains the others", "Ann", "")}).without(3, "protected")
        Remarks(protected={}, blocked={}, set_aside={}, notes={})
        """
        fewer: dict[str, Any] = {kind: _without(getattr(self, kind), worker) for kind in kinds}
        return replace(self, **fewer)

    def ended_between(self, first: date, last: date, since: int, period: int) -> bool:
        """Return whether one that held on day `first` in period `since` no longer does on day `last` in `period`."""
        dated = (*self.protected.values(), *self.blocked.values())
        return any(remark.holds_on(first) and not remark.holds_on(last) for remark in dated) or any(
            since < end <= period for end in self.set_aside.values()
        )


def _holding(remark: Remark | None, day: date, *, for_good: bool) -> Remark | None:
    if remark is None:
        return None
    return remark if (for_good if remark.until is None else remark.holds_on(day)) else None


def _without(remarks: Mapping[int, Any], worker: int) -> dict[int, Any]:
    return {number: remark for number, remark in remarks.items() if number != worker}


NO_REMARKS = Remarks()
