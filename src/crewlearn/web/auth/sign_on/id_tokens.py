"""ID tokens: who issued them, for whom, for which sign-in, and until when."""

from collections.abc import Mapping
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import JoseError

from crewlearn.web.auth.sign_on.provider import Provider, Tokens
from crewlearn.web.auth.sign_on.refusals import not_valid

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
)  # fmt: skip
"""Signatures by a key that only the provider has: never `none`, nor one by a secret that others share."""

_LONGEST = 100_000


def verified(provider: Provider, tokens: Tokens, nonce: str, now: float) -> Mapping[str, Any]:
    """Return the claims of an ID token; refuse one that the provider did not make for this very sign-in."""
    settings, text = provider.settings, tokens.id_token
    if len(text) > _LONGEST or not text.isascii():
        raise not_valid(f"an ID token of {len(text)} characters")
    try:
        header = jws.extract_compact(text.encode()).headers()
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise not_valid(f"an ID token signed by {algorithm!r}")
        key = provider.key(kid if isinstance(kid, str) else None)
        if key.get("alg") not in (None, algorithm):
            raise not_valid(f"an ID token signed by {algorithm!r} with a key for {key.get('alg')!r}")
        decoded = jwt.decode(text, key, algorithms=[algorithm])
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": settings.issuer},
                "aud": {"essential": True, "value": settings.client_id},
                "sub": {"essential": True},
            },
            params={"nonce": nonce, "client_id": settings.client_id, "access_token": tokens.access_token},
        )
        claims.validate(now=int(now), leeway=settings.clock_skew)
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise not_valid(f"an ID token that is not valid ({type(error).__name__}: {error})") from error
    return dict(claims)
