"""Remedies for requests that fail validation, in the words of our own checks.

The allowed values are looked up in the OpenAPI document. Pages are not in it; for their parameters the error itself
says enough.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi.routing import APIRoute

from crewlearn.problem.errors import InvalidInput, real, unknown_name, whole

Schema = Mapping[str, Any]

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
}
"""Names of bounds in an error, and in the document."""

_KINDS = {"int": "integer", "bool": "boolean", "string": "string"}
"""The type that is expected, by the first word of an error's type."""


def place_of(where: Sequence[str | int]) -> str:
    """Return a place in a request as people write it.

    >>> place_of(("body", "rows", 3, "units")), place_of(("query", "limit")), place_of(("body",))
    ('rows[3].units', 'limit', 'body')
    >>> place_of(("body", ""))
    '""'
    """
    inside = where[1:] if len(where) > 1 else where
    parts = (f"[{part}]" if isinstance(part, int) else f".{part or EMPTY}" for part in inside)
    return "".join(parts).removeprefix(".")


EMPTY = '""'
"""The notation for a field with an empty name."""


def operation_of(document: Schema, route: object) -> Schema:
    """Return the document's operation of a route; empty for a page."""
    name = route.operation_id if isinstance(route, APIRoute) else None
    every = (operation for path in document["paths"].values() for operation in path.values())
    return next((operation for operation in every if operation["operationId"] == name), {})


def remedy_of(document: Schema, operation: Schema, error: Mapping[str, Any]) -> tuple[str, str]:
    """Return the field that a validation error is about, and the remedy."""
    where, kind, value = error["loc"], error["type"], error.get("input")
    if kind == "json_invalid":
        return "body", f"must be JSON; this is none from character {where[-1]} on: {error['ctx']['error']}"
    if kind == "value_error":
        return place_of(where), str(error["ctx"]["error"])
    if kind == "extra_forbidden":
        known = _schema_at(document, operation, where[:-1]).get("properties", {})
        return place_of(where), unknown_name("", str(where[-1]), known).remedy
    wanted = _schema_at(document, operation, where) or {"type": _KINDS.get(kind.partition("_")[0], "integer")}
    exact = {_BOUNDS[name]: bound for name, bound in error.get("ctx", {}).items() if name in _BOUNDS}
    if kind == "missing":
        return place_of(where), f"is missing; it {_allowed(wanted)}"
    if kind == "string_unicode":
        return place_of(where), "must be text without lone surrogates"
    if tuple(where) == ("body",) and wanted.get("type") == "object":
        return "body", f"{_allowed(wanted)} (Content-Type: application/json)"
    if "enum" in wanted and isinstance(value, str):
        return place_of(where), unknown_name("", value, wanted["enum"]).remedy
    return place_of(where), _allowed(wanted if wanted.get("type") == "array" else {**wanted, **exact})


def _schema_at(document: Schema, operation: Schema, where: Sequence[str | int]) -> Schema:
    """Return the schema of a place in a request; empty if it is not known."""
    inside = list(where[1:])
    if where[0] == "body":
        content = operation.get("requestBody", {}).get("content", {})
        schema: Schema = next((body["schema"] for body in content.values()), {})
    else:
        name = inside.pop(0)
        schema = next(
            (
                parameter["schema"]
                for parameter in operation.get("parameters", ())
                if (parameter["in"], parameter["name"]) == (where[0], name)
            ),
            {},
        )
    schema = _plain(document, schema)
    for part in inside:
        schema = schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
        schema = _plain(document, schema)
    return schema


def _plain(document: Schema, schema: Schema) -> Schema:
    """Resolve references, and drop the alternative null, which is not a remedy."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = next(alternative for alternative in schema["anyOf"] if alternative.get("type") != "null")
    return schema


def _allowed(schema: Schema) -> str:
    """Return what a schema allows, in the words of the advisor's own checks.

    >>> _allowed({"type": "integer", "minimum": 1.0, "maximum": 24.0}), _allowed({"type": "number", "minimum": 0.0})
    ('must be a whole number from 1 to 24', 'must be a finite number >= 0')
    >>> _allowed({"type": "array", "minItems": 1, "maxItems": 7}), _allowed({"type": "string", "maxLength": 100})
    ('must be a list of 1 to 7', 'must be text of 0 to 100 characters')
    """
    kind = schema.get("type")
    if "enum" in schema:
        return f"must be one of {', '.join(schema['enum'])}"
    if kind == "integer" and "minimum" in schema:
        high = schema.get("maximum")
        most = None if high is None else min(int(high), _LARGEST)
        return _refusal(lambda: whole("", None, int(schema["minimum"]), most))
    if kind == "number":
        above = "exclusiveMinimum" in schema
        low, high = schema.get("exclusiveMinimum", schema.get("minimum", -INF)), schema.get("maximum", INF)
        return _refusal(lambda: real("", None, low, high, above=above))
    if kind == "string" and schema.get("format") == "date":
        return "must be a day such as 2026-11-16"
    if kind == "string" and "maxLength" in schema:
        return f"must be text of {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"
    if kind == "array" and "maxItems" in schema:
        return f"must be a list of {schema.get('minItems', 0)} to {schema['maxItems']:,}"
    if kind == "object":
        return f"must be a JSON object with {', '.join(schema.get('properties', ()))}"
    return _PLAIN.get(str(kind), "cannot be used here")


INF = float("inf")
_LARGEST = 2**63 - 1
"""The largest whole number ever allowed; the document's bounds are floats, which round it up."""

_PLAIN = {
    "integer": "must be a whole number",
    "boolean": "must be true or false",
    "string": "must be text",
    "array": "must be a list",
}


def _refusal(check: Callable[[], object]) -> str:
    """Return the remedy of the error that a check raises."""
    try:
        check()
    except InvalidInput as error:
        return error.remedy
    raise AssertionError("the check accepted an invalid value")
