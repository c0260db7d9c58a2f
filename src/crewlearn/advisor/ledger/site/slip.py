"""What undoing the last answer, or the last answers given together, restores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.site.workers import Worker


@dataclass(frozen=True)
class Slip:
    """What undoing the last answer, event `number`, restores.

    `before` is the part of the state that an answer may change, as `Site.answered_json` returned it; `workers` are the
    workers that the answer changed, as they were. `since` is the first of several answers given together, of which
    `number` is the last.
    """

    number: int
    before: Mapping[str, Any]
    workers: Mapping[int, Worker]
    since: int | None = None

    @property
    def numbers(self) -> range:
        """The numbers of the answers that it undoes."""
        return range(self.since or self.number, self.number + 1)

    def after(self, earlier: "Slip | None") -> "Slip":
        """Return the slip of an answer together with those before it, of which `earlier` is the slip."""
        if earlier is None:
            return self
        return Slip(self.number, earlier.before, {**self.workers, **earlier.workers}, earlier.numbers[0])

    @classmethod
    def between(cls, number: int, before: Mapping[str, Any], were: Sequence[Worker], are: Sequence[Worker]) -> "Slip":
        """Return the slip of an event, given the state before it, and the workers before and after it."""
        pairs = enumerate(zip(were, are, strict=True))
        return cls(number, before, {worker: was for worker, (was, now) in pairs if was is not now})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Slip":
        """Rebuild what `to_json` described."""
        workers = {int(number): Worker(**worker) for number, worker in data["workers"].items()}
        return cls(data["number"], data["before"], workers, data.get("since"))

    def to_json(self) -> dict[str, Any]:
        """Describe the slip as plain data."""
        workers = {str(number): dict(vars(worker)) for number, worker in self.workers.items()}
        plain = {"number": self.number, "before": dict(self.before), "workers": workers}
        return plain if self.since is None else {**plain, "since": self.since}
