"""What is wrong with a request that does not fit its description, in our own words: what would be right, at its place.

What would be right is looked up in the OpenAPI document, which has every bound and every name; pages are not in it, and
of what they are asked with, the error itself tells enough.
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
"""What an error calls a bound, and what the document does."""

_KINDS = {"int": "integer", "bool": "boolean", "string": "string"}
"""What the beginning of an error's name says of the value wanted."""


def place_of(where: Sequence[str | int]) -> str:
    """Name a place in a request as people write it.

    >>> place_of(("body", "rows", 3, "units")), place_of(("query", "limit")), place_of(("body",))
    ('rows[3].units', 'limit', 'body')
    >>> place_of(("body", ""))
    '""'
    """
    inside = where[1:] if len(where) > 1 else where
    parts = (f"[{part}]" if isinstance(part, int) else f".{part or EMPTY}" for part in inside)
    return "".join(parts).removeprefix(".")


EMPTY = '""'
"""How a field is written whose name is empty."""


def operation_of(document: Schema, route: object) -> Schema:
    """Give what the document says of a route; nothing if it is a page."""
    name = route.operation_id if isinstance(route, APIRoute) else None
    every = (operation for path in document["paths"].values() for operation in path.values())
    return next((one for one in every if one["operationId"] == name), {})


def told(document: Schema, operation: Schema, error: Mapping[str, Any]) -> tuple[str, str]:
    """Give the field that an error of validation is about, and the remedy."""
    where, kind, given = error["loc"], error["type"], error.get("input")
    if kind == "json_invalid":
        return "body", f"must be JSON; this is none from character {where[-1]} on: {error['ctx']['error']}"
    if kind == "value_error":
        return place_of(where), str(error["ctx"]["error"])
    if kind == "extra_forbidden":
        known = _found(document, operation, where[:-1]).get("properties", {})
        return place_of(where), unknown_name("", str(where[-1]), known).remedy
    wanted = _found(document, operation, where) or {"type": _KINDS.get(kind.partition("_")[0], "integer")}
    exact = {_BOUNDS[name]: bound for name, bound in error.get("ctx", {}).items() if name in _BOUNDS}
    if kind == "missing":
        return place_of(where), f"is missing; it {_allowed(wanted)}"
    if kind == "string_unicode":
        return place_of(where), "must be text, without halves of characters"
    if tuple(where) == ("body",) and wanted.get("type") == "object":
        return "body", f"{_allowed(wanted)} (Content-Type: application/json)"
    if "enum" in wanted and isinstance(given, str):
        return place_of(where), unknown_name("", given, wanted["enum"]).remedy
    return place_of(where), _allowed(wanted if wanted.get("type") == "array" else {**wanted, **exact})


def _found(document: Schema, operation: Schema, where: Sequence[str | int]) -> Schema:
    """Look up what is said of a place in a request; nothing if it is not known."""
    inside = list(where[1:])
    if where[0] == "body":
        content = operation.get("requestBody", {}).get("content", {})
        schema: Schema = next((one["schema"] for one in content.values()), {})
    else:
        name = inside.pop(0)
        told = (one for one in operation.get("parameters", ()) if (one["in"], one["name"]) == (where[0], name))
        schema = next((one["schema"] for one in told), {})
    schema = _plain(document, schema)
    for part in inside:
        schema = schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
        schema = _plain(document, schema)
    return schema


def _plain(document: Schema, schema: Schema) -> Schema:
    """Follow references, and leave out that something may be null: of what is wrong, that is no remedy."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
    return schema


def _allowed(schema: Schema) -> str:
    """Say what would be right, in the words of the checks that the advisor makes.

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
        return _said(lambda: whole("", None, int(schema["minimum"]), most))
    if kind == "number":
        above = "exclusiveMinimum" in schema
        low, high = schema.get("exclusiveMinimum", schema.get("minimum", -INF)), schema.get("maximum", INF)
        return _said(lambda: real("", None, low, high, above=above))
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
"""The largest whole number that is ever allowed; the document, whose bounds are in floating point, rounds it up."""

_PLAIN = {
    "integer": "must be a whole number",
    "boolean": "must be true or false",
    "string": "must be text",
    "array": "must be a list",
}


def _said(check: Callable[[], object]) -> str:
    """Give the words in which a check refuses."""
    try:
        check()
    except InvalidInput as error:
        return error.remedy
    raise AssertionError("the check lets anything through")
