"""The style of each policy's line, the same in every figure: colour-blind safe, told apart by dash and marker too.

Colours are those of Okabe and Ito's palette.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Style:
    """The style of a line."""

    colour: str
    dash: Any = "-"
    marker: str = "o"
    width: float = 1.6


POLICY_STYLES = {
    "dr-ucb": Style("#0072B2", "-", "o", 2.0),
    "a-aht": Style("#D55E00", (0, (6, 2)), "s"),
    "a-omm": Style("#009E73", (0, (6, 2, 1, 2)), "^"),
    "interview-screen": Style("#CC79A7", (0, (1.5, 1.5)), "D"),
    "work-trial": Style("#E69F00", (0, (3, 1)), "v"),
    "value-of-replacement": Style("#56B4E9", "-", "*", 2.0),
    "keep-team": Style("#555555", (0, (3, 3)), "x"),
}
"""The styles of the policies that the paper's figures show."""

_SPARE = tuple(
    Style(colour, dash, marker)
    for dash, marker in (("-", "P"), ((0, (5, 1)), "X"), ((0, (1, 1)), "<"), ((0, (4, 1, 1, 1)), ">"))
    for colour in ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
)


def styles_of(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for each label: a policy's own if it has one, else the next of those that are left.

    >>> styles = styles_of(["dr-ucb", "slow", "fast"])
    >>> styles["dr-ucb"].marker, styles["slow"] == styles["fast"]
    ('o', False)
    """
    spare = iter(_SPARE)
    return {label: POLICY_STYLES.get(label) or next(spare, Style("#777777")) for label in labels}
