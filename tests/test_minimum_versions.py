"""The lowest versions that pyproject.toml allows have no published vulnerability that reaches a server or its users."""

import re
import tomllib
from pathlib import Path

import pytest

MENDED = {
    "authlib": "1.9.0",  # consent to scopes a client may not have; forged keys in headers before 1.6.9
    "cryptography": "50.0.0",  # decryption that tells about its padding
    "distributed": "2026.1.1",  # scripts in the dashboard's address
    "h11": "0.16",  # requests that two servers read differently
    "jinja2": "3.1.6",  # a way out of the sandbox
    "pyarrow": "23.0.1",  # memory used after it is freed
    "python-multipart": "0.0.32",  # forms that take quadratic time, and headers of any size
    "starlette": "1.3.1",  # forms of any number of fields, ranges in quadratic time, hosts taken from paths
}
"""The first version of each package without such a vulnerability, as its advisories say."""


def lowest() -> dict[str, str]:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    found = (re.fullmatch(r"([\w-]+)(\[[\w,]+\])?>=([\w.]+)", line) for line in lines)
    return {match[1]: match[3] for match in found if match}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize("package", MENDED)
def test_no_version_with_a_published_vulnerability_is_allowed(package: str) -> None:
    assert numbers(lowest()[package]) >= numbers(MENDED[package])
