"""The notebooks of the book: each is run from an empty folder, and its page shows what it printed and drew.

The files have no output of their own, so what the book shows is what the code did when the book was built. A cell that
fails, or that warns, fails the build.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

DOCS = Path(__file__).parents[1] / "docs"

AT_ONCE = 2
"""Notebooks that run at the same time."""

SECONDS = 900
"""The time limit of a cell, most of it for compiling simulation loops that are not cached yet."""


class NotebookFault(Exception):
    """A notebook that fails or warns, with the cell and what it said."""


def paths() -> list[Path]:
    """Return the notebooks of the book."""
    return sorted(DOCS.rglob("*.ipynb"))


def pages() -> Iterator[tuple[str, str | bytes]]:
    """Run the notebooks, and yield the address and content of their pages and figures."""
    notebooks = paths()
    for path, notebook in zip(notebooks, asyncio.run(_run_all(notebooks)), strict=True):
        address = path.relative_to(DOCS).with_suffix("")
        lines: list[str] = []
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                lines += [re.sub(r"\.ipynb([)#])", r".md\1", cell.source), ""]
                continue
            lines += ["```python", cell.source, "```", ""]
            for output in cell.outputs:
                if picture := output.get("data", {}).get("image/png"):
                    name = f"{address.name}-{cell.id}.png"
                    yield address.with_name(name).as_posix(), b64decode(picture)
                    lines += [f"![The figure that the code above draws]({name})", ""]
                else:
                    lines += [*_shown(output), ""]
        lines += [f"[Download the notebook]({address.name}.ipynb), to run and change it."]
        yield f"{address.as_posix()}.md", "\n".join(lines)


async def _run_all(notebooks: list[Path]) -> list[NotebookNode]:
    limit = asyncio.Semaphore(AT_ONCE)

    async def run_in_turn(path: Path) -> NotebookNode:
        async with limit:
            return await run(path)

    return await asyncio.gather(*map(run_in_turn, notebooks))


async def run(path: Path) -> NotebookNode:
    """Run a notebook in a scratch folder and return it with its output."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # its own commands
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": folder}})
        try:
            await client.async_execute(env={**os.environ, "PATH": search}, stderr=subprocess.DEVNULL)
        except CellExecutionError as error:
            raise NotebookFault(f"{path}: {error}") from error
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr" and "Warning" in output.text:
                raise NotebookFault(f"{path}, {cell.id}: {output.text}")
    return notebook


def _shown(output: NotebookNode) -> Iterator[str]:
    """Yield the lines that show an output; notes on standard error, such as of compiling, are left out."""
    data = output.get("data", {})
    if "text/html" in data:
        table = re.sub(r"<style.*?</style>|\n\s*", "", data["text/html"], flags=re.DOTALL)
        yield f'<div class="output">{table}</div>'
    elif text := data.get("text/plain", output.get("text", "") if output.get("name") == "stdout" else ""):
        plain = re.sub(r"\x1b\[[0-9;]*m| +$", "", text.rstrip("\n"), flags=re.MULTILINE)  # no colours
        yield from ["```{ .text .output }", plain, "```"]
