"""What replacements have brought, in words."""

import math

from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.evidence.track_record import AS_PREDICTED, BETTER, WORSE, TrackRecord


def chance_words(chance: float) -> str:
    """Return a probability in whole percent; never none or all.

    >>> chance_words(0.9995), chance_words(0.874), chance_words(0.0005)
    ('over 99%', '87%', 'under 1%')
    """
    percent = round(100.0 * chance)
    if percent > 99:
        return "over 99%"
    return "under 1%" if percent < 1 else f"{percent}%"


def rounded(amount: float, gain: Gain) -> float:
    """Return an amount without more digits than its interval warrants.

    >>> rounded(1234.56, Gain(1234.56, 200.0, 2300.0)), rounded(0.456, Gain(0.456, 0.1, 0.8))
    (1230.0, 0.46)
    """
    width = gain.high - gain.low
    if width <= 0.0:
        return amount
    digits = 3 - math.ceil(math.log10(width))
    return round(amount, min(2, digits))


def gain_words(gain: Gain) -> str:
    """Return a gain with its interval."""
    expected, low, high = (rounded(amount, gain) for amount in (gain.expected, gain.low, gain.high))
    return f"{_money(expected)} (95% between {_money(low)} and {_money(high)})"


def _money(amount: float) -> str:
    return f"{amount:+,.0f}" if abs(amount) >= 100.0 or amount == round(amount) else f"{amount:+,.2f}"


def verdict_words(record: TrackRecord) -> str:
    """Return how the replacements did against what was predicted."""
    return ", ".join(f"{count} {words}" for words in (BETTER, AS_PREDICTED, WORSE) if (count := record.count(words)))


def short_record(record: TrackRecord) -> str:
    """Return the track record in a few words; nothing if there is none."""
    if not record.outcomes or record.paid is None:
        return ""
    return (
        f"{record.ahead} of {len(record.outcomes)} brought more than they cost; chance that the whole has paid: "
        f"{chance_words(record.paid)}"
    )


def track_record_lines(record: TrackRecord) -> list[str]:
    """Return what all replacements have brought, in lines."""
    lines = [f"Against the same site without the advised replacements, fees taken off: {gain_words(record.gain)}."]
    if record.outcomes and record.paid is not None:
        many = len(record.outcomes)
        lines.append(
            f"Of {many} {'replacement' if many == 1 else 'replacements'} so far, {record.ahead} brought more than they "
            f"cost. The chance that the whole has paid is {chance_words(record.paid)}."
        )
        if verdict := verdict_words(record):
            lines.append(f"Compared with what was predicted: {verdict}.")
    return lines
