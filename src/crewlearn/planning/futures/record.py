"""A site's days as arrays, and what a policy that learns by day has learned from them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crewlearn.beliefs.estimates import Estimates
from crewlearn.beliefs.evolving.learning import fresh_evolving, learn_day
from crewlearn.beliefs.evolving.model import Evolving, Told
from crewlearn.engine.compiled.loops import compiled_function
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.model import Setting

_ANY_SETTING = Setting(workers=2, team=1, horizon=2, cost=1.0, mean_delay=1.0)
"""What the policy is told about people does not depend on the setting."""


@dataclass(frozen=True, eq=False)
class Record:
    """The days on record, in the policy's units; rows of arrays are workers, and columns are days, the oldest first.

    - `output` is NaN where somebody gave none, and `stations` has the worker at each station by day, -1 for nobody.
    - `experience` are the days worked before the first, `prior_counts` and `prior_sums` what else is known of people.
    - `quits` counts by day who left a station unasked.
    - `gone` is the day, from 1, in which somebody left the pool for good, and `joined` that in which they came to it;
      0 stands for never and for the start.
    - `offers` and `declines` count the offers that were settled, and those of them that were declined.
    """

    output: FloatArray
    stations: IntArray
    experience: IntArray
    prior_counts: IntArray
    prior_sums: FloatArray
    quits: IntArray
    gone: IntArray
    joined: IntArray
    offers: int = 0
    declines: int = 0

    @property
    def workers(self) -> int:
        """The number of people."""
        return len(self.output)

    @property
    def days(self) -> int:
        """The number of days."""
        return int(self.output.shape[1])

    @property
    def team(self) -> int:
        """The number of stations."""
        return len(self.stations)

    @cached_property
    def worked(self) -> IntArray:
        """The days that each had worked before each day, and before the one after the last."""
        before = np.zeros((self.workers, self.days + 1), dtype=np.int64)
        np.cumsum(~np.isnan(self.output), axis=1, out=before[:, 1:])
        return before + self.experience[:, None]

    @cached_property
    def held(self) -> IntArray:
        """1 where somebody held a station on a day, else 0."""
        held = np.zeros((self.workers, self.days), dtype=np.int64)
        for holders in self.stations:
            days = np.flatnonzero(holders != NOBODY)
            held[holders[days], days] = 1
        return held

    @property
    def absences(self) -> int:
        """How many days at a station gave no output, apart from days on which nobody worked."""
        open_days = ~np.isnan(self.output).all(axis=0)
        return int((self.held[:, open_days] * np.isnan(self.output[:, open_days])).sum())

    @property
    def arrivals(self) -> int:
        """How often somebody took a station after the first day who had none the day before."""
        return int(self.arrivals_by_day.sum())

    @cached_property
    def arrivals_by_day(self) -> IntArray:
        """How many took a station on each day who had none the day before; on the first day, nobody."""
        came = np.diff(self.held, axis=1) > 0
        return np.concatenate([[0], came.sum(axis=0)]) if self.days else np.zeros(0, dtype=np.int64)

    def before(self, day: int) -> "Record":
        """Return the record as it was before a day, which counts from 1."""
        kept = slice(0, day - 1)
        return Record(
            self.output[:, kept],
            self.stations[:, kept],
            self.experience,
            self.prior_counts,
            self.prior_sums,
            self.quits[kept],
            np.where(self.gone < day, self.gone, 0),
            self.joined,
            self.offers,
            self.declines,
        )

    def estimates(self) -> Estimates:
        """Return number, sum and sum of squares of everybody's outputs, prior data included as the engine counts it."""
        seen = np.nan_to_num(self.output)
        counts = (~np.isnan(self.output)).sum(axis=1).astype(np.int64)
        sums, squares = seen.sum(axis=1), (seen * seen).sum(axis=1)
        return Estimates(counts + self.prior_counts, sums + self.prior_sums, squares + self.prior_sums)


def learn_record(policy: ValueOfReplacementEvolving, record: Record) -> Evolving:
    """Return what the policy has learned from a record, day by day; the first day is period 1."""
    told = policy.parameters(_ANY_SETTING).told
    learned = fresh_evolving(
        told, record.experience, record.prior_counts, record.prior_sums, record.team, record.workers
    )
    starts, workers, output = _rows(record)
    compiled_function(learn_days)(learned, told, starts, workers, output, record.quits)
    return learned


def learn_days(
    learned: Evolving, told: Told, starts: IntArray, workers: IntArray, output: FloatArray, quits: IntArray
) -> None:
    """Learn from days one after the other; the rows of day t, from 0, begin at `starts[t]`."""
    for day in range(len(quits)):
        first, last = starts[day], starts[day + 1]
        learn_day(learned, told, day + 1, workers[first:last], output[first:last], int(quits[day]))


def _rows(record: Record) -> tuple[IntArray, IntArray, FloatArray]:
    """Return who worked on each day and their output, by station and then by number, and where each day begins."""
    starts, workers = np.zeros(record.days + 1, dtype=np.int64), list[int]()
    given = ~np.isnan(record.output)
    for day in range(record.days):
        holders = [worker for worker in record.stations[:, day].tolist() if worker != NOBODY and given[worker, day]]
        seated = set(holders)
        others = [worker for worker in np.flatnonzero(given[:, day]).tolist() if worker not in seated]
        workers += holders + others
        starts[day + 1] = len(workers)
    rows = np.array(workers, dtype=np.int64)
    days = np.repeat(np.arange(record.days), np.diff(starts))
    return starts, rows, record.output[rows, days] if len(rows) else np.zeros(0)
