"""How sentences write money and output: to the cent for programs and records, or rounded for people."""

from collections.abc import Callable
from dataclasses import dataclass


def _cents(value: float) -> str:
    return f"{value:,.2f}"


@dataclass(frozen=True)
class Figures:
    """Formats of money, of money with its sign, and of output."""

    money: Callable[[float], str] = _cents
    signed: Callable[[float], str] = "{:+,.2f}".format
    output: Callable[[float], str] = _cents


TO_THE_CENT = Figures()
