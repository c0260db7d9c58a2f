"""Packages that a plain install leaves out: errors that name the extra which installs them.

`pip install crewlearn` is the live side. Simulations, frames and figures take the extra `sim`.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

SIM = "sim"
"""The extra with the compiler, pandas, PyArrow and Matplotlib."""

REMEDY = "pip install 'crewlearn[{extra}]'"


class MissingExtra(ModuleNotFoundError):
    """A package of an extra that is not installed; the message names the remedy.

    >>> str(MissingExtra("simulating", "numba"))
    "simulating needs numba, which a plain install leaves out; run: pip install 'crewlearn[sim]'"
    """

    def __init__(self, what: str, package: str, extra: str = SIM) -> None:
        remedy = REMEDY.format(extra=extra)
        super().__init__(f"{what} needs {package}, which a plain install leaves out; run: {remedy}", name=package)
        self.what, self.package, self.extra = what, package, extra

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str, str]]:
        """Rebuild the error from its parts when unpickled in another process."""
        return MissingExtra, (self.what, self.package, self.extra)


@contextmanager
def extra_for(what: str, extra: str = SIM) -> Iterator[None]:
    """Report a missing package as that of an extra: what needs it, and how to install it.

    >>> with extra_for("drawing"):
    ...     import json
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if isinstance(error, MissingExtra):
            raise
        raise MissingExtra(what, error.name or "a package", extra) from error


def can_simulate() -> bool:
    """Return whether the compiler that simulations need is installed; this does not load it."""
    return importlib.util.find_spec("numba") is not None
