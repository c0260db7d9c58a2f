"""Policies of other packages: a real small package, built and installed, that nobody but its entry point names."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.cli.main import app
from crewlearn.planning import limits
from crewlearn.policies import registry
from crewlearn.policies.checks import check_policy
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.installed import installed, package_of
from crewlearn.policies.registry import known_policies, live_policies, make_policy, registered, split_spec
from crewlearn.problem.errors import InvalidInput
from support.stores import ME, config, site_with_proposals, state_of

SOURCE = Path(__file__).parents[1] / "support" / "their_package"
RUNNER = CliRunner()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which pip installed the package, as it would into an environment."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for path in SOURCE.rglob("*.*"):
        copy = source / path.relative_to(SOURCE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--disable-pip-version-check", "--target", target, source], check=True, timeout=120)
    return target


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/s.db") as opened:
        yield opened


@pytest.fixture
def theirs(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let the package be installed during a test."""
    with monkeypatch.context() as context:
        context.delenv(registry.ALLOWED, raising=False)
        context.syspath_prepend(built)
        installed.cache_clear()
        yield context
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.startswith("their_package")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    installed.cache_clear()
    registry._live.cache_clear()


def dist_info(folder: Path, package: str, entry: str) -> None:
    """Write what an installed package says of itself."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[crewlearn.policies]\n{entry}\n")


@pytest.mark.usefixtures("theirs")
def test_a_policy_is_known_by_its_name() -> None:
    policy = make_policy("patient:least=7")
    assert (type(policy).__module__, vars(policy)) == ("their_package.rules", {"least": 7})
    assert known_policies()[-1] == "patient"
    assert package_of("patient") == "their-package 1.2"
    assert split_spec("patient:least=7") == ("patient", "least=7")
    assert split_spec("patient:Class:least=7") == ("patient:Class", "least=7")
    check_policy(policy)
    listed = RUNNER.invoke(app, ["policies"])
    assert "Exchanges the worst for the best outside after some patience (their-package 1.2)" in listed.stdout
    about = json.loads(RUNNER.invoke(app, ["policies", "--json"]).stdout)["patient"]
    assert (about["package"], about["parameters"]) == ("their-package 1.2", {"least": 10})


def test_without_its_package_it_is_unknown() -> None:
    with pytest.raises(InvalidInput, match="unknown"):
        make_policy("patient")
    assert "patient" not in RUNNER.invoke(app, ["policies"]).stdout


@pytest.mark.parametrize(
    ("entry", "name", "words"),
    [
        ("dr-ucb = their_package.rules:Patient", "dr-ucb", "of crewlearn and of other 1.0; rename the entry point"),
        ("patient = other.rules:Patient", "patient", "of other 1.0 and of their-package 1.2; rename the entry point"),
        ("lost = not_there:Lost", "lost", "of other 1.0 cannot be imported from not_there:Lost"),
        ("number = math:pi", "number", "must derive from crewlearn.Policy"),
    ],
)
def test_what_clashes_or_cannot_be_imported_is_refused(
    theirs: pytest.MonkeyPatch, tmp_path: Path, entry: str, name: str, words: str
) -> None:
    dist_info(tmp_path, "other", entry)
    theirs.syspath_prepend(tmp_path)
    installed.cache_clear()
    with pytest.raises(InvalidInput, match=words):
        make_policy(name)
    listed = RUNNER.invoke(app, ["policies"])
    assert words in listed.stderr
    assert "thompson\n" in listed.stdout, "the others are listed all the same"
    assert make_policy("thompson").name == "thompson"


def test_users_of_a_server_may_choose_what_the_operator_allows(theirs: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="start the server with --allow-policy patient"):
        registered("policy", "patient:least=3")
    with pytest.raises(InvalidInput, match="unknown"):
        registered("policy", "their_package.rules:Patient")
    assert "patient" not in live_policies()
    theirs.setenv(registry.ALLOWED, "")
    registry.allow_policies(["patient", "their_package.rules:Patient"])
    assert registered("policy", "patient:least=3") == "patient:least=3"
    assert registered("policy", "their_package.rules:Patient:least=3").endswith("least=3")
    assert list(live_policies().items())[-2][1] == "Exchanges the worst for the best outside after some patience"
    assert RUNNER.invoke(app, ["serve", "--allow-policy", "oracle"]).exit_code == 2
    for name, words in (("oracle", "true means"), ("not.there:X", "not.there"), ("patient:least=3", "without")):
        with pytest.raises(InvalidInput, match=words):
            registry.allow_policies([name])


def test_the_limits_of_a_plan_are_those_of_its_speed(theirs: pytest.MonkeyPatch, store: Store) -> None:
    assert rule_of(make_policy("patient")) is not None
    site_with_proposals(store)
    site = state_of(store)
    ahead = {"horizon": site.period - 1 + 1000}
    workers, played = len(site.workers), 2
    most = int(limits.MOST_WORK / (workers * played * 1000))
    _, chosen = limits.check(site, ["patient"], min(most, limits.MOST_RUNS), ahead)
    assert chosen == ("patient", "keep-team")
    most = int(limits.MOST_PLAIN_WORK / (workers * played * 1000))
    limits.check(site, ["support.own_code:Plain"], most, ahead)
    with pytest.raises(InvalidInput, match=f"at most {most:,}"):
        limits.check(site, ["support.own_code:Plain"], most + 1, ahead)


def test_a_site_whose_package_is_gone_says_so_and_its_hashes_are_checked(
    theirs: pytest.MonkeyPatch, store: Store
) -> None:
    commands.create_site(store, "site", config(policy="patient"), ME)
    assert not verify(store, "site").unchecked
    theirs.undo()
    _forget()
    checked = verify(store, "site")
    assert checked.sound
    assert checked.unchecked.startswith("policy patient: cannot be used here")
    assert "nothing on record is lost" in checked.unchecked
