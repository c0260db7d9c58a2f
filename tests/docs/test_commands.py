"""What the manuals tell people to type works: commands are run page by page, in order, in a scratch folder."""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from crewlearn import problem_from_toml
from crewlearn.cli.main import app
from support.manuals import PAGES, Block, Shell, blocks_of, command_lines, fault_of_command
from support.web.server import Serve

BLOCKS = [block for path in PAGES for block in blocks_of(path)]

LANGUAGES = {
    "sh": "commands, which are run",
    "python": "examples with >>>, which pytest runs as doctests",
    "csv": "a file of the name in its title, which commands read",
    "toml": "a problem file, which is read",
    "console": "commands after a $, with what they print where something is wrong: they exist",
    "json": "a document, which is read",
    "yaml": "settings of another program, which are read",
    "text": "what is shown, or the form of a command: nothing to run",
}

WITHOUT_SITE = ("docs/tutorials/first-morning.md", "docs/how-to/manage/new-site.md")
"""Pages that create the site north themselves."""


def sequences() -> dict[str, list[Block]]:
    """Return what is run, by the pages that have it: pages with the same commands share a run."""
    by_page: dict[str, list[Block]] = {}
    for block in BLOCKS:
        if (block.language == "sh" and not block.not_run) or (block.title and block.language != "python"):
            by_page.setdefault(block.page, []).append(block)
    by_text: dict[str, list[str]] = {}
    for page, blocks in by_page.items():
        lines = [line for block in blocks for line in command_lines(block.text) if not line.startswith("pip ")]
        by_text.setdefault("\n".join(lines), []).append(page)
    return {" ".join(pages): [block for page in pages for block in by_page[page]] for pages in by_text.values()}


SEQUENCES = sequences()


def test_every_block_says_what_it_is() -> None:
    unknown = [f"{block}: {block.language!r}" for block in BLOCKS if block.language not in LANGUAGES]
    assert not unknown, f"a block is one of {', '.join(LANGUAGES)}"
    assert not [
        str(block) for block in BLOCKS if block.language == "python" and not block.not_run and ">>>" not in block.text
    ]
    assert not [str(block) for block in BLOCKS if block.language == "csv" and not block.title]
    assert not [str(block) for block in BLOCKS if block.not_run and block.language not in ("sh", "python")]


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.not_run], ids=str)
def test_left_out(block: Block) -> None:
    """Commands that are not run still exist, with their options; the reason is printed."""
    for line in command_lines(block.text):
        if block.language == "sh" and line.startswith("crewlearn "):
            assert not fault_of_command(line.split()[1:]), line
    pytest.skip(f"{block} is not run: {block.not_run}")


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language in ("toml", "json", "yaml")], ids=str)
def test_files_can_be_read(block: Block) -> None:
    """Problem files are read as such, and so are the documents and settings of others."""
    if block.language == "toml":
        tables = tomllib.loads(block.text)
        if {"team", "workers"} <= set(tables):
            problem_from_toml(block.text)
    else:
        assert json.loads(block.text) if block.language == "json" else yaml.safe_load(block.text)


@pytest.mark.parametrize("pages", SEQUENCES)
def test_blocks_of_commands(
    pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Serve, make_database: Any
) -> None:
    blocks = SEQUENCES[pages]
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CREWLEARN_DB")]:
        monkeypatch.delenv(name)
    needs_postgres = any("postgresql://" in block.text for block in blocks)
    shell = Shell(tmp_path, serve, make_database("postgresql").url if needs_postgres else "")
    prepare(shell, pages)
    done: list[str] = []
    for block in blocks:
        if block.language != "sh":
            (tmp_path / block.title).write_text(block.text + "\n", encoding="utf-8")
            continue
        shell.run("\n".join(line for line in command_lines(block.text) if line not in done or "://" in line))
        done += command_lines(block.text) if " " in pages else []


def prepare(shell: Shell, pages: str) -> None:
    """Write the files that the pages take for granted, and set up the site that they work on."""
    day = date(2026, 1, 5)
    days = [day + timedelta(days=n) for n in range(84) if (day + timedelta(days=n)).weekday() < 5]
    rows = [
        f"{day},{worker},{40 + 3 * worker + 5 * ((7 * n + 3 * worker) % 5)}"
        for n, day in enumerate(days)
        for worker in range(1, 19)
        if (worker + n // 15) % 18 < 14
    ]
    header = "date,worker_id,units\n"
    files = {
        "workers.csv": "worker_id\n" + "\n".join(map(str, range(1, 19))) + "\n",
        "output.csv": header + "\n".join(rows) + "\n",
        "export.csv": header + "\n".join(rows) + "\n",
        "monday.csv": header + "\n".join(f"2026-03-30,{worker},{50 + 3 * worker}" for worker in range(1, 13)) + "\n",
        "problem.toml": "team = 2\nhorizon = 400\ncost = 5\n[workers]\nmeans = [0.2, 0.4, 0.5, 0.8]\n",
    }
    for name, text in files.items():
        (shell.folder / name).write_text(text, encoding="utf-8")
    if not any(page in pages for page in WITHOUT_SITE):
        shell.run("crewlearn site create north --from export.csv --cost 250 --value-per-unit 0.8 --yes")


def inline_commands() -> Iterator[tuple[str, list[str]]]:
    for path in PAGES:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for found in re.findall(r"`crewlearn\s+([^`]+)`", text):
            yield path.name, re.split(r"\s+|\|", found)
    for block in BLOCKS:
        for line in block.text.splitlines() if block.language in ("text", "console") else []:
            command = line.removeprefix("$ ")
            if command.startswith("crewlearn "):
                yield str(block), re.split(r"[\s\[\]|]+", command)[1:]


def test_commands_within_sentences_exist() -> None:
    found = list(inline_commands())
    assert len(found) > 40
    assert not [f"{where}: {' '.join(words)}: {fault}" for where, words in found if (fault := fault_of_command(words))]
    assert CliRunner().invoke(app, ["--version"]).exit_code == 0


def test_a_wrong_command_is_found() -> None:
    assert fault_of_command(["site", "creates", "north"]) == "there is no command 'creates'"
    assert fault_of_command(["advise", "north", "--loud"]) == "there is no option --loud"
    assert not fault_of_command(["site", "create", "north", "--team", "3"])
