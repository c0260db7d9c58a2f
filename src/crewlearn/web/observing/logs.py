"""The log of a server: a line per request and per error on stderr, as text or as JSON, each with the request's id.

Secrets and workers' ids are never passed to a logger.
"""

import json
import logging
import re
import secrets
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

TEXT, JSON = LOG_FORMATS = ("text", "json")
ID_HEADER = "X-Request-Id"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being served; threads that work for it inherit it."""

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
ACCESS_FIELDS = ("method", "path", "status", "milliseconds", "caller")


def id_for(sent: str | None) -> str:
    """Return the id of a request: the one that a trusted proxy sent, if it is one, or a new one.

    >>> id_for("5f0c2a917be34d08"), len(id_for("a forged\\nline")), len(id_for(None))
    ('5f0c2a917be34d08', 16, 16)
    """
    return sent if sent is not None and _ID.fullmatch(sent) else secrets.token_hex(8)


class TextLines(logging.Formatter):
    """Lines for people, with local time, and at the end the id of the request in brackets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03d %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the first line of a record."""
        line, id = super().formatMessage(record), REQUEST_ID.get()
        return f"{line} [{id}]" if id else line


class JsonLines(logging.Formatter):
    """One JSON object a record, with the time in UTC; those of requests have their parts as fields too."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id := REQUEST_ID.get():
            line["request_id"] = id
        line |= {name: getattr(record, name) for name in ACCESS_FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def log_to_stderr(form: str = TEXT) -> None:
    """Log requests and errors to stderr, in a form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == JSON else TextLines())
    for name, level in (("crewlearn.web", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
