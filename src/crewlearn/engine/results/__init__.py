"""Results of simulations: numbers per run, summaries of them, and tables, frames and figures made of them."""

from crewlearn.engine.results.collecting import Collector, same_numbers
from crewlearn.engine.results.frames import MEASURES
from crewlearn.engine.results.result import KEEP, ORACLE, Curve, PolicyResult, SimulationResult
from crewlearn.engine.results.summaries import (
    PairedDifference,
    Share,
    Summary,
    paired_difference,
    student_95,
    student_p,
)

__all__ = [
    "KEEP",
    "MEASURES",
    "ORACLE",
    "Collector",
    "Curve",
    "PairedDifference",
    "PolicyResult",
    "Share",
    "SimulationResult",
    "Summary",
    "paired_difference",
    "same_numbers",
    "student_95",
    "student_p",
]
