"""How an example of a page of items looks."""

from typing import Any


def page_of(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the example of a page with these items, and no further one."""
    return [{"items": list(items), "next": None}]
