"""A check works on a snapshot: no writer waits for it, and it leaves nothing behind."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crewlearn.advisor.files.intake.newcomers import enrol
from crewlearn.advisor.files.intake.rehearsal import Rehearsal, rehearsal_of
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from support.stores import ME, contents, day, site_with_proposals, sound

LONGEST_PAUSE = 20.0
"""Seconds after which a check that holds writers up lets them go, so that the test fails and does not hang."""


def everything(store: Store) -> ImportResult:
    """Import a file that corrects a day, adds one, enrols somebody and changes the team."""
    rows = [*day(7, "a", 61.0), *day(8, ("a", "new"))]

    def newcomer(work: SiteTransaction) -> None:
        enrol(work, ["new"], {"new": "New, Some"}, b"")

    return import_output(
        store, "site", rows, b"", ME, correct=True, team_from_output=True, accept_unusual=True, prepare=newcomer
    )


def test_output_is_recorded_while_a_file_is_checked(store: Store) -> None:
    """Statements were prepared by then, and the check has written to every table that it writes to."""
    site_with_proposals(store)
    for period in range(1, 8):
        import_output(store, "site", day(period), b"", ME)
        import_output(rehearsal_of(store), "site", day(period + 1), b"", ME)
    paused, go = threading.Event(), threading.Event()
    in_time: list[bool] = []
    checked: list[ImportResult] = []

    class Paused(Rehearsal):
        @contextmanager
        def writing(self, *given: Any, **named: Any) -> Iterator[SiteTransaction]:
            with super().writing(*given, **named) as work:
                yield work
                paused.set()
                in_time.append(go.wait(LONGEST_PAUSE))

    before = contents(store)
    checking = threading.Thread(
        target=lambda: checked.append(everything(Paused(store.engine, store.derive, store.clock)))
    )
    checking.start()
    assert paused.wait(LONGEST_PAUSE)
    assert contents(store) == before
    assert import_output(store, "site", day(9, "c"), b"", ME).recorded == 1
    go.set()
    checking.join()
    assert in_time == [True]
    sound(store)
    assert everything(store) == checked[0]
    sound(store)
