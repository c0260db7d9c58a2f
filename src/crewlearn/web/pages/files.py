"""Files in forms: text fields, and files that a page carries along, compressed."""

import base64
import binascii
import zlib

from starlette.datastructures import FormData

from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput


def form_text(form: FormData, name: str) -> str:
    """Return a text field; empty if it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def packed(data: bytes) -> str:
    """Compress a file so that a page can carry it."""
    return base64.b64encode(zlib.compress(data)).decode()


def unpacked(text: str, most: int) -> bytes:
    """Return a file that a page carried; refuse one that is broken or too large."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), most)
    except (binascii.Error, ValueError, zlib.error):
        raise InvalidInput("file", "", _("The file got lost on the way. Choose it again.")) from None
    if unpacker.unconsumed_tail:
        raise InvalidInput("file", "", _("The file is too large. Split it."))
    return data
