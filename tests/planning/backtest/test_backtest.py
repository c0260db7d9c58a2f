"""Backtests: hand-made records whose answer is known, refusals, and what is said."""

import json
from dataclasses import replace

import numpy as np
import pytest

from crewlearn.planning.backtest.replay import KEPT, replay
from crewlearn.planning.backtest.report import COLUMNS, in_money
from crewlearn.planning.futures.record import Record
from crewlearn.planning.futures.worlds import Terms
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.floor import EXPERIENCED
from crewlearn.problem.laws import NoDelay
from crewlearn.study.families.floors import FLOOR
from support.futures import record_of

DAYS, FIRST = 60, 31


def firm(swap: int | None = 45) -> Record:
    """Return four stations and five people with little noise; on day `swap` worker 4 replaces worker 0."""
    rng = np.random.default_rng(4)
    levels = np.array([0.3, 0.5, 0.55, 0.6, 0.5])
    output = np.clip(levels[:, None] + rng.normal(0.0, 0.01, (5, DAYS)), 0.0, 1.0)
    stations = np.tile(np.arange(4)[:, None], (1, DAYS))
    output[4] = np.nan
    if swap is not None:
        output[4, swap - 1 :] = 0.5
        output[0, swap - 1 :] = np.nan
        stations[0, swap - 1 :] = 4
    nothing = np.zeros(5, dtype=np.int64)
    experience = np.full(5, EXPERIENCED)
    return Record(output, stations, experience, nothing, np.zeros(5), np.zeros(DAYS, np.int64), nothing, nothing)


def terms(days: int = DAYS - FIRST + 1) -> Terms:
    return Terms(team=4, periods=days, cost=0.5, delay=NoDelay(), rolling=60)


def test_keeping_the_team_forgoes_what_the_swap_brought() -> None:
    """Worker 0 would have stayed: 16 days at 0.3 instead of 0.5, and no fee."""
    played = replay(firm(), KeepTeam(), terms(), FIRST, runs=20)
    real = played.real_output - 0.5 * played.real_arrivals
    assert played.real_arrivals == 1
    assert float(played.played[KEPT].net.mean()) - real == pytest.approx(16 * (0.3 - 0.5) + 0.5, abs=0.6)
    # whoever is not on record may quit by chance, and is then replaced by worker 4
    assert played.on_record == pytest.approx((4 * 30 - 16) / 120, abs=0.04)


def test_a_replay_that_changes_nothing_is_the_record() -> None:
    """The swap lies before the replay, so the same team works with the luck on record."""
    record = firm(swap=20)
    played = replay(record, KeepTeam(), terms(), FIRST, runs=20)
    assert played.on_record == 1.0
    assert played.real_arrivals == 0
    assert played.played[KEPT].net.tolist() == pytest.approx([played.real_output] * 20, abs=1e-9)


def test_what_is_said_has_intervals_and_no_certainty() -> None:
    record = record_of(FLOOR, seed=2001, run=5, days=80)
    days = replace(terms(50), team=FLOOR.team, cost=FLOOR.cost, rolling=120)
    played = replay(record, ValueOfReplacementEvolving(), days, FIRST, runs=24)
    said = in_money(played, "p", "2026-03-02", money_of_one=100.0, fee=185.0, paid_on_completion=False, runs=24, seed=1)
    for gain in (said.over_practice, said.over_keeping):
        assert gain.worst <= gain.likely_low <= gain.mean <= gain.likely_high <= gain.best
        assert gain.low < gain.mean < gain.high
    assert said.real_fees == 185.0 * played.real_arrivals
    assert said.headline.startswith("Had you followed the advice from 2026-03-02 on: ")
    assert "9 of 10 draws" in said.headline
    assert "100%" not in said.details
    assert all(len(row) == len(COLUMNS) for row in said.rows())
    assert json.loads(json.dumps(said.to_json()))["on_record"] == said.on_record


def test_too_little_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidInput, match="nobody ever changed"):
        replay(firm(swap=None), KeepTeam(), terms(), FIRST)
    with pytest.raises(InvalidInput, match="choose 11 to 41"):
        replay(firm(), KeepTeam(), terms(), 5)
    with pytest.raises(InvalidInput, match="choose 11 to 41"):
        replay(firm(), KeepTeam(), terms(), 50)
    with pytest.raises(InvalidInput, match="at least 200 days worked"):
        replay(firm().before(40), KeepTeam(), terms(), 15)
