"""The typed client of the HTTP API, written from the description that the API gives of itself.

`python -m book.client` writes it anew; a test compares.
"""

import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from book.http_api import METHODS, document

TARGET = Path(__file__).parents[1] / "src/crewlearn/client/generated.py"
HEAD = '''# ruff: noqa: E501, UP013
# Descriptions are as long as the API's own, and fields such as "in" can only be written as keys.
"""Written by `make client` from the API's own description: do not edit."""

from typing import Any, Literal, NotRequired, Required, TypedDict

from crewlearn.client.transport import Transport
'''
_JSON = "application/json"
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def source() -> str:
    """Return the source of the client, formatted."""
    described = document()
    lines = [HEAD]
    for name, schema in described["components"]["schemas"].items():
        lines.append(_model(name, schema))
    lines += ["class Client(Transport):", '    """The operations of the API at an address."""', ""]
    for path, item in described["paths"].items():
        for method in METHODS:
            if method in item:
                lines += [f"    {line}" if line else "" for line in _method(method, path, item[method])]
                lines.append("")
    text = "\n".join(lines)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _model(name: str, schema: dict[str, Any]) -> str:
    if "properties" not in schema:
        return f"{name} = {_type(schema)}\n"
    required = schema.get("required", [])
    fields = []
    for field, what in schema["properties"].items():
        wrapped = "Required" if field in required else "NotRequired"
        fields.append(f'    "{field}": {wrapped}["{_type(what)}"],'.replace('["', "[").replace('"],', "],"))
    body = "\n".join(fields)
    return f'{name} = TypedDict("{name}", {{\n{_quoted(body)}\n}})\n'


def _quoted(fields: str) -> str:
    """Return the fields with their types as strings, since they may name what comes later."""
    return re.sub(r'^(    "[^"]+": )(.*),$', lambda match: f"{match[1]}{match[2]!r},", fields, flags=re.MULTILINE)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema.get('enum', [schema.get('const')]))}]"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_PLAIN.get(one, "Any") for one in kind)
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {_type(more) if isinstance(more, dict) else 'Any'}]"
    return _PLAIN.get(str(kind), "Any")


def _method(method: str, path: str, said: dict[str, Any]) -> Iterator[str]:
    parameters = said.get("parameters", [])
    inside = {one["name"]: _type(one["schema"]) for one in parameters if one["in"] == "path"}
    arguments = ["self", *(f"{_name(name)}: {kind}" for name, kind in inside.items())]
    sends, media = "", ""
    content = said.get("requestBody", {}).get("content", {})
    needed = said.get("requestBody", {}).get("required", False)
    if _JSON in content:
        kind = _type(content[_JSON]["schema"])
        arguments.append(f"body: {kind}" if needed else f"body: {kind} | None = None")
        sends = ", body=body"
    elif content:
        media = next(iter(content))
        arguments.append("content: bytes | str")
        sends = f", content=content, media_type={media!r}"
    keywords = []
    for where in ("query", "header"):
        named = [one for one in parameters if one["in"] == where]
        for one in named:
            kind = _type(one["schema"])
            keywords.append(
                f"{_name(one['name'])}: {kind}"
                if one.get("required")
                else f"{_name(one['name'])}: {kind if 'None' in kind.split(' | ') else kind + ' | None'} = None"
            )
        if named:
            pairs = ", ".join(f"{one['name']!r}: {_name(one['name'])}" for one in named)
            sends += f", {'query' if where == 'query' else 'headers'}={{{pairs}}}"
    arguments += ["*", *keywords] if keywords else []
    returned = list(dict.fromkeys(_returned(said)))
    result = "Any" if "Any" in returned else " | ".join(returned) or "None"
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", said["operationId"]).lower()
    about = " ".join(said.get("description", said.get("summary", "")).partition("\n\n")[0].split()).replace('"', "'")
    yield f"def {name}({', '.join(arguments)}) -> {result}:"
    yield f'    """{about}"""'
    pairs = ", ".join(f"{name!r}: {_name(name)}" for name in inside)
    plain = re.sub(r"\{(\w+):\w+\}", r"{\1}", path)
    call = f"self._send({method.upper()!r}, {plain!r}, {{{pairs}}}{sends})"
    yield f"    {'return ' if result == 'Any' else f'answer: {result} = '}{call}"
    if result != "Any":
        yield "    return answer"


def _returned(said: dict[str, Any]) -> Iterator[str]:
    for status, answer in said["responses"].items():
        if status.startswith("2"):
            content = answer.get("content", {})
            for media, what in content.items():
                yield _type(what.get("schema", {})) if media == _JSON else "str"
            if not content:
                yield "None"


def _name(name: str) -> str:
    """Return a parameter's name as Python has it."""
    plain = re.sub(r"\W", "_", name).lower()
    return f"{plain}_" if keyword.iskeyword(plain) or plain in ("self", "body", "content") else plain


if __name__ == "__main__":
    TARGET.write_text(source())
