"""Every policy decides and scores exactly as it did when simulate.json was frozen."""

import json
from typing import Any

import pytest

from crewlearn import problem_to_toml, read_problem
from support.frozen import FROZEN, POLICIES, PROBLEMS, differences, problem_file, record

SIMULATED: dict[str, Any] = json.loads((FROZEN / "simulate.json").read_text())


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_decides_and_scores_as_frozen(policy: str) -> None:
    changed = list(differences(SIMULATED[policy], record(policy)))
    assert not changed, "\n".join([f"{policy} differs from tests/data/frozen/simulate.json:", *changed])


def test_every_frozen_policy_is_compared() -> None:
    assert list(SIMULATED) == list(POLICIES)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_frozen_problem_file_is_written_as_it_was_read(problem: str) -> None:
    assert problem_to_toml(read_problem(problem_file(problem))) == problem_file(problem).read_text()
