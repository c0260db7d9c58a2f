"""A site whose kept state cannot be read: what is wrong in a sentence, and what to do, for the people who meet it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crewlearn.problem.errors import InvalidInput, Unknown


@dataclass(frozen=True)
class Fault:
    """What is wrong with a site, and what to do about it, the first thing first.

    `checkable` says whether a check of the record tells more: without the policy, no advice can be derived again.
    """

    site: str
    what: str
    remedies: tuple[str, ...]
    checkable: bool


class SiteFault(InvalidInput):
    """A site cannot be read; `fault` says so to people."""

    def __init__(self, error: InvalidInput) -> None:
        super().__init__(error.field, error.value, error.remedy)
        self.fault = fault_of(error)


@contextmanager
def told_of_sites() -> Iterator[None]:
    """Let the error of a site that cannot be read say so to people; one that is not there is another matter."""
    try:
        yield
    except InvalidInput as error:
        if error.field != "site" or isinstance(error, Unknown):
            raise
        raise SiteFault(error) from error


def fault_of(error: InvalidInput) -> Fault:
    """Say what keeps a site from being read: its policy, or what is kept of it."""
    site, cause = str(error.value), error.__cause__
    if isinstance(cause, InvalidInput) and cause.field == "policy":
        why = cause.__cause__ or cause.remedy
        return Fault(
            site,
            f"Its policy, {cause.value}, cannot be used on this server: {why}.",
            (
                "Install what it names where this server runs, and restart the server; nothing of the record is lost.",
                "If a newer crewlearn has this policy, upgrade this one.",
            ),
            checkable=False,
        )
    return Fault(
        site,
        "What is kept of it is damaged, or was written by a newer crewlearn.",
        (
            "If a newer crewlearn wrote it, upgrade this one.",
            "Otherwise check the record: that says what is damaged. A backup brings it back.",
        ),
        checkable=True,
    )
