"""Stores of an earlier version open, verify and print what they printed then, on SQLite and on PostgreSQL."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.ledger.db import schema
from support.frozen import (
    SITES,
    differing,
    first_difference,
    next_day,
    outputs,
    planned,
    restored,
    run,
    schema_of,
    table_rows,
)

BACKENDS = ("sqlite", "postgresql")

_NEW_KEYS = re.compile(r'"first_team": \[[^]]*\], "began": 0, "enrolled": \[\[.*?\]\], |, "checkpoints": \[\]')
"""The keys of a site's state that are younger than the frozen stores."""


@pytest.fixture(params=[(site, backend) for site in SITES for backend in BACKENDS], ids="-".join)
def frozen_site(request: pytest.FixtureRequest, make_database: Callable[[str], Any]) -> tuple[str, str]:
    """The URL of a restored frozen store, and the name of its site."""
    site, backend = request.param
    return _usable(make_database(backend), site), site


def _usable(database: Any, site: str) -> str:
    """Restore a frozen store, and upgrade it if its schema is an older one; return its URL."""
    url = restored(database, site)
    if schema_of(url) != schema.SCHEMA:
        run(url, "store", "upgrade")
    return url


def test_an_old_store_verifies_and_says_what_it_said(frozen_site: tuple[str, str], tmp_path: Path) -> None:
    url, site = frozen_site
    assert json.loads(run(url, "ledger", "verify", site, "--json"))["sound"]
    assert not (changed := list(differing(site, outputs(url, site, tmp_path)))), "\n".join(changed)


def test_an_old_store_goes_on(frozen_site: tuple[str, str], tmp_path: Path) -> None:
    url, site = frozen_site
    assert not (changed := list(differing(site, next_day(url, site, tmp_path)))), "\n".join(changed)
    assert json.loads(run(url, "ledger", "verify", site, "--json"))["sound"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("site", SITES)
def test_an_upgrade_leaves_an_old_store_as_it_is(site: str, backend: str, make_database: Callable[[str], Any]) -> None:
    """Apart from the schema's number, from tables and columns that are new and empty, and from new keys of a state."""
    url = restored(make_database(backend), site)
    before = table_rows(url)
    run(url, "store", "upgrade")
    assert schema_of(url) == schema.SCHEMA
    after = table_rows(url)
    after["sites"] = _NEW_KEYS.sub("", after["sites"])
    assert not [name for name in after if name not in before and after[name]]
    del before[schema.VERSION_TABLE]
    moved = [f"{name}: {first_difference(before[name], after[name])}" for name in before if after[name] != before[name]]
    assert not moved, "\n".join(moved)
    texts = {f"{command}.json": run(url, command, site, "--json") for command in ("advise", "status")}
    assert not (changed := list(differing(site, texts))), "\n".join(changed)


def test_a_plan_of_an_old_site_is_the_same(make_database: Callable[[str], Any]) -> None:
    url = _usable(make_database("sqlite"), "demo")
    assert not (changed := list(differing("demo", {"plan.json": planned(url, "demo")}))), "\n".join(changed)
