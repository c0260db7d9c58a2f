"""A new output range: what was learned is as if it had always held; money and reasons stay as they were."""

from typing import Any

import numpy as np
import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, WITHDRAWN, Site
from crewlearn.advisor.ledger.store import Store
from support.stores import (
    CALENDAR,
    ME,
    MEANS,
    config,
    day,
    proposed,
    refused,
    site_with_proposals,
    sound,
    state_of,
    types_of,
)

EVOLVING = "value-of-replacement-evolving"


def absent(period: int, worker: str) -> OutputRow:
    return OutputRow(2, CALENDAR.date_of(period), None, worker, None, None, "absent")


def recorded(store: Store, name: str, **settings: Any) -> None:
    """Create a site, replace somebody, and record days with output outside the later range."""
    site_with_proposals(store, name, **settings)
    number = next(proposal.id for proposal in state_of(store, name).open_proposals(PROPOSED))
    commands.approve(store, name, number, ME)
    commands.record_offer(store, name, number, "started", ME)
    seated = sorted(worker for worker in state_of(store, name).roster.active)
    who = "".join("abcdef"[worker] for worker in seated)
    for period in range(1, 9):
        output_imports.import_output(store, name, day(period, who, 40.0 + 3.0 * period), b"", ME)
    output_imports.import_output(store, name, day(3, who[0], 20.0), b"", ME, correct=True)
    output_imports.import_output(store, name, [absent(9, worker) for worker in who], b"", ME)


def numbers(site: Site) -> tuple[Any, ...]:
    """Return what must not depend on when the range was set."""
    priors = [(worker.prior_n, worker.prior_mean, worker.earned, worker.recorded_to) for worker in site.workers]
    return (*(array.tolist() for array in site.estimates), priors, site.period)


@pytest.mark.parametrize("policy", ["value-of-replacement", "dr-ucb:gamma=1", "support.learners:Recent", EVOLVING])
def test_a_new_range_is_as_if_it_had_always_held(store: Store, policy: str) -> None:
    recorded(store, "site", policy=policy)
    before = state_of(store)
    commands.change_site(store, "site", {"output_range": "20:60"}, ME)
    assert types_of(store)[-2:] == ["range-changed", "advised"]
    site = state_of(store)
    with store.reading() as connection:
        rows = connection.execute(
            schema.output_rows.select().where(
                schema.output_rows.c.site == store.key(connection, "site"), schema.output_rows.c.replaced_in.is_(None)
            )
        ).all()
    for number, worker in enumerate(site.workers):
        prior = min(max((list(MEANS.values())[number] - 20.0) / 40.0, 0.0), 1.0)
        assert worker.prior_mean == pytest.approx(prior)
        own = [row.units for row in rows if row.worker == number and row.units is not None]
        seen = [min(max((units - 20.0) / 40.0, 0.0), 1.0) for units in own]
        assert site.estimates.counts[number] == 30 + len(seen)
        assert site.estimates.sums[number] == pytest.approx(30 * prior + sum(seen))
        assert worker.earned == pytest.approx(sum(own))
        assert worker.earned == before.workers[number].earned
    sound(store)


@pytest.mark.parametrize("policy", ["support.learners:Recent", EVOLVING])
def test_what_is_learned_is_that_of_a_site_with_this_range(store: Store, policy: str) -> None:
    """The same days at a site that had the range from the start give the same numbers, to the bit."""
    states = []
    for name, units in (("late", Units(0.0, 100.0)), ("early", Units(20.0, 160.0))):
        site_with_proposals(store, name, policy=policy, units=units)
        for period in range(1, 13):
            output_imports.import_output(store, name, day(period, "ac", 40.0 + 5.0 * period), b"", ME)
    commands.change_site(store, "late", {"output_range": "20:160"}, ME)
    for name in ("late", "early"):
        output_imports.import_output(store, name, day(13), b"", ME)
        with store.reading() as connection:
            key, site, _ = store.site(connection, name)
            states.append((numbers(site), site.policy.state_to_json(policy_state(connection, key, site))))
        sound(store, name)
    assert states[0] == states[1]


def test_past_decisions_and_their_reasons_stay_in_the_units_of_then(store: Store) -> None:
    site_with_proposals(store)
    first, _ = proposed(store)
    commands.approve(store, "site", first, ME)
    output_imports.import_output(store, "site", day(1), b"", ME)
    again = proposed(store)

    def told() -> dict[int, Any]:
        with store.reading() as connection:
            key, site, _ = store.site(connection, "site")
            return {proposal.id: facts(site, proposal) for proposal in read_proposals(connection, key)}

    before = told()
    commands.change_site(store, "site", {"output_range": "0:400", "value_per_unit": 2.0}, ME)
    after = told()
    assert {number: after[number] for number in before} == before
    site = state_of(store)
    assert all(site.proposals[number].status == WITHDRAWN for number in again)
    assert site.proposals[first].status == "approved"
    fresh = [after[number] for number in proposed(store)]
    assert fresh, "the same advice is made anew, in the new units"
    assert all(60.0 < new.into.mean < 100.0 for new in fresh), "in pieces a day, shrunk towards the pool"
    sound(store)


def test_money_keeps_the_range_and_the_value_of_its_day(store: Store) -> None:
    """Where less is better, the saving is against the worst that counted then."""
    site_with_proposals(store, units=Units(100.0, 0.0, 3.0))
    output_imports.import_output(store, "site", [*day(1, "a", 38.0), *day(2, "a", 28.0)], b"", ME)
    saved = 3.0 * (100.0 - 40.0) + 3.0 * (100.0 - 30.0)
    assert state_of(store).earned == saved
    commands.change_site(store, "site", {"output_range": "60:0", "value_per_unit": 5.0}, ME)
    assert state_of(store).earned == saved
    output_imports.import_output(store, "site", day(3, "a", 8.0), b"", ME)
    assert state_of(store).earned == saved + 5.0 * (60.0 - 10.0)
    output_imports.import_output(store, "site", day(1, "a", 48.0), b"", ME, correct=True)
    assert state_of(store).earned == saved - 3.0 * 10.0 + 5.0 * (60.0 - 10.0)
    sound(store)


def test_output_becomes_a_rate(store: Store) -> None:
    site_with_proposals(store, units=Units(0.0, 100.0))
    rows = [OutputRow(2, CALENDAR.date_of(1), None, "a", 40.0, 4.0, "partial")]
    output_imports.import_output(store, "site", rows, b"", ME)
    assert state_of(store).estimates.counts[0] == 30, "a partial day says nothing of an amount"
    commands.change_site(store, "site", {"output_range": "0:20", "hours": 8}, ME)
    site = state_of(store)
    assert site.estimates.counts[0] == 31
    assert site.workers[0].prior_given == 10.0 / 8.0
    assert site.estimates.sums[0] == pytest.approx(30 * (10.0 / 8.0) / 20.0 + 40.0 / 4.0 / 20.0)
    commands.change_site(store, "site", {"output_range": "0:100", "hours": None}, ME)
    assert state_of(store).workers[0].prior_given == pytest.approx(10.0)
    sound(store)


def test_the_next_day_of_a_policy_is_measured_in_the_new_range(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(1), b"", ME)
    commands.change_site(store, "site", {"output_range": "0:200"}, ME)
    assert state_of(store).last_output == pytest.approx({0: 52.0 / 200.0, 2: 53.0 / 200.0})
    assert np.all(state_of(store).estimates.sums <= state_of(store).estimates.counts)


def test_a_wrong_range_is_refused(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(1), b"", ME)
    refused(store, lambda: commands.change_site(store, "site", {"output_range": "5:5"}, ME), "must differ")
    refused(store, lambda: commands.change_site(store, "site", {"hours": 0}, ME), "hours_per_period")


def test_before_anybody_is_enrolled_a_range_is_a_plain_setting(store: Store) -> None:
    commands.create_site(store, "site", config(), ME)
    commands.change_site(store, "site", {"output_range": "0:200"}, ME)
    assert types_of(store)[-1] == "site-changed"
    assert "former_units" not in state_of(store).to_json()
