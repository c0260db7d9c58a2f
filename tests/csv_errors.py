"""What is wrong in a file of output, as the reader says it."""

from typing import Any

import pytest

from crewlearn.advisor.csv_in import (
    CsvErrors,
    read_output,
)


def errors_of(data: bytes | str, **options: Any) -> list[tuple[int, str, str]]:
    content = data.encode() if isinstance(data, str) else data
    with pytest.raises(CsvErrors) as caught:
        read_output(content, **options)
    return [(error.line, error.column, error.value) for error in caught.value.errors]
