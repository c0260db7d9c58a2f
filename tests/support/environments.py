"""Problems to play the environments in."""

from dataclasses import replace

from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import AvailabilityDelay, FixedDelay, GeometricDelay, NoDelay
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Presence

SLOW = Problem(team=2, horizon=12, cost=0.5, workers=Pool((0.1, 0.3, 0.5, 0.7, 0.9)), delay=FixedDelay(3))

PROBLEMS = {
    "the benchmark": benchmark(horizon=120),
    "fees at completion": replace(benchmark(team=3, horizon=120, cost=0.3), fee_due="completion"),
    "prior data": Problem(
        team=2,
        horizon=90,
        cost=0.5,
        workers=Pool((0.2, 0.4, 0.9, 0.6), prior_n=(0, 7, 300, 0), prior_mean=(0.0, 0.5, 0.8, 0.0)),
        delay=GeometricDelay(mean=4.0),
    ),
    "one outside": Problem(team=2, horizon=40, cost=0.1, workers=Pool((0.1, 0.2, 0.9)), delay=NoDelay()),
    "one period": Problem(team=1, horizon=1, cost=0.0, workers=Pool((0.1, 0.9)), delay=AvailabilityDelay(p=0.5)),
}

EMPTY = replace(SLOW, team=3, start=Start((-1, 0, -1)), presence=Presence(quits=0.0, quit_at=(3, 4, 5, 6, 7)))
"""Two stations are empty at the start, and holders quit."""
