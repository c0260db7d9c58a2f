"""Sweeps over a grid of problem fields and policy parameters; finished cells are appended to a file.

A rerun skips the cells already in the file. A cell whose code cannot be identified completely is played every time.
"""

from crewlearn.engine.sweep.cells import Cell, Grid, plan_cells, problem_fields
from crewlearn.engine.sweep.result import Sweep
from crewlearn.engine.sweep.running import run_sweep

__all__ = ["Cell", "Grid", "Sweep", "plan_cells", "problem_fields", "run_sweep"]
