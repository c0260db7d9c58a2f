"""Records of simulated firms."""

import numpy as np

from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.planning.futures.record import Record
from crewlearn.policies.baselines import KeepTeam
from crewlearn.problem.floor import EXPERIENCED
from crewlearn.problem.model import Problem


def record_of(problem: Problem, seed: int, run: int, days: int) -> Record:
    """Return the first days of a simulated firm whose team changes as in the problem's warm-up."""
    workers = problem.workers.count
    output, stations = np.full((workers, days), np.nan), np.full((problem.team, days), -1, dtype=np.int64)
    quits, gone = np.zeros(days, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    for day, step in enumerate(play(World(problem, seed, run), KeepTeam(), until=days)):
        stations[:, day] = step.stations
        for worker, amount in step.output.items():
            output[worker, day] = amount
        quits[day] = len(step.quit)
        gone[list(step.quit)] = day + 1
    experience, nothing = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    experience[list(problem.first_stations)] = EXPERIENCED
    return Record(output, stations, experience, nothing, nothing.astype(np.float64), quits, gone, nothing)
