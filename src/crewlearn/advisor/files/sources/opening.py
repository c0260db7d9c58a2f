"""The ways in which a file can be read: CSV text with each delimiter, or each sheet of a workbook."""

from collections.abc import Sequence

from crewlearn.advisor.files.sources.sheets import is_workbook, refuse_other_workbooks, sheets_of
from crewlearn.advisor.files.sources.source import Source
from crewlearn.advisor.files.sources.text import DELIMITERS, TextSource, encoding_of
from crewlearn.problem.errors import InvalidInput

MOST_BYTES = 200_000_000


def sources_of(what: str, data: bytes, most_bytes: int = MOST_BYTES) -> Sequence[Source]:
    """Return the sources to choose from, without having read any of them to the end."""
    if len(data) > most_bytes:
        raise InvalidInput(what, f"{len(data)} bytes", f"must have at most {most_bytes} bytes; split the file")
    refuse_other_workbooks(what, data)
    if is_workbook(data):
        return sheets_of(what, data)
    encoding = encoding_of(what, data)
    return [TextSource(what, encoding, delimiter, data) for delimiter in DELIMITERS]
