"""The OpenAPI document: FastAPI's, with public component names and our problem documents as errors."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI

from crewlearn.web.errors.problems import MEDIA_TYPE

_REFERENCE = "#/components/schemas/"
_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": f"{_REFERENCE}Problem"}}}


def install(app: FastAPI) -> None:
    """Make an application publish its document in this form."""
    plain = app.openapi

    @cache
    def document() -> dict[str, Any]:
        return published(plain())

    app.openapi = document  # type: ignore[method-assign]  # replacing it is how FastAPI lets one change the document


def published(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return FastAPI's document as we publish it.

    Components are named by their titles, without the `Model` suffix of some class names. FastAPI's own error model and
    media type are removed, because we never respond with them.
    """
    components = document["components"]
    titles = {name: schema.get("title", name) for name, schema in components["schemas"].items()}
    schemas = {titles[name]: _renamed(schema, titles) for name, schema in components["schemas"].items()}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    paths = _renamed(document["paths"], titles)
    for path in paths.values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if status.startswith(("4", "5")):
                    response["content"] = _PROBLEM
    return {**document, "paths": paths, "components": {**components, "schemas": dict(sorted(schemas.items()))}}


def _renamed(value: Any, titles: Mapping[str, str]) -> Any:
    """Return a copy in which references name components by their titles."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            name = reference.removeprefix(_REFERENCE)
            return {**value, "$ref": f"{_REFERENCE}{titles[name]}"}
        return {key: _renamed(item, titles) for key, item in value.items()}
    return [_renamed(item, titles) for item in value] if isinstance(value, list) else value
