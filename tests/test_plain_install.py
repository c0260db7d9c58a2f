"""A plain install, without the packages of the extra `sim`: the live side works, and simulating names the remedy."""

import importlib
import json
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from markupsafe import escape

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.extras import MissingExtra, can_simulate, extra_for
from crewlearn.web.jobs import work
from support.stores import site_with_proposals
from support.web.api import caller, served
from support.web.pages import browser

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
LEFT_OUT = {"numba", "llvmlite", "pyarrow", "matplotlib", "pandas"}
REMEDY = "pip install 'crewlearn[sim]'"
SITE = "site create hall --team 2 --cost 5 --horizon 60 --mean-delay 3 --output-range 0:100"
LIVE = ("--version", "policies", "bounds", SITE, "advise hall --json", "ledger verify hall")
SIMULATING = (
    "simulate --runs 2",
    "sweep --out sweep.jsonl",
    "leaderboard --runs 2",
    "reproduce --runs 2",
    "limit --runs 10",
    "plan hall --runs 2",
    "backtest hall --runs 2",
)
PROGRAM = """
import json, sys
from typer.testing import CliRunner

left_out, lines = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(left_out))  # what is None there cannot be imported
from crewlearn.cli.main import app

done = {line: CliRunner().invoke(app, line.split()) for line in lines}
print(json.dumps({line: [outcome.exit_code, outcome.output] for line, outcome in done.items()}))
"""


def test_a_plain_install_has_the_live_side_and_says_what_simulating_needs(tmp_path: Path) -> None:
    asked = json.dumps([sorted(LEFT_OUT), [*LIVE, *SIMULATING]])
    command = [sys.executable, "-c", PROGRAM, asked]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    outcomes = json.loads(done.stdout)
    assert {line: outcomes[line][0] for line in LIVE} == dict.fromkeys(LIVE, 0)
    assert {line: outcomes[line][0] for line in SIMULATING} == dict.fromkeys(SIMULATING, 2)
    for line in SIMULATING:
        assert REMEDY in outcomes[line][1], line


def test_what_a_plain_install_leaves_out_is_in_the_extra() -> None:
    def names(requirements: list[str]) -> set[str]:
        return {line.partition(">")[0].partition("[")[0] for line in requirements}

    assert not LEFT_OUT & names(PROJECT["dependencies"])
    assert names(PROJECT["optional-dependencies"]["sim"]) == LEFT_OUT - {"llvmlite"}  # which numba requires
    assert "crewlearn[sim" in PROJECT["optional-dependencies"]["dev"][0]
    assert PROJECT["license"] == "MIT"  # an SPDX expression


def test_a_missing_package_names_its_extra() -> None:
    with (
        pytest.raises(MissingExtra, match=r"drawing needs no_such_package.*'crewlearn\[sim\]'") as caught,
        extra_for("drawing"),
    ):
        importlib.import_module("no_such_package")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.name) == (str(caught.value), "no_such_package")


def test_a_plain_server_refuses_to_simulate_and_leaves_such_jobs_to_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_with_proposals(store)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not can_simulate()
    kinds = [kind for lane in work.lanes_here() for kind in lane]
    assert {work.PLAN, work.BACKTEST}.isdisjoint(kinds)
    assert work.VERIFY in kinds
    with served(store, jobs=False) as client:
        mia = caller(client, "mia", "admin")
        for name, wanted in (("plan", {}), ("backtest", {"first": 3})):
            assert REMEDY in mia.post(f"/sites/site/{name}", wanted, 409)["detail"]
    user = browser(store)
    form = {"team": "2", "fee": "5", "horizon": "60", "mean_delay": "3", "policies": ["keep-team"], "runs": "200"}
    for name, filled in (("plan", form), ("backtest", {"first": "3", "runs": "100"})):
        assert escape(REMEDY) in user.get(f"/sites/site/{name}")
        assert escape(REMEDY) in user.post(f"/sites/site/{name}", filled, 422)
