"""Money and chances in words; nothing here loads the compiler."""


def chance(share: float) -> str:
    """Format a probability that was found by simulation, which is never certain.

    >>> chance(1.0), chance(0.934), chance(0.0)
    ('over 99%', '93%', 'under 1%')
    """
    if share > 0.99:
        return "over 99%"
    return "under 1%" if share < 0.01 else f"{share:.0%}"


def money(amount: float, *, sign: bool = False) -> str:
    """Format money, with cents only for small amounts.

    >>> money(12345.6), money(12.5, sign=True), money(-0.001)
    ('12,346', '+12.50', '0')
    """
    if abs(amount) < 0.005:
        return "0"
    return f"{amount:{'+' if sign else ''},.{0 if abs(amount) >= 100.0 else 2}f}"
