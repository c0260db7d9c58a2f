"""What replacements have brought, in words."""

from collections.abc import Callable

from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.evidence.track_record import AS_PREDICTED, BETTER, WORSE, TrackRecord
from crewlearn.advisor.ledger.settings.locale import in_currency
from crewlearn.advisor.wording.doubt import chance, rounded
from crewlearn.language import _, localized, plural


def gain_words(gain: Gain, signed: Callable[[float], str]) -> str:
    """Return a gain with its interval."""
    expected, low, high = map(signed, rounded(gain.low, gain.high, gain.expected, gain.low, gain.high))
    return _("{expected} (95% between {low} and {high})", expected=expected, low=low, high=high)


def _money(amount: float) -> str:
    if amount == 0.0:
        return "0"
    return localized(f"{amount:+,.0f}" if abs(amount) >= 100.0 or amount == round(amount) else f"{amount:+,.2f}")


def verdict_words(record: TrackRecord) -> str:
    """Return how the replacements did against what was predicted."""
    return ", ".join(f"{count} {_(words)}" for words in (BETTER, AS_PREDICTED, WORSE) if (count := record.count(words)))


def short_record(record: TrackRecord) -> str:
    """Return the track record in a few words; nothing if there is none."""
    if not record.outcomes or record.paid is None:
        return ""
    return _(
        "{ahead} of {outcomes} brought more than they cost; chance that the whole has paid: {paid}",
        ahead=record.ahead,
        outcomes=len(record.outcomes),
        paid=chance(record.paid),
    )


def track_record_lines(
    record: TrackRecord, signed: Callable[[float], str] | None = None, currency: str | None = None
) -> list[str]:
    """Return what all replacements have brought, in lines; `signed` writes money, by default as commands do."""
    gain = gain_words(record.gain, signed or (lambda amount: in_currency(_money(amount), currency)))
    lines = [_("Against the same site without the advised replacements, fees taken off: {gain}.", gain=gain)]
    if record.outcomes and record.paid is not None:
        many = len(record.outcomes)
        lines.append(
            plural(
                "Of {n} replacement so far, {ahead} brought more than they cost. The chance that the whole has "
                "paid is {paid}.",
                "Of {n} replacements so far, {ahead} brought more than they cost. The chance that the whole has "
                "paid is {paid}.",
                many,
                ahead=record.ahead,
                paid=chance(record.paid),
            )
        )
        if verdict := verdict_words(record):
            filled = sum(outcome.predicted is None for outcome in record.outcomes)
            other = _("; {filled} filled an empty station, where nothing is predicted", filled=filled) if filled else ""
            lines.append(_("Compared with what was predicted: {verdict}{other}.", verdict=verdict, other=other))
    return lines
