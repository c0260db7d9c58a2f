"""Tables for people, as text and for notebooks."""

import html

Table = tuple[list[str], list[list[str]]]
"""Headings and rows."""


def as_lines(table: Table) -> list[str]:
    """Return a table as lines of text with aligned columns.

    >>> as_lines((["policy", "regret"], [["a", "12"]]))
    ['policy  regret', 'a       12']
    """
    headings, rows = table
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    every = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (headings, *rows)]
    return ["  ".join(cells).rstrip() for cells in every]


def as_html(caption: str, table: Table) -> str:
    """Return a table as HTML."""
    headings, rows = table
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
