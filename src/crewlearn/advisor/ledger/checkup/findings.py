"""What a check-up finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

OK, WARNING, FAILURE = STATUSES = ("ok", "warning", "failure")


@dataclass(frozen=True)
class Finding:
    """What one check found: `detail` says what is, and `remedy` what to do unless the status is ok."""

    check: str
    status: str
    detail: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return vars(self)


def worst(findings: Sequence[Finding]) -> str:
    """Return the worst status.

    >>> worst([Finding("disk", OK, "1 GB free"), Finding("clock", WARNING, "2 s ahead", "set it")])
    'warning'
    """
    return max((finding.status for finding in findings), key=STATUSES.index, default=OK)


def size_words(size: float) -> str:
    """Return a number of bytes in words.

    >>> size_words(999), size_words(64_000_000), size_words(2.5e9)
    ('999 bytes', '64 MB', '2.5 GB')
    """
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.3g} {unit}"
    return f"{size:.0f} bytes"


def time_words(seconds: float) -> str:
    """Return a length of time in words.

    >>> time_words(3), time_words(400), time_words(7200), time_words(86_400 * 3)
    ('3 seconds', '7 minutes', '2 hours', '3 days')
    """
    for limit, unit in ((2 * 86_400, 86_400), (2 * 3600, 3600), (120, 60)):
        if seconds >= limit:
            return f"{seconds / unit:.0f} {({86_400: 'days', 3600: 'hours', 60: 'minutes'})[unit]}"
    return f"{seconds:.0f} seconds"
