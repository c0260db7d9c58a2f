"""Tests use fixed examples, the same on every machine and every day. Fixtures are defined in tests/support.

With HYPOTHESIS_PROFILE=searching, tests without a number of examples of their own look for new ones.
"""

import os
import signal

import pytest
from hypothesis import settings

from support.compiling import compile_loops
from support.lives import life
from support.stores import (
    database,
    databases_end,
    empty_database,
    fixed_salts,
    make_database,
    postgres,
    postgres_url,
    prepared,
    store,
)
from support.web.api import client, mia
from support.web.app import clock, web
from support.web.browsing import browser, hall, visit
from support.web.jobs import other
from support.web.server import serve

__all__ = [
    "browser",
    "client",
    "clock",
    "database",
    "databases_end",
    "empty_database",
    "fixed_salts",
    "hall",
    "life",
    "make_database",
    "mia",
    "other",
    "postgres",
    "postgres_url",
    "prepared",
    "serve",
    "store",
    "visit",
    "web",
]

settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=False, max_examples=50)
settings.register_profile("searching", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_configure(config: pytest.Config) -> None:
    """Compile before the workers of the whole suite start; a run of single files compiles what it needs.

    A shell script starts what it runs in the background with interrupts ignored, and so would the programs be that
    tests interrupt: some would never end.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if whole and not config.option.collectonly and not hasattr(config, "workerinput"):
        compile_loops()
