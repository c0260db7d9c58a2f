"""What would have been put out without a change that advice made, drawn many times.

Who was replaced works on: at a level drawn from what the whole record tells of them, on the same days, absent and
quitting as people do at the site. Whoever quits is followed by somebody at random out of the pool, for the fee, after
as many days as hires take. So is a quitter whose place was filled by advice. Where whoever came by advice quit, it is
not known whether that was due to the person or the place: in half of the draws, the other quits on the same day.
"""

from dataclasses import dataclass

import numpy as np

from crewlearn.advisor.evidence.chances import Stream
from crewlearn.advisor.evidence.levels import CLASSES, Levels, path_covariance, ramp_of_draws, view
from crewlearn.advisor.evidence.record import WorkRecord
from crewlearn.beliefs.evolving.model import LEAST_VARIANCE, OWN_RAMP, TAIL_WIDTH
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray

QUITS_GUESS, STAY_GUESS = 0.5, 400.0
"""The prior of quits: so many in so many days worked."""

DECLINES_GUESS, OFFERS_GUESS = 0.1, 2.0
"""The prior of declined offers: so many in so many."""

KNOTS = 24
"""Days on which a path is drawn; between them it is straight."""

DUE_TO_PLACE = 0.5
"""The probability that a quit is due to the place: whoever had been there would have quit."""


@dataclass(frozen=True)
class Shared:
    """What all people share in each draw: the ramp, the effects of days, the pool's centre, and the rate of quits."""

    ramp: IntArray
    effects: FloatArray
    centre: FloatArray
    quits: FloatArray

    @property
    def draws(self) -> int:
        """The number of draws."""
        return len(self.ramp)


def shared_draws(record: WorkRecord, levels: Levels, draws: int, chance: Stream) -> Shared:
    """Draw what all people share."""
    ramp = ramp_of_draws(levels.learned.ramps, draws)
    normals = chance.normal(draws, record.days + 1)
    drawn = np.empty((draws, record.days + 1))
    for number, under in enumerate(levels.by_ramp):
        drawn[ramp == number] = under.common.mean + normals[ramp == number] @ under.common.factor
    # Wilson and Hilferty's cube of a normal number for a gamma law
    shape = QUITS_GUESS + record.quits
    cube = 1.0 - 1.0 / (9.0 * shape) + chance.normal(draws) / (3.0 * np.sqrt(shape))
    rate = shape * np.maximum(cube, 0.0) ** 3 / (STAY_GUESS + (record.exposure or len(record.worker)))
    return Shared(ramp, drawn[:, :-1], drawn[:, -1], np.minimum(rate, 1.0))


@dataclass(frozen=True)
class Level:
    """Somebody's level by draw and day, and their own ramp beyond the common one by draw, both in output."""

    path: FloatArray
    own: FloatArray


def level_of(levels: Levels, shared: Shared, worker: int, days: IntArray, chance: Stream) -> Level:
    """Draw the level, on some days, of a person who has worked here."""
    knots = _knots(days)
    path, own = np.empty((shared.draws, len(days))), np.empty(shared.draws)
    weights = levels.classes[worker]
    kinds = np.searchsorted(np.cumsum(weights)[:-1], chance.uniform(shared.draws))
    normals = chance.normal(shared.draws, len(knots) + 1)
    person, about = levels.people[worker], levels.about[worker]
    for number, under in enumerate(levels.by_ramp):
        for kind in np.unique(kinds[shared.ramp == number]).tolist():
            mine = (shared.ramp == number) & (kinds == kind)
            seen = under.views[worker]
            if seen.kind != CLASSES[kind]:
                seen = view(person, levels.learned, under.ramp, CLASSES[kind], about)
            gain, covariance = seen.ahead(knots)
            residuals = seen.centred - shared.centre[mine, None] - seen.level * shared.effects[mine][:, person.days]
            states = seen.pull(residuals) @ gain.T + normals[mine] @ _root(covariance).T
            own[mine] = states[:, -1]
            path[mine] = shared.centre[mine, None] + _between_knots(states[:, :-1], knots, days)
    return Level(path, own)


def level_of_newcomer(levels: Levels, shared: Shared, days: IntArray, chance: Stream) -> Level:
    """Draw the level of somebody never seen."""
    learned, draws = levels.learned, shared.draws
    wide = np.where(chance.uniform(draws) < learned.tail, TAIL_WIDTH, 1.0)
    first = shared.centre + np.sqrt(learned.between) * wide * chance.normal(draws)
    depth = np.array([ramp.depth for ramp in learned.ramps])[shared.ramp]
    own = OWN_RAMP * depth * first * chance.normal(draws)
    knots = _knots(days)
    kinds = np.searchsorted(np.cumsum(levels.shares)[:-1], chance.uniform(draws))
    normals = chance.normal(draws, len(knots))
    moved = np.zeros((draws, len(days)))
    for kind in np.unique(kinds).tolist():
        if kind:
            mine = kinds == kind
            root = _root(path_covariance(CLASSES[kind], knots - knots[0], knots - knots[0]))
            moved[mine] = _between_knots(normals[mine] @ root.T, knots, days)
    return Level(first[:, None] + moved, own)


def _knots(days: IntArray) -> FloatArray:
    if len(days) <= KNOTS:
        return days.astype(np.float64)
    return np.linspace(float(days[0]), float(days[-1]), KNOTS)


def _between_knots(values: FloatArray, knots: FloatArray, days: IntArray) -> FloatArray:
    if len(knots) == len(days):
        return values
    place = np.clip(np.searchsorted(knots, days, side="right") - 1, 0, len(knots) - 2)
    share = (days - knots[place]) / (knots[place + 1] - knots[place])
    return np.asarray(values[:, place] * (1.0 - share) + values[:, place + 1] * share)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(frozen=True)
class Course:
    """What would have happened at a station from a day on: money of output and fees due, by draw and day."""

    money: FloatArray
    fees: FloatArray


@dataclass(frozen=True)
class Comparison:
    """Draws of what would have happened at a site, all with the same shared doubts."""

    record: WorkRecord
    levels: Levels
    shared: Shared
    absence: float
    key: int

    def kept(self, station: int, worker: int, first: int, last: int, number: int) -> Course:
        """Draw a station from day `first` to before `last`, if `worker` had stayed."""
        chance = Stream(self.key ^ (2 * number + 1) * 0x5851F42D4C957F2D)
        days = np.arange(first, last)
        worked = np.full(self.shared.draws, float(self._worked(worker, first)))
        if worker in self.levels.people:
            level = level_of(self.levels, self.shared, worker, days, chance)
        else:
            level = level_of_newcomer(self.levels, self.shared, days, chance)
        return self._lived(station, days, level, worked, np.zeros(self.shared.draws), chance)

    def filled(self, station: int, first: int, last: int, number: int) -> Course:
        """Draw a station from day `first` to before `last`, if somebody at random had filled it, vacant since then."""
        chance = Stream(self.key ^ (2 * number + 2) * 0x5851F42D4C957F2D)
        days, everyone = np.arange(first, last), np.arange(self.shared.draws)
        fees = np.zeros((self.shared.draws, len(days)))
        since = self._hire(np.zeros(self.shared.draws), fees, everyone, chance)
        level, worked = self._from_pool(self.shared, days, chance)
        lived = self._lived(station, days, level, worked, since, chance)
        return Course(lived.money, lived.fees + fees)

    def _worked(self, worker: int, first: int) -> int:
        """Return the days that somebody had worked by a day."""
        person = self.levels.people.get(worker)
        before = 0 if person is None else int(np.searchsorted(person.days, first))
        return int(self.record.experience[worker]) + before

    def _from_pool(self, shared: Shared, days: IntArray, chance: Stream) -> tuple[Level, FloatArray]:
        """Draw the level and the experience of somebody at random out of the pool: known people, or one never seen."""
        draws, outsiders = shared.draws, self.record.outsiders
        level, worked = level_of_newcomer(self.levels, shared, days, chance), np.zeros(draws)
        if not len(outsiders):
            return level, worked
        chosen = outsiders[(chance.uniform(draws) * len(outsiders)).astype(np.int64)]
        path, own = level.path.copy(), level.own.copy()
        for worker in np.unique(chosen).tolist():
            mine = chosen == worker
            worked[mine] = self._worked(worker, int(days[0]))
            if worker in self.levels.people:
                known = level_of(self.levels, _only(shared, mine), worker, days, chance)
                path[mine], own[mine] = known.path, known.own
        return Level(path, own), worked

    def _lived(
        self, station: int, days: IntArray, level: Level, worked: FloatArray, since: FloatArray, chance: Stream
    ) -> Course:
        """Let somebody work from day `since` on, quit and be followed by others to the end."""
        shared, among = self.shared, np.arange(self.shared.draws)
        money, fees = np.zeros((shared.draws, len(days))), np.zeros((shared.draws, len(days)))
        offsets = np.arange(len(days))
        of_place = self._quits_of_place(station, days, chance)
        while True:
            of_person = np.maximum((1.0 - DUE_TO_PLACE) * shared.quits, LEAST_VARIANCE)
            until = since + 1.0 + np.floor(np.log(chance.uniform(shared.draws)) / np.log1p(-of_person))
            if of_place.shape[1]:
                later = np.where(of_place[among] > since[:, None], of_place[among], np.inf).min(axis=1)
                until = np.minimum(until, later)
            here = (offsets >= since[:, None]) & (offsets < until[:, None])
            money[among] += np.where(here, self._worth(shared, station, days, level, worked, since, chance), 0.0)
            left = until < len(days)
            if not left.any():
                return Course(money, fees)
            among, shared = among[left], _only(shared, left)
            since = self._hire(until[left], fees, among, chance)
            level, worked = self._from_pool(shared, days, chance)

    def _quits_of_place(self, station: int, days: IntArray, chance: Stream) -> FloatArray:
        """Draw on which days whoever is at a station quits because of it: infinity where a quit was the person's."""
        row = self.record.holders[station, days]
        quits = np.flatnonzero((row[1:] == NOBODY) & (row[:-1] != NOBODY)) + 1
        due = chance.uniform(self.shared.draws, len(quits)) < DUE_TO_PLACE
        return np.where(due, quits.astype(np.float64), np.inf)

    def _hire(self, vacant: FloatArray, fees: FloatArray, among: IntArray, chance: Stream) -> FloatArray:
        """Draw when places that became vacant are filled, and add the fees to their rows, `among` all draws."""
        record, tries = self.record, self._tries(len(vacant), chance)
        since = vacant + self._delays(tries, chance)
        paid = since if record.fee_due_at_start else vacant
        due = np.flatnonzero(paid < fees.shape[1])
        fees[among[due], paid[due].astype(np.int64)] += record.fee * (1.0 if record.fee_due_at_start else tries[due])
        return since

    def _tries(self, draws: int, chance: Stream) -> FloatArray:
        """Draw how many offers it takes to fill a place."""
        record = self.record
        rate = (DECLINES_GUESS + record.declined) / (OFFERS_GUESS + record.offers)
        again = np.floor(np.log(chance.uniform(draws)) / np.log(min(max(rate, 1e-9), 0.9)))
        return np.asarray(1.0 + again, dtype=np.float64)

    def _delays(self, tries: FloatArray, chance: Stream) -> FloatArray:
        """Draw how many days it takes to fill a place with so many offers."""
        seen = np.array(self.record.delays, dtype=np.float64)
        total = np.zeros(len(tries))
        for number in range(int(tries.max())):
            drawn = seen[(chance.uniform(len(tries)) * len(seen)).astype(np.int64)]
            total += np.where(number < tries, drawn, 0.0)
        return total

    def _worth(
        self,
        shared: Shared,
        station: int,
        days: IntArray,
        level: Level,
        worked: FloatArray,
        since: FloatArray,
        chance: Stream,
    ) -> FloatArray:
        """Return the money of somebody's output by draw and day, from their first day on."""
        record, learned = self.record, self.levels.learned
        began = since[:, None]
        days_worked = worked[:, None] + (1.0 - self.absence) * np.maximum(np.arange(len(days)) - began, 0.0)
        lacking = np.zeros(days_worked.shape)
        share = np.ones(days_worked.shape)
        for number, ramp in enumerate(learned.ramps):
            mine = shared.ramp == number
            lacking[mine] = ramp.lacking(days_worked[mine])
            share[mine] -= ramp.depth * lacking[mine]
        at_work = (share * level.path - lacking * level.own[:, None]) * (1.0 + shared.effects[:, days])
        output = np.clip(at_work, 0.0, 1.0) + np.sqrt(learned.noise) * chance.normal(*at_work.shape)
        money = record.offset[station, days] + record.worth[station, days] * output
        return np.asarray(np.where(chance.uniform(*at_work.shape) < self.absence, 0.0, money), dtype=np.float64)


def _only(shared: Shared, mine: BoolArray) -> Shared:
    return Shared(shared.ramp[mine], shared.effects[mine], shared.centre[mine], shared.quits[mine])


def absence_of(record: WorkRecord) -> float:
    """Return how often holders of the stations that advice concerned were absent."""
    stations = sorted({change.station for change in record.advised})
    held = record.holders[stations]
    cells = held.astype(np.int64) * record.days + np.arange(record.days)
    there = np.isin(cells, record.worker * record.days + record.day) & (held != NOBODY)
    return 1.0 - float(there.sum()) / max(1.0, float((held != NOBODY).sum())) if stations else 0.0
