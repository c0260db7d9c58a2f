"""The threads of a server that deliver webhooks: each works through the outbox of one webhook, in order."""

import logging
import secrets
import threading
import time
from collections.abc import Collection, Sequence

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.notices.deliveries import Sight, Turn, claim, due, settle
from crewlearn.web.notices.posting import MOST_SECONDS, post
from crewlearn.web.notices.signing import signed_headers
from crewlearn.web.store_waits import StoreWaits

POLL_SECONDS = 1.0
LOST_SECONDS = 2 * MOST_SECONDS
"""Seconds without a new beat after which a webhook's server counts as gone: an attempt takes half as long at most."""
AT_ONCE = 4
"""Webhooks that a server delivers to at the same time, so that slow receivers do not hold up the others."""
MOST_IN_A_ROW = 200
"""Deliveries to a webhook after which others get their turn."""
PATIENCE_SECONDS = 3.0
"""Seconds that a stopping server waits for attempts under way."""

LOG = logging.getLogger("crewlearn.web")


class Deliverer:
    """Delivers what is due, in order for each webhook, until it is stopped."""

    def __init__(
        self,
        store: Store,
        allowed: Collection[str] = (),
        *,
        at_once: int = AT_ONCE,
        poll_seconds: float = POLL_SECONDS,
        lost_seconds: float = LOST_SECONDS,
        post_seconds: float = MOST_SECONDS,
    ) -> None:
        self.store, self.allowed = store, allowed
        self._poll, self._lost_after, self._seconds = poll_seconds, lost_seconds, post_seconds
        self._at_once, self._seen = at_once, dict[int, tuple[Sight, float]]()
        self._stopping, self._wake, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._waits = StoreWaits("looking for deliveries")
        self._running: dict[int, threading.Thread] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start looking for deliveries."""
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Request a stop, without waiting."""
        self._stopping.set()
        self._wake.set()

    def stop(self) -> None:
        """Stop; an attempt that takes longer is made again, once its webhook counts as lost."""
        self.ask_to_stop()
        give_up = time.monotonic() + PATIENCE_SECONDS
        with self._lock:
            threads = [*self._running.values(), *([] if self._thread is None else [self._thread])]
        for thread in threads:
            thread.join(max(0.0, give_up - time.monotonic()))

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._hand_out()
                self._waits.went_well()
            except Exception as error:  # such as an unavailable store: try again in the next round
                self._waits.failed(error)
            self._wake.wait(self._waits.pause(self._poll))
            self._wake.clear()

    def _hand_out(self) -> None:
        """Begin to work on the webhooks that are due and free, as many as may be at once."""
        free = self._free(due(self.store))
        with self._lock:
            for sight in [sight for sight in free if sight.webhook not in self._running]:
                if len(self._running) >= self._at_once or self._stopping.is_set():
                    return
                thread = threading.Thread(target=self._work, args=(sight,), name="webhook", daemon=True)
                self._running[sight.webhook] = thread
                thread.start()

    def _free(self, sights: Sequence[Sight]) -> list[Sight]:
        """Return the webhooks that nobody owns, or whose owner gave no sign of life for too long by our own clock."""
        now, before = time.monotonic(), self._seen
        self._seen = {
            sight.webhook: before[sight.webhook]
            if sight.webhook in before and before[sight.webhook][0] == sight
            else (sight, now)
            for sight in sights
        }
        since = {webhook: seen for webhook, (_, seen) in self._seen.items()}
        return [sight for sight in sights if sight.owner is None or now - since[sight.webhook] >= self._lost_after]

    def _work(self, sight: Sight) -> None:
        """Work through the outbox of a webhook, if no other server took it first."""
        owner = secrets.token_hex(16)
        try:
            turn = claim(self.store, sight, owner)
            for attempt in range(1, MOST_IN_A_ROW + 1):
                if turn is None:
                    return
                turn = self._attempt(turn, owner, attempt < MOST_IN_A_ROW and not self._stopping.is_set())
        except Exception as error:  # such as an unavailable store: the webhook counts as lost and is taken again
            StoreWaits(f"webhook {sight.webhook}: delivering").failed(error)
        finally:
            with self._lock:
                del self._running[sight.webhook]
            self._wake.set()

    def _attempt(self, turn: Turn, owner: str, go_on: bool) -> Turn | None:
        headers = signed_headers(turn.uid, turn.timestamp, turn.body, turn.secrets)
        headers["Content-Type"] = "application/json"
        outcome = post(turn.url, turn.body, headers, self.allowed, seconds=self._seconds)
        if not outcome.taken:
            LOG.warning("webhook %d: delivery %s: %s", turn.webhook, turn.uid, outcome.words)
        return settle(self.store, turn, owner, outcome, go_on=go_on)
