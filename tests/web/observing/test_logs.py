"""Log lines: text and JSON, with the id that the response carries, and without workers' ids."""

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.app import make_app
from crewlearn.web.observing.logs import ID_HEADER, JsonLines, TextLines
from crewlearn.web.settings import Settings
from support.web.app import bearer, client, token_of, two_sites

store = two_sites


@contextmanager
def logged(lines: logging.Formatter) -> Iterator[io.StringIO]:
    """Collect what a server writes to its log."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(lines)
    logger = logging.getLogger("crewlearn.web")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield text
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_a_json_line_has_the_parts_of_a_request_and_the_id_of_its_response(store: Store, web: TestClient) -> None:
    token = token_of(store, "ann bc", "viewer")
    with logged(JsonLines()) as text:
        answer = web.get("/api/v1/sites/north/status?token=secret", headers=bearer(token))
        failed = web.get("/api/v1/fault")
        gone = web.get("/nowhere%0Aforged")
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.getvalue().splitlines()]
    first = lines[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first.pop("time"))
    assert first.pop("milliseconds") >= 0
    assert first.pop("message").startswith("GET /api/v1/sites/north/status 200 ")
    assert first == {
        "level": "info",
        "logger": "crewlearn.web.access",
        "request_id": answer.headers[ID_HEADER],
        "method": "GET",
        "path": "/api/v1/sites/north/status",
        "status": 200,
        "caller": "ann bc",
    }
    error, of_error, last = lines[1:]
    assert error["level"] == "error"
    assert "a secret in a traceback" in error["exception"]
    assert error["request_id"] == of_error["request_id"] == failed.headers[ID_HEADER]
    assert (last["path"], last["caller"], last["request_id"]) == ("/nowhere%0Aforged", None, gone.headers[ID_HEADER])
    assert len({line["request_id"] for line in lines}) == 3
    assert "token=secret" not in text.getvalue()


def test_a_text_line_ends_with_the_id(web: TestClient) -> None:
    with logged(TextLines()) as text:
        id = web.get("/api/v1/health/live").headers[ID_HEADER]
    assert re.fullmatch(rf"[\d:.T-]+ GET /api/v1/health/live 200 [\d.]+ ms - \[{id}\]\n", text.getvalue())
    assert re.fullmatch("[0-9a-f]{16}", id)


def test_only_a_trusted_proxy_names_the_request(store: Store, web: TestClient) -> None:
    sent = {ID_HEADER: "proxy-4711.a_b"}
    assert web.get("/api/v1/health", headers=sent).headers[ID_HEADER] != sent[ID_HEADER]
    with client(store, Settings(behind_proxy=True)) as behind:
        assert behind.get("/api/v1/health", headers=sent).headers[ID_HEADER] == sent[ID_HEADER]
        for bad in ("short", "x" * 65, 'a"b"c"d"e', "with blank"):
            assert re.fullmatch(
                "[0-9a-f]{16}", behind.get("/api/v1/health", headers={ID_HEADER: bad}).headers[ID_HEADER]
            )


def test_no_route_with_a_workers_id_logs_it(store: Store) -> None:
    """Every route that the application has, so that a new one cannot be forgotten."""
    app = make_app(store, Settings())
    paths = [path for path in app.openapi()["paths"] if "{worker" in path]
    paths += [route.path for route in app.routes if isinstance(route, APIRoute) and "{worker" in route.path]
    assert any(path.endswith("/workers/{worker_id}") for path in paths)
    with client(store) as web, logged(JsonLines()) as text:
        for path in paths:
            asked = re.sub(r"\{worker_id(:path)?\}", "Jane/Doe", path).replace("{site}", "north")
            web.get(asked, headers=bearer("crew_wrong"))
            web.get(f"{asked}?q=1")
    assert text.getvalue().count("\n") == 2 * len(paths)
    assert "Jane" not in text.getvalue()
    assert "Doe" not in text.getvalue()


def test_a_form_of_the_log_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"log_format = 'xml'.*text, json"):
        Settings(log_format="xml")
