"""The reference of the HTTP API, from the description that the API gives of itself."""

from collections.abc import Iterator
from typing import Any

from crewlearn.advisor.advice.opening import open_store
from crewlearn.web.app import make_app
from crewlearn.web.settings import Settings

METHODS = ("get", "post", "put", "patch", "delete")

INTRODUCTION = """# HTTP API

All paths of `/api/v1`, with what they take and answer. [Call the API](../how-to/operate/api.md) has what holds for all
of them. A server gives the same description, for programs, at `/api/v1/openapi.json`. Errors are
`application/problem+json`, a [Problem](#problem).
"""


def document() -> dict[str, Any]:
    """Return the API's own description."""
    with open_store("sqlite://") as store:
        return make_app(store, Settings()).openapi()


def pages() -> Iterator[tuple[str, str]]:
    """Yield the address and text of the page of the API."""
    described = document()
    by_tag: dict[str, list[str]] = {}
    for path, item in described["paths"].items():
        for method in METHODS:
            if method in item:
                tag = item[method]["tags"][0]
                by_tag.setdefault(tag, []).extend([*operation(method, path, item[method]), ""])
    body = [INTRODUCTION]
    for tag, lines in by_tag.items():
        body += [f"## {tag.capitalize()}", "", *lines]
    body += ["## Objects", "", "What requests and answers are made of. A field that may be left out is marked so.", ""]
    for name, schema in described["components"]["schemas"].items():
        body += [f"### {name} {{#{name.lower()}}}", "", *schema_lines(schema), ""]
    yield "reference/http-api.md", "\n".join(body)


def operation(method: str, path: str, said: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one path and method."""
    yield from [f"### {method.upper()} {path.removeprefix('/api/v1')} {{#{said['operationId'].lower()}}}", ""]
    yield from [said.get("description", said["summary"]), ""]
    if parameters := [one for one in said.get("parameters", []) if f"{{{one['name']}}}" not in path]:
        yield from ["| parameter | in | kind | meaning |", "|---|---|---|---|"]
        for one in parameters:
            about = cell(one.get("description") or one["schema"].get("description", ""))
            yield f"| `{one['name']}` | {one['in']} | {kind(one['schema'])} | {about} |"
        yield ""
    for media, content in said.get("requestBody", {}).get("content", {}).items():
        yield f"Takes {kind(content['schema'])}, `{media}`.\n"
    answers = []
    for status, answer in said["responses"].items():
        kinds = {kind(content["schema"]) for content in answer.get("content", {}).values() if content.get("schema")}
        answers.append((status, ", ".join(sorted(kinds))))
    good = [f"{status} with {what}" if what else status for status, what in answers if status < "400"]
    yield f"Answers {', or '.join(good)}. Errors: {', '.join(status for status, _ in answers if status >= '400')}."


def schema_lines(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one kind of object."""
    if "description" in schema:
        yield from [schema["description"], ""]
    if "properties" not in schema:
        yield f"{kind(schema)}."
        return
    yield from ["| field | kind | meaning |", "|---|---|---|"]
    for name, field in schema["properties"].items():
        about = cell(field.get("description", ""))
        if name not in schema.get("required", []):
            about = f"{about} May be left out.".strip()
        yield f"| `{name}` | {kind(field)} | {about} |"


def kind(schema: dict[str, Any]) -> str:
    """Return what a value is, in a word or two, with links to the objects that it holds."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(dict.fromkeys(kind(one) for one in schema.get("anyOf", schema.get("oneOf", []))))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema.get("type"):
        case "array":
            return f"list of {kind(schema.get('items', {}))}"
        case "string":
            return str(schema.get("format", "text")).replace("binary", "a file")
        case "integer":
            return "whole number"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {kind(schema['additionalProperties'])}"
        case None:
            return "anything"
        case other:
            return str(other)


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
