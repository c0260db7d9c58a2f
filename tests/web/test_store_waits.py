"""What background threads log while the store is away."""

import logging

import pytest

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.web.store_waits import AWAY_SECONDS, StoreWaits


def test_a_store_that_is_away_is_told_once_and_a_bug_each_time(caplog: pytest.LogCaptureFixture) -> None:
    waits, away = StoreWaits("looking"), StoreUnavailable("db", "cannot be reached")
    with caplog.at_level(logging.INFO, "crewlearn.web"):
        for error in (away, away, away):
            waits.failed(error)
        assert waits.pause(0.5) == AWAY_SECONDS
        waits.went_well()
        waits.went_well()
        assert waits.pause(0.5) == 0.5
        waits.failed(ValueError("a bug"))
        waits.failed(ValueError("a bug"))
    said = [(record.levelname, record.exc_info is not None) for record in caplog.records]
    assert said == [("WARNING", False), ("INFO", False), ("ERROR", True), ("ERROR", True)]
