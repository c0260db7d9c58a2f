"""Contents of cached files behind their digest, so that a damaged file is noticed and never used."""

import hashlib

_LENGTH = hashlib.sha256().digest_size


def sealed(content: bytes, name: str = "") -> bytes:
    """Return a file's content behind its digest, which covers the file's name, too, if one is given."""
    return hashlib.sha256(name.encode() + content).digest() + content


def unsealed(data: bytes, name: str = "") -> bytes | None:
    """Return the content of a sealed file, or None if it is damaged or another file's.

    >>> unsealed(sealed(b"code", "loop")), unsealed(sealed(b"code", "loop"), "other")
    (None, None)
    >>> unsealed(sealed(b"code", "loop"), "loop")
    b'code'
    """
    content = data[_LENGTH:]
    return content if hashlib.sha256(name.encode() + content).digest() == data[:_LENGTH] else None
