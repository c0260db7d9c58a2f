"""How sentences write money and output: to the cent for programs and records, or rounded for people."""

from collections.abc import Callable
from dataclasses import dataclass

from crewlearn.advisor.ledger.settings.locale import in_currency


def _cents(value: float) -> str:
    return f"{value:,.2f}"


@dataclass(frozen=True)
class Figures:
    """Formats of money, of money with its sign, and of output."""

    money: Callable[[float], str] = _cents
    signed: Callable[[float], str] = "{:+,.2f}".format
    output: Callable[[float], str] = _cents


TO_THE_CENT = Figures()


def to_the_cent(currency: str | None) -> Figures:
    """Return the formats of programs and records in a currency.

    >>> to_the_cent("EUR").signed(310.0), to_the_cent(None).money(1234.5)
    ('+310.00 EUR', '1,234.50')
    """
    if currency is None:
        return TO_THE_CENT
    plain = TO_THE_CENT
    return Figures(
        lambda value: in_currency(plain.money(value), currency),
        lambda value: in_currency(plain.signed(value), currency),
        plain.output,
    )
