"""The code blocks of the manuals, and a small shell that runs their commands in one process."""

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from crewlearn.cli.main import app
from support.web.server import Serve, Server

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r'```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?(?P<more>.*)')
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block: its page and line, its language, the file that its title names, and why it is not run."""

    page: str
    line: int
    language: str
    title: str
    text: str
    not_run: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    opened, reason = 0, ""
    for number, line in enumerate(lines, start=1):
        if opened:
            if line == "```":
                fence = _FENCE.fullmatch(lines[opened - 1])
                assert fence is not None, f"{path}:{opened}"
                text = "\n".join(lines[opened : number - 1])
                page = path.relative_to(ROOT).as_posix()
                yield Block(page, opened, fence["language"], fence["title"] or "", text, reason)
                opened, reason = 0, ""
        elif line.startswith("```"):
            opened = number
        elif line.strip():
            marked = _NOT_RUN.fullmatch(line)
            reason = marked["reason"] if marked else ""


def command_lines(text: str) -> Iterator[str]:
    """Yield the commands of a shell block, without comments, with continued lines joined, and "&&" taken apart."""
    for line in text.replace("\\\n", " ").splitlines():
        for command in re.sub(r"(^|\s)#.*", "", line).split(" && "):
            if command.strip():
                yield command.strip()


@dataclass
class Shell:
    """Runs commands in a folder: crewlearn in this process, servers as processes of their own, curl as it is.

    `make` and `pip install` are checked for what they name, and not run.
    """

    folder: Path
    serve: Serve
    postgres: str
    environment: dict[str, str] = field(default_factory=dict)
    server: Server | None = None

    def run(self, text: str) -> None:
        """Run the commands of a block; one that fails raises an error with what it printed."""
        for line in command_lines(text):
            words = shlex.split(re.sub(r"\$(\w+)", self._value, line))
            match words:
                case ["export", *settings]:
                    self.environment |= dict(self._setting(one) for one in settings)
                case ["crewlearn", "serve", *options]:
                    self.server = self.serve(self.store, *options)
                case ["crewlearn", *rest]:
                    self._crewlearn(rest)
                case ["curl", *rest]:
                    self._curl(rest)
                case ["pip", "install", *names]:
                    check_requirements(names)
                case ["make", target]:
                    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
                case _:
                    raise AssertionError(f"{line}: the tests cannot run this; mark it '<!-- not run: REASON -->'")

    @property
    def store(self) -> str:
        """The store that commands use."""
        return self.environment.get("CREWLEARN_DB", f"sqlite:///{self.folder}/crewlearn.db")

    def _value(self, variable: re.Match[str]) -> str:
        return self.environment[variable[1]]

    def _setting(self, text: str) -> tuple[str, str]:
        name, _, value = text.partition("=")
        return name, self.postgres if value.startswith("postgresql://") else value

    def _crewlearn(self, words: list[str]) -> None:
        result = CliRunner().invoke(app, words, env={"CREWLEARN_DB": self.store, **self.environment})
        assert result.exit_code == 0, f"crewlearn {shlex.join(words)}: {result.output} {result.exception!r}"
        if token := re.search(r"\bcrew_[\w-]{20,}", result.output):
            self.environment["TOKEN"] = token[0]  # as the manuals tell people to do

    def _curl(self, words: list[str]) -> None:
        assert self.server is not None
        words = [word.replace("http://127.0.0.1:8000", self.server.url) for word in words]
        command = ["curl", "--silent", "--show-error", "--fail-with-body", *words]
        answer = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        assert answer.returncode == 0, f"{shlex.join(command)}: {answer.stdout} {answer.stderr}"


def check_requirements(names: list[str]) -> None:
    """Check that what `pip install` is told is this package, with extras that it has."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in names:
        said = re.fullmatch(r"(?:crewlearn|\.)(?:\[([\w,]+)\])?", name)
        assert said is not None, name
        assert set((said[1] or "dev").split(",")) <= set(project["optional-dependencies"]), name


def fault_of_command(words: list[str]) -> str:
    """Return what is wrong with the words of a crewlearn command: a command or an option that does not exist."""
    import typer

    command: Any = typer.main.get_command(app)
    names = iter(words)
    for word in names:
        if not hasattr(command, "commands"):
            break
        if word in command.commands:
            command = command.commands[word]
        elif not word.startswith("-"):
            return f"there is no command {word!r}"
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    options |= {"--help"}
    used = [option for word in words for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", word)]
    return ", ".join(f"there is no option {option}" for option in used if option not in options)
