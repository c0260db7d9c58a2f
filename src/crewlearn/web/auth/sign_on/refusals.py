"""What goes wrong in a single sign-on: what the person is told, and what the operator's log says."""


class SignOnRefused(Exception):
    """A single sign-on that leads to no session.

    `words` are for the person; `reason` is for the log and may quote what the provider or a stranger sent. `status` is
    that of the page. A suspicious one counts as a failed sign-in.
    """

    def __init__(self, words: str, reason: str, status: int = 401, *, suspicious: bool = False) -> None:
        super().__init__(reason)
        self.words, self.reason, self.status, self.suspicious = words, reason, status, suspicious


def unmatched(reason: str) -> SignOnRefused:
    """Return the refusal of an answer that was not asked for, by this browser, just now."""
    return SignOnRefused("This sign-in was not begun in this browser, or took too long. Try again.", reason, 400)


def unreachable(reason: str) -> SignOnRefused:
    """Return the refusal while a provider does not answer as it should."""
    return SignOnRefused("Single sign-on does not answer at the moment. Try again in a while.", reason, 503)


def not_valid(reason: str) -> SignOnRefused:
    """Return the refusal of what does not prove who somebody is."""
    words = "The answer of single sign-on is not valid, so you were not signed in. Try again."
    return SignOnRefused(words, reason, suspicious=True)
