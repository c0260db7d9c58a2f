"""Chances and amounts that are in doubt, without more certainty or digits than there are."""

import math

from crewlearn.language import _, percent


def chance(share: float) -> str:
    """Return a probability in whole percent; never none or all.

    >>> chance(0.9995), chance(1.0), chance(0.874), chance(0.0005)
    ('over 99%', 'over 99%', '87%', 'under 1%')
    """
    if share > 0.99:
        return _("over 99%")
    return _("under 1%") if share < 0.01 else percent(share)


def rounded(low: float, high: float, *amounts: float) -> tuple[float, ...]:
    """Return amounts of money without digits that an interval from `low` to `high` makes meaningless.

    >>> rounded(200.0, 2300.0, 1234.56, 2300.0), rounded(0.1, 0.8, 0.456), rounded(5.0, 5.0, 1234.56)
    ((1230.0, 2300.0), (0.46,), (1234.56,))
    """
    width = high - low
    if width <= 0.0:
        return amounts
    digits = min(2, 3 - math.ceil(math.log10(width)))
    return tuple(round(amount, digits) + 0.0 for amount in amounts)  # adding 0 drops the sign of a zero
