"""The log of a background thread while the store is away: one line when it goes, one when it is back."""

import logging

from crewlearn.advisor.ledger.errors import StoreUnavailable

LOG = logging.getLogger("crewlearn.web")
AWAY_SECONDS = 5.0
"""Seconds between two tries while the store is away."""


class StoreWaits:
    """Whether a thread waits for the store, which is told once."""

    def __init__(self, what: str) -> None:
        self.what, self.waiting = what, False

    def failed(self, error: Exception) -> None:
        """Log why a round failed; other errors than an unavailable store with where they come from, each time."""
        if not isinstance(error, StoreUnavailable):
            LOG.error("%s failed", self.what, exc_info=error)
        elif not self.waiting:
            self.waiting = True
            LOG.warning("%s waits: %s", self.what, error)

    def went_well(self) -> None:
        """Log that the store is back, if it was away."""
        if self.waiting:
            self.waiting = False
            LOG.info("%s goes on", self.what)

    def pause(self, usual: float) -> float:
        """Return the seconds until the next round."""
        return max(usual, AWAY_SECONDS) if self.waiting else usual
