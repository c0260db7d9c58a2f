"""Sites whose stored state cannot be read: a diagnosis and its remedies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crewlearn.advisor.ledger.errors import UnusablePolicy
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput, Unknown


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a site, and the remedies, most likely first."""

    site: str
    what: str
    remedies: tuple[str, ...]


class SiteUnreadable(InvalidInput):
    """A site's stored state cannot be read; `diagnosis` is for people."""

    def __init__(self, error: InvalidInput) -> None:
        super().__init__(error.field, error.value, error.remedy)
        self.diagnosis = diagnosis_of(error)


@contextmanager
def diagnosed() -> Iterator[None]:
    """Raise `SiteUnreadable` in place of the error of a site that cannot be read; an unknown site stays `Unknown`."""
    try:
        yield
    except InvalidInput as error:
        if error.field != "site" or isinstance(error, Unknown):
            raise
        raise SiteUnreadable(error) from error


def diagnosis_of(error: InvalidInput) -> Diagnosis:
    """Return what keeps a site from being read: its policy, or its stored state."""
    site, cause = str(error.value), error.__cause__
    if isinstance(cause, UnusablePolicy):
        why = cause.__cause__ or cause.remedy
        return Diagnosis(
            site,
            _("Its policy, {policy}, cannot be used on this server: {why}.", policy=cause.value, why=why),
            (
                _("Install what it names where this server runs, and restart the server; nothing on record is lost."),
                _("If a newer crewlearn has this policy, upgrade this one."),
            ),
        )
    return Diagnosis(
        site,
        _("Its stored state is damaged, or was written by a newer crewlearn."),
        (
            _("If a newer crewlearn wrote it, upgrade this one."),
            _("Otherwise check the record to find out what is damaged, and restore a backup."),
        ),
    )
