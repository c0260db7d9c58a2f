"""Money in words; nothing here loads the compiler."""


def money(amount: float, *, sign: bool = False) -> str:
    """Format money, with cents only for small amounts.

    >>> money(12345.6), money(12.5, sign=True), money(-0.001)
    ('12,346', '+12.50', '0')
    """
    if abs(amount) < 0.005:
        return "0"
    return f"{amount:{'+' if sign else ''},.{0 if abs(amount) >= 100.0 else 2}f}"


def money_span(low: float, high: float) -> str:
    """Format an interval of money.

    >>> money_span(-310.0, 12345.6)
    '-310 to +12,346'
    """
    return f"{money(low, sign=True)} to {money(high, sign=True)}"
