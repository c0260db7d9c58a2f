"""The OpenAPI document tested with schemathesis: whatever is sent, the server responds as documented."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api.files import WORKBOOK
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.jobs import queue
from crewlearn.web.settings import Settings
from support.stores import ME, day, fixed_clock, proposed, site_with_proposals
from support.web.api import contract
from support.web.app import bearer

NOT_OURS = re.compile(
    r"(Input|String|List|Dictionary|Object|Tuple) should|Value error|Field required|Extra inputs|Unable"
)


def in_our_words(context: Any, response: Any, case: Any) -> None:
    """Errors are in the project's words, with a field and a remedy, not in a library's."""
    for error in response.json().get("errors", ()) if response.status_code == 422 else ():
        assert error["field"]
        assert error["remedy"] != "cannot be used here"
        assert not NOT_OURS.search(error["remedy"]), error


CHECKS: list[Any] = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
    in_our_words,
]
EXAMPLES = 25
EVEN = re.compile(r'(W/)?"[0-9]*[02468](-[0-9a-f]*)?"')
KNOWN = {"site": "north", "worker_id": "c", "name": "mia"}
"""Names that exist, so that not every request ends at an unknown site or worker."""

_serving: dict[str, Any] = {}


async def server(scope: Any, receive: Any, send: Any) -> None:
    """The application over the store of this module, created when the tests run."""
    await _serving["app"](scope, receive, send)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a small site that has some of everything."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('schema')}/site.db", fixed_clock) as made:
        site_with_proposals(made, "north")
        output_imports.import_output(made, "north", day(1), b"1", ME)
        commands.approve(made, "north", proposed(made, "north")[0], ME)
        queue.submit(made, "north", "verify", "mia", {})
        yield made


@pytest.fixture(scope="module")
def headers(store: Store) -> Iterator[dict[str, str]]:
    """An admin's headers; the application runs for as long as they are needed."""
    users.add(store, "root", "admin")
    users.add(store, "mia", "manager")
    _serving["app"] = make_app(store, Settings(allowed_hosts=("testserver",)))
    yield bearer(users.new_token(store, "root")[1])
    _serving.clear()


@schemathesis.serializer(WORKBOOK)
def sent_workbook(context: Any, value: Any) -> bytes:
    """Send whatever was made up as if it were a workbook."""
    return bytes(value) if isinstance(value, bytes) else str(value).encode(errors="replace")


schema = schemathesis.openapi.from_dict(contract().document)
schema.app = server


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Use mostly names that exist."""
    if path_parameters is None:
        return None
    erasing = context.operation is not None and context.operation.method == "delete"
    known = {name: value for name, value in KNOWN.items() if name in path_parameters}
    if erasing:
        known.pop("worker_id", None)
    near = {
        name: value % 8 + 1
        for name, value in path_parameters.items()
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
    }
    return {**path_parameters, **known, **near}


@schema.hook
def map_headers(context: Any, headers: Any) -> Any:
    """Send half of the changes with `If-Match: *`, because few random versions match."""
    for name, value in dict(headers or {}).items():
        if (
            name.lower() == "if-match"
            and isinstance(value, str)
            and re.fullmatch(r'(W/)?"[0-9]*[02468](-\w*)?"', value)
        ):
            headers[name] = "*"
    return headers


@schema.hook
def filter_body(context: Any, body: Any) -> bool:
    """Skip files that are not text: they are sent as text anyway, and may then be valid or empty."""
    return not (context.operation.path.endswith("/csv") and isinstance(body, (list, dict, int, float, type(None))))


@schema.hook
def map_body(context: Any, body: Any) -> Any:
    """Give valid rows of output a worker and a day that can be recorded."""
    rows = body.get("rows") if isinstance(body, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("worker_id"), str) and 0 < len(row["worker_id"]) <= 100:
            row["worker_id"] = "c"
            if isinstance(row.get("date"), str) and re.fullmatch(r"[0-9]{4}(-[0-9]{2}){2}", row["date"]):
                row["date"] = "2024-01-03"
    return body


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_documented(case: Any, headers: dict[str, str]) -> None:
    case.call_and_validate(headers=headers, checks=CHECKS)
