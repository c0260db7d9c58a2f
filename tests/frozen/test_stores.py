"""Stores of an earlier version open, verify and print what they printed then, on SQLite and on PostgreSQL."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.frozen import SITES, differing, first_difference, next_day, outputs, planned, restored, run, table_rows

BACKENDS = ("sqlite", "postgresql")


@pytest.fixture(params=[(site, backend) for site in SITES for backend in BACKENDS], ids="-".join)
def frozen_site(request: pytest.FixtureRequest, make_database: Callable[[str], Any]) -> tuple[str, str]:
    """The URL of a restored frozen store, and the name of its site."""
    site, backend = request.param
    return restored(make_database(backend), site), site


def test_an_old_store_verifies_and_says_what_it_said(frozen_site: tuple[str, str], tmp_path: Path) -> None:
    url, site = frozen_site
    assert json.loads(run(url, "ledger", "verify", site, "--json"))["sound"]
    assert not (changed := list(differing(site, outputs(url, site, tmp_path)))), "\n".join(changed)


def test_an_old_store_goes_on(frozen_site: tuple[str, str], tmp_path: Path) -> None:
    url, site = frozen_site
    assert not (changed := list(differing(site, next_day(url, site, tmp_path)))), "\n".join(changed)
    assert json.loads(run(url, "ledger", "verify", site, "--json"))["sound"]


def test_an_upgrade_leaves_an_old_store_as_it_is(frozen_site: tuple[str, str]) -> None:
    url, site = frozen_site
    before = table_rows(url)
    run(url, "store", "upgrade")
    after = table_rows(url)
    assert list(after) == list(before)
    moved = [f"{name}: {first_difference(before[name], after[name])}" for name in before if after[name] != before[name]]
    assert not moved, "\n".join(moved)
    texts = {f"{command}.json": run(url, command, site, "--json") for command in ("advise", "status")}
    assert not (changed := list(differing(site, texts))), "\n".join(changed)


def test_a_plan_of_an_old_site_is_the_same(make_database: Callable[[str], Any]) -> None:
    url = restored(make_database("sqlite"), "demo")
    assert not (changed := list(differing("demo", {"plan.json": planned(url, "demo")}))), "\n".join(changed)
