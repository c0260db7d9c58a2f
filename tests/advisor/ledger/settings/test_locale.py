"""A site's currency and time zone: what is recorded of them, what day it is, and what is refused."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.retention import retention_pass
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.wording.past.history import settings_since
from crewlearn.advisor.wording.settings import differences
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats
from support.stores import config
from support.web.app import Clock

EVENING = datetime(2026, 11, 16, 23, 30, tzinfo=UTC)


def test_neither_is_recorded_unless_it_is_set() -> None:
    plain = config()
    assert not {"currency", "time_zone"} & set(plain.to_json())
    abroad = config(currency="EUR", time_zone="Asia/Tokyo")
    assert abroad.to_json()["currency"] == "EUR"
    assert SiteConfig.from_json(abroad.to_json()) == abroad
    assert SiteConfig.from_json({**plain.to_json(), "currency": None, "time_zone": None}) == plain


def test_what_is_no_currency_or_zone_is_refused() -> None:
    wrong: Any
    for wrong in ("eur", "EURO", "XYZ", "", 978, True, ["EUR"]):
        with pytest.raises(InvalidInput, match="such as EUR"):
            config(currency=wrong)
    for wrong in (
        "CET+1",
        "Europe",
        "../etc/passwd",
        "Mars/Olympus",
        "",
        1,
        "\x00",
        ["UTC"],
        "localtime",
        "right/UTC",
        "Factory",
    ):
        with pytest.raises(InvalidInput, match="such as Europe/Amsterdam"):
            config(time_zone=wrong)


def test_the_day_is_that_of_the_zone_with_its_own_cutoff() -> None:
    """23:30 UTC is 00:30 in Amsterdam, 08:30 the next day in Tokyo, and 18:30 in New York."""
    days = {
        zone: config(time_zone=zone).day_of(EVENING)
        for zone in (None, "Europe/Amsterdam", "Asia/Tokyo", "America/New_York")
    }
    assert days == {
        None: date(2026, 11, 16),
        "Europe/Amsterdam": date(2026, 11, 17),
        "Asia/Tokyo": date(2026, 11, 17),
        "America/New_York": date(2026, 11, 16),
    }
    night = config(time_zone="Europe/Amsterdam")
    night = SiteConfig.from_json({**night.to_json(), "calendar": {**night.calendar.to_json(), "cutoff_hour": 6}})
    assert night.day_of(EVENING) == date(2026, 11, 16)
    summer = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)  # two hours ahead in summer
    assert config(time_zone="Europe/Amsterdam").day_of(summer) == date(2026, 7, 2)


def test_moments_are_shown_in_the_zone() -> None:
    shown = formats.moment(EVENING.isoformat(), config(time_zone="Asia/Tokyo").local)
    assert shown == "Tue 17 Nov 2026, 08:30 JST"
    assert formats.moment("long ago", config().local) == "long ago"


@pytest.fixture
def clock() -> Clock:
    return Clock(EVENING)


@pytest.fixture
def store(make_database: Callable[[str], Any], clock: Clock) -> Any:
    with open_store(make_database("sqlite").url, clock) as opened:
        yield opened


def test_they_are_settings_like_others_and_the_record_verifies(store: Store, clock: Clock) -> None:
    commands.create_site(store, "here", config(), "ann")
    commands.change_site(store, "here", {"currency": "EUR", "time_zone": "Asia/Tokyo"}, "ann")
    since = settings_since(store, "here")
    assert {"currency", "time_zone"} <= set(since)
    before, after = commands.change_site(store, "here", {"currency": None, "time_zone": None}, "ann")
    assert sorted(differences(before, after)) == [
        ("currency", "EUR", "none"),
        ("time_zone", "Asia/Tokyo", "this machine's"),
    ]
    assert not {"currency", "time_zone"} & set(settings_since(store, "here"))
    assert verify(store, "here").sound
    commands.create_site(store, "there", config(time_zone="Asia/Tokyo"), "ann")
    assert settings_since(store, "there")["fee"].day == "2026-11-17"
    with pytest.raises(InvalidInput, match="is no time zone"):
        commands.change_site(store, "here", {"time_zone": "Tokyo"}, "ann")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", None])
def test_each_day_of_a_zone_has_its_pass(store: Store, clock: Clock, zone: str | None) -> None:
    """From 14 hours ahead to 11 behind: who left goes on the day it is due."""
    site = config(time_zone=zone, policy="dr-ucb", erase_after=1)
    commands.create_site(store, "hall", site, "ann")
    rows = [WorkerRow("a", "A", True, status="pool"), WorkerRow("b", "B", False, status="left")]
    worker_imports.import_workers(store, "hall", rows, b"", "ann")
    left = site.day_of(EVENING)
    erased = []
    for half_hours in range(1, 145):
        clock.now = datetime.fromtimestamp(EVENING.timestamp() + 1800 * half_hours, UTC)
        if retention_pass(store):
            erased.append(clock.now)
    (when,) = erased
    here = when.astimezone(ZoneInfo(zone or "UTC"))
    assert (here.date() - left).days == 1
    assert (here.hour, here.minute) == (0, 0)
