"""CONTRIBUTING.md names paths and targets that exist, and the manuals name everything that its recipes add."""

import re
from pathlib import Path

import pytest

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.ledger.events import KINDS
from crewlearn.beliefs.radii import RADII
from crewlearn.cli.live.files import import_output_command
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS
from crewlearn.web.api.site.output import import_output_csv
from crewlearn.web.pages.common import TABS

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?:[\w.-]+/)+(?:[\w.-]+)?|[\w.-]+\.(?:md|toml|txt|py|yaml|html)")
MADE = {".venv", "build/book", "dist/"}
"""Paths that exist only once a target has made them."""


def paths_in(text: str) -> list[str]:
    """Return the paths that a text quotes."""
    return [quoted for quoted in QUOTED.findall(text) if PATH.fullmatch(quoted) and quoted not in MADE]


def recipes() -> dict[str, str]:
    """Return the recipes by their title."""
    part = CONTRIBUTING.split("\n## Recipes\n")[1].split("\n## ")[0]
    return {recipe.partition("\n")[0]: recipe for recipe in part.split("\n### ")[1:]}


def test_paths_are_told_from_other_quotations() -> None:
    text = "`src/x/y.py`, `docs/`, `README.md`, `RADII`, `make test`, `module:Class`, `dr-ucb:radius=NAME`, `dist/`"
    assert paths_in(text) == ["src/x/y.py", "docs/", "README.md"]


@pytest.mark.parametrize("path", sorted(set(paths_in(CONTRIBUTING))))
def test_every_path_exists(path: str) -> None:
    if "/" in path or (ROOT / path).exists():
        assert (ROOT / path).exists()
        assert (ROOT / path).is_dir() == path.endswith("/")
    else:  # a module or template, named without the folder that its step names
        steps = [
            step for recipe in recipes().values() for step in re.split(r"\n(?=\d\. )", recipe) if f"`{path}`" in step
        ]
        assert steps
        for step in steps:
            assert any((ROOT / folder / path).exists() for folder in paths_in(step) if folder.endswith("/")), step


@pytest.mark.parametrize("title", recipes())
def test_every_recipe_names_code_tests_and_a_manual(title: str) -> None:
    paths = paths_in(recipes()[title])
    for folder in ("src/crewlearn/", "tests/", "docs/"):
        assert any(path.startswith(folder) for path in paths), folder


def test_every_target_of_make_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([\w-]+)", CONTRIBUTING, re.MULTILINE))
    assert named
    assert named <= targets


def manual(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_manuals_name_everything_that_a_recipe_adds() -> None:
    named = {
        "reference/problem-file.md": [*(law.law for law in OUTPUT_LAWS), *(law.law for law in DELAY_LAWS)],
        "reference/policies.md": [*RADII, *(name for name in REGISTRY if not name.startswith("dr-ucb"))],
        "how-to/manage/output.md": OUTPUT.names,
        "reference/record.md": [*KINDS],
    }
    missing = [(page, name) for page, names in named.items() for name in names if f"`{name}`" not in manual(page)]
    pages = "how-to/manage/pages.md"
    missing += [(pages, tab) for tab, _, _ in TABS if f"**{tab}**" not in manual(pages)]
    assert not missing


def test_whoever_sends_a_file_of_output_is_told_of_all_columns() -> None:
    for text in (import_output_command.__doc__, import_output_csv.__doc__):
        assert not [name for name in OUTPUT.names if not re.search(rf"\b{name}\b", str(text))], text
