"""The thread of a server that looks at the clock: the daily pass over sites, digests, and old deliveries to delete."""

import json
import logging
import threading
import time
from collections.abc import Collection

from crewlearn.advisor.advice.retention import retention_pass
from crewlearn.advisor.ledger.notices.daily import daily_pass
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.notices import digests, messages
from crewlearn.web.notices.deliveries import prune
from crewlearn.web.notices.digests import CHAT, MAIL, Due
from crewlearn.web.notices.mail import send_mail
from crewlearn.web.notices.posting import Outcome, post
from crewlearn.web.settings import Settings
from crewlearn.web.store_waits import StoreWaits

ROUND_SECONDS = 5.0
PASS_SECONDS = 60.0
"""Seconds between two looks at whether a site's day has begun."""
PRUNE_SECONDS = 3600.0
PATIENCE_SECONDS = 3.0

LOG = logging.getLogger("crewlearn.web")


class Rounds:
    """Makes rounds until it is stopped."""

    def __init__(self, store: Store, settings: Settings, *, round_seconds: float = ROUND_SECONDS) -> None:
        self.store, self.settings, self._pause = store, settings, round_seconds
        self._stopping, self._waits = threading.Event(), StoreWaits("the round over sites and digests")
        self._thread: threading.Thread | None = None
        self._passed = self._pruned = -PRUNE_SECONDS

    def start(self) -> None:
        """Start making rounds."""
        self._thread = threading.Thread(target=self._run, name="rounds", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop; a message that is being sent counts as sent."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.wait(self._pause):
            try:
                self.make()
                self._waits.went_well()
            except Exception as error:  # such as an unavailable store: try again in the next round
                self._waits.failed(error)

    def make(self) -> None:
        """Make one round."""
        now = time.monotonic()
        if now - self._passed >= PASS_SECONDS:
            self._passed = now
            daily_pass(self.store)
            retention_pass(self.store)
            if self.store.leftover and not self.store.scrub():
                LOG.warning("%s", self.store.leftover)
        if now - self._pruned >= PRUNE_SECONDS:
            self._pruned = now
            prune(self.store)
            self.store.scrub()  # after other programs that erased somebody
        while not self._stopping.is_set():
            due = digests.take_due(self.store, mail=self.settings.mail is not None)
            if due is None:
                return
            send_digest(self.store, self.settings, due)


def send_digest(store: Store, settings: Settings, due: Due) -> None:
    """Send a digest that was taken on, unless nothing waits for an answer; note which channels failed for certain."""
    message = messages.asking(settings.url, due) if due.asks else messages.digest_of(store, settings.url, due)
    if message is None:
        return
    faults = {}
    for channel in due.channels:
        outcome = _sent(settings, due, channel, message, settings.notify_hosts)
        if not outcome.taken:
            LOG.warning("digest of %s by %s: %s", due.caller.name, channel, outcome.words)
            if not outcome.unclear:
                faults[channel] = f"{channel}: {outcome.words}"
    digests.note(store, due, faults)


def _sent(settings: Settings, due: Due, channel: str, message: messages.Message, allowed: Collection[str]) -> Outcome:
    if channel == CHAT:
        body = json.dumps({"text": message.text}, ensure_ascii=False).encode()
        return post(due.chat_url, body, {"Content-Type": "application/json"}, allowed)
    assert channel == MAIL
    if settings.mail is None:
        return Outcome(False, "this server has no mail server")
    headers = (
        {}
        if due.asks
        else {
            "List-Unsubscribe": f"<{messages.stop_url(settings.url, due.code)}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    )
    return send_mail(settings.mail, due.email, message.subject, message.text, message.html, headers)
