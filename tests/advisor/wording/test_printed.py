"""The notice to workers and the model card: they say what the settings are, and what was measured."""

from dataclasses import replace
from datetime import date

from crewlearn.advisor.evidence.calibration import calibrated_gain
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import Site, Worker
from crewlearn.advisor.wording.model_card import model_card
from crewlearn.advisor.wording.notice import BLANK, worker_notice
from crewlearn.advisor.wording.sections import plain
from support.stores import config

TODAY = date(2026, 11, 18)


def notice_of(site: Site, contact: str = "") -> str:
    return plain(worker_notice("hall", site, TODAY, contact))


def test_a_notice_follows_the_settings() -> None:
    plain_site = Site.empty(config(policy="dr-ucb", least_tenure=0, most_a_week=None))
    told = notice_of(plain_site)
    assert "no time at the start" in told
    assert "in a week is not limited" in told
    assert "ramp" not in told
    assert "still learning the work" not in told
    assert f"Whom to ask: {BLANK}" in told
    other = Site.empty(
        config(
            policy="value-of-replacement-evolving",
            least_tenure=12,
            most_a_week=3,
            units=Units(0.0, 80.0, hours_per_period=8.0),
            calendar=WorkCalendar(date(2024, 1, 1), shifts_per_day=2),
        )
    )
    told = notice_of(replace(other, workers=[Worker(interview=0.4)]), "Ines, ext. 212")
    for words in ("first 12 shifts", "At most 3 replacements a week", "learning the work", "a score from an interview"):
        assert words in told
    assert "Whom to ask: Ines, ext. 212" in told
    assert BLANK not in told
    assert "proposes no replacements" in notice_of(Site.empty(config(policy="keep-team")))


def test_a_card_follows_the_settings_and_what_was_measured() -> None:
    site = Site.empty(config(policy="dr-ucb:gamma=9", least_tenure=7, most_a_week=2, budget_a_month=1500.0))
    card = plain(model_card("hall", site, 31, TODAY, "9.8"))
    for words in (
        "dr-ucb:gamma=9: the paper's policy",
        "before 7 periods",
        "at most 2 replacements",
        "In a month: at most 1,500 in fees",
        "all days as alike",
        "crewlearn 9.8, rules",
        "31 events on 2026-11-18",
        "not the policy of this site",
    ):
        assert words in card
    own = plain(model_card("hall", Site.empty(config(policy="value-of-replacement-evolving")), 1, TODAY, "9.8"))
    assert "not the policy of this site" not in own
    for line in calibrated_gain():
        assert f"{line.title}: {line.covered:.1%} of {line.firms} firms covered" in card
    assert card.count("too often") == sum(line.covered > line.wanted[1] for line in calibrated_gain())
    assert card.count("which is too few") == sum(not line.sign_holds for line in calibrated_gain())
