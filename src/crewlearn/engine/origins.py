"""Where code comes from, by the name of its module: this package, Python's standard library, or elsewhere."""

import sys
from pathlib import Path

import crewlearn

PACKAGE = crewlearn.__name__
FOLDER = Path(crewlearn.__file__).resolve().parent


def top_level(module: str) -> str:
    """Return the name of the package or module at the top of a dotted name.

    >>> top_level("numpy.random")
    'numpy'
    """
    return module.partition(".")[0]


def in_package(module: str) -> bool:
    """Return whether a module is named as one of this package."""
    return top_level(module) == PACKAGE


def in_standard_library(module: str) -> bool:
    """Return whether a module is one of Python's own; the program that runs is not."""
    return top_level(module) in sys.stdlib_module_names and top_level(module) != "__main__"
