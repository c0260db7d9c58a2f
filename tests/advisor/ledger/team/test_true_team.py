"""The recorded team is the true one on every day, however its changes became known."""

import os
import random
from datetime import date

import pytest

from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import PROPOSED
from support.lives import Life
from support.simulated_team import Floor

MONTHS = int(os.environ.get("CREWLEARN_TEAM_MONTHS", "6"))
"""Months simulated for each way; `make soak` plays 100."""


@pytest.mark.parametrize("inferred", [True, False], ids=["inferred", "entered late"])
def test_the_recorded_team_is_the_true_one_on_every_day(life: Life, inferred: bool) -> None:
    """About a third of the changes come from outside advice."""
    life.create(workers=14, team=4, calendar=WorkCalendar(date(2018, 1, 1)), rolling=True, horizon=120, fee=0.5)
    floor = Floor(life, random.Random(MONTHS), inferred, 14, ["w0", "w1", "w2", "w3"], date(2017, 12, 31))
    floor.play(21 * MONTHS, quiet=6)
    wrong = {day: (floor.recorded(day), true) for day, true in floor.truth.items() if floor.recorded(day) != true}
    assert not wrong
    site = life.site
    assert {f"w{worker}" for worker in site.roster.active} == set(floor.team)
    for proposal in site.open_proposals(PROPOSED):
        assert proposal.out in (-1, *site.roster.active)
        assert proposal.into not in site.roster.active
    assert floor.outside >= 0.25 * floor.changes > 0
    site.roster.check()
