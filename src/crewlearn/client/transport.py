"""Sending requests to a server: paths, parameters, tokens, and problems as errors, by the standard library alone."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

SECONDS = 60.0


class ApiError(Exception):
    """The server refused: `status` is that of HTTP, `problem` the document that says why, if there is one."""

    def __init__(self, status: int, problem: Mapping[str, Any], request_id: str) -> None:
        super().__init__(f"{status}: {problem.get('detail', 'no reason was given')}")
        self.status, self.problem, self.request_id = status, dict(problem), request_id


class Transport:
    """A server's address and a token."""

    def __init__(self, url: str, token: str = "", *, seconds: float = SECONDS) -> None:
        self.url, self.token, self.seconds = url.rstrip("/"), token, seconds

    def _send(
        self,
        method: str,
        path: str,
        inside: Mapping[str, Any],
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | str | None = None,
        media_type: str = "application/json",
    ) -> Any:
        """Send a request; return the JSON of its response, or its text, or None if it has none."""
        address = self.url + path.format(**{name: quote(str(value), safe="") for name, value in inside.items()})
        given = {name: _word(value) for name, value in (query or {}).items() if value is not None}
        if given:
            address += f"?{urlencode(given, doseq=True)}"
        sent = {name: str(value) for name, value in (headers or {}).items() if value is not None}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        data = content.encode() if isinstance(content, str) else content
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = media_type
        request = urllib.request.Request(address, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as answer:
                return _read(answer.headers.get_content_type(), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                said = error.read()
                problem = _read(error.headers.get_content_type(), said)
                known = problem if isinstance(problem, dict) else {"detail": str(problem or error.reason)}
                raise ApiError(error.code, known, error.headers.get("X-Request-Id", "")) from error


def _word(value: Any) -> Any:
    """Return a parameter as it is written in an address."""
    return str(value).lower() if isinstance(value, bool) else value


def _read(media_type: str, data: bytes) -> Any:
    if not data:
        return None
    return json.loads(data) if media_type.endswith("json") else data.decode()
