"""A provider that lies: it signs whatever a test tells it to, and writes down what it is asked."""

import base64
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.jwk import Key, RSAKey


@dataclass
class HostileProvider:
    """What it publishes, and what it answers next."""

    issuer: str = ""
    keys: list[Key] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    """What differs from honest metadata; None leaves a key out."""
    id_token: str = ""
    userinfo: dict[str, Any] | None = None
    token_status: int = 200
    asked: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    """What the token endpoint was sent."""

    def answer(self, path: str) -> tuple[int, Any]:
        """Return the status and the document at a path."""
        if path == "/.well-known/openid-configuration":
            honest = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/auth",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/me",
                "end_session_endpoint": f"{self.issuer}/bye",
                "authorization_response_iss_parameter_supported": True,
            }
            return 200, {name: value for name, value in {**honest, **self.metadata}.items() if value is not None}
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if path == "/me":
            return (401, {}) if self.userinfo is None else (200, self.userinfo)
        if path == "/token" and self.token_status == 200:
            return 200, {"access_token": "access", "token_type": "Bearer", "id_token": self.id_token}
        return (self.token_status, {"error": "invalid_grant"}) if path == "/token" else (404, {})


KEY = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
OTHER = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)


def signed(claims: dict[str, Any], key: Key = KEY, **header: Any) -> str:
    """Return an ID token."""
    return jwt.encode({"alg": "RS256", "kid": key.kid, **header}, dict(claims), key)


def signed_by_nobody(claims: dict[str, Any], algorithm: str = "none") -> str:
    """Return an ID token of the algorithm `none`, in some spelling."""
    return _unsigned(claims, algorithm) + "."


def signed_by_public_key(claims: dict[str, Any]) -> str:
    """Return an ID token that takes the provider's public key for a secret that both know."""
    text = _unsigned(claims, "HS256")
    return f"{text}.{packed(hmac.digest(KEY.as_pem(private=False), text.encode(), 'sha256'))}"


def packed(data: bytes) -> str:
    """Return bytes as the parts of a token have them."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unsigned(claims: dict[str, Any], algorithm: str) -> str:
    parts = ({"alg": algorithm, "typ": "JWT", "kid": KEY.kid}, claims)
    return ".".join(packed(json.dumps(part).encode()) for part in parts)


@contextmanager
def hostile_provider() -> Iterator[HostileProvider]:
    """Run a provider that lies, on a port of this machine."""
    provider = HostileProvider(keys=[KEY])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.asked.append(self.path)
            status, document = provider.answer(self.path)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            provider.forms.append({name: values[-1] for name, values in sent.items()})
            self.do_GET()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
