"""Authentication secrets: tokens, sessions and one-time links.

Each has 256 random bits, and the store holds only its digest. A fast digest suffices, because secrets of that length
cannot be guessed; a slow hash would only slow down the server.
"""

import hashlib
import secrets

from crewlearn.advisor.ledger.store import Store

TOKEN_PREFIX = "crew_"
LONGEST_SECRET = 200
DAY = 86_400.0


def new_secret(prefix: str = "") -> tuple[str, str]:
    """Return a new secret and its digest."""
    secret = prefix + secrets.token_urlsafe(32)
    return secret, digest_of(secret)


def digest_of(secret: str) -> str:
    """Return the digest that the store holds of a secret."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def now_of(store: Store) -> float:
    """Return the store's time in seconds, the unit in which secrets expire."""
    return store.clock().timestamp()
