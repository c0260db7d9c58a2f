"""Errors of an output file, as the reader reports them."""

from typing import Any

import pytest

from crewlearn.advisor.files.reading import read_output
from crewlearn.advisor.files.tables import CsvErrors


def errors_of(data: bytes | str, **options: Any) -> list[tuple[int, str, str]]:
    content = data.encode() if isinstance(data, str) else data
    with pytest.raises(CsvErrors) as caught:
        read_output(content, **options)
    return [(error.line, error.column, error.value) for error in caught.value.errors]
