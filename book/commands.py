"""The reference of the commands, from the commands themselves."""

import re
from collections.abc import Iterator

import typer
from typer.core import TyperGroup

from crewlearn.cli.main import app


def commands() -> Iterator[tuple[list[str], typer.core.TyperCommand]]:
    """Yield every command, with the words that call it."""
    root = typer.main.get_command(app)

    def below(command: object, words: list[str]) -> Iterator[tuple[list[str], typer.core.TyperCommand]]:
        if isinstance(command, TyperGroup):
            for name, inner in command.commands.items():
                yield from below(inner, [*words, name])
        elif isinstance(command, typer.core.TyperCommand):
            yield words, command

    yield from below(root, ["crewlearn"])


def pages() -> Iterator[tuple[str, str]]:
    """Yield the address and text of the page of all commands."""
    body = [
        "# Commands",
        "",
        "Every command also has `--help`. `--json` prints for programs, where it is listed.",
        "",
    ]
    for words, command in commands():
        body += [f"## {' '.join(words)}", "", *described(words, command), ""]
    yield "reference/commands.md", "\n".join(body)


def described(words: list[str], command: typer.core.TyperCommand) -> Iterator[str]:
    """Yield the lines of one command: how it is called, what it does, its arguments and options."""
    context = typer.Context(command, info_name=" ".join(words))
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ["```text", f"{' '.join(words)} {usage}", "```", ""]
    yield from [paragraph(command.help or ""), ""]
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[0] != "--help":
            rows.append(f"| `{record[0].strip().replace('|', '/')}` | {cell(record[1])} |")
    if rows:
        yield from ["| argument or option | meaning |", "|---|---|", *rows]


def paragraph(text: str) -> str:
    """Return a docstring as Markdown: paragraphs stay, words that look like tags are kept as text."""
    return re.sub(r"<(?=\w)", "&lt;", text.replace("\b", "").strip())


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return paragraph(text).replace("\n", " ").replace("|", "\\|")
