"""An extension of griffe, which reads the docstrings: examples in them are shown as code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^[ \t]*>>>.*\n(?:^[ \t]*\S.*\n?)*\n?)+", re.MULTILINE)


def with_fences(text: str) -> str:
    """Return a docstring with its examples fenced, so that they are code in Markdown.

    >>> print(with_fences("Say it.\\n\\n>>> 1 + 1\\n2\\n"))
    Say it.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text + "\n")


class Examples(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = with_fences(obj.docstring.value)
