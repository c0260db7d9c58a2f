"""Signatures of deliveries: HMAC-SHA256 over the timestamp and the body, by every secret that is valid."""

import hashlib
import hmac
from collections.abc import Sequence

DELIVERY, TIMESTAMP, SIGNATURE = "Crewlearn-Delivery", "Crewlearn-Timestamp", "Crewlearn-Signature"


def signed_headers(uid: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers that identify and sign a delivery."""
    signatures = ", ".join(f"v1={signature_of(secret, timestamp, body)}" for secret in secrets)
    return {DELIVERY: uid, TIMESTAMP: str(timestamp), SIGNATURE: signatures}


def signature_of(secret: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a body sent at a time in seconds, as hexadecimal digits.

    >>> signature_of("crewhook_x", 1_800_000_000, b"{}")[:16]
    '7d4a848febba70d0'
    """
    return hmac.new(secret.encode(), b"%d.%b" % (timestamp, body), hashlib.sha256).hexdigest()
