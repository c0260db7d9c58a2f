"""The notebooks: kept without output, run when the book is built, and shown with what they print and draw."""

import asyncio
from pathlib import Path

import nbformat
import pytest

from book import notebooks

NAMED = sorted(path.stem for path in notebooks.paths())


@pytest.mark.parametrize("name", NAMED)
def test_files_hold_no_output(name: str) -> None:
    """What the book shows was printed when it was built."""
    [path] = [path for path in notebooks.paths() if path.stem == name]
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]


def test_pages_show_what_was_printed_and_drawn(book: Path) -> None:
    for path in notebooks.paths():
        address = path.relative_to(notebooks.DOCS).with_suffix("")
        page = (book / f"{address}.html").read_text(encoding="utf-8")
        drawn = sorted((book / address.parent).glob(f"{address.name}-cell-*.png"))
        assert drawn
        assert all(picture.name in page and picture.stat().st_size > 5_000 for picture in drawn)
        assert "Traceback" not in page
        assert "\x1b" not in page
        assert ".ipynb" not in page.replace(f'href="{address.name}.ipynb"', "")


@pytest.mark.parametrize(
    ("code", "said"), [("1 / 0", "ZeroDivisionError"), ("import warnings; warnings.warn('x')", "UserWarning")]
)
def test_a_cell_that_fails_or_warns_fails_the_book(tmp_path: Path, code: str, said: str) -> None:
    path = tmp_path / "wrong.ipynb"
    cells = [nbformat.v4.new_markdown_cell("# Wrong"), nbformat.v4.new_code_cell(code)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    with pytest.raises(notebooks.NotebookFault, match=said):
        asyncio.run(notebooks.run(path))
