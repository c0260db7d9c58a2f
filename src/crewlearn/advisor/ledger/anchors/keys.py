"""The Ed25519 key that signs checkpoints: a file outside the database, for its owner alone; its public half in text."""

import base64
import binascii
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.extras import extra_for

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_VARIABLE = "CREWLEARN_SIGNING_KEY"
PREFIX = "ed25519:"
_SIGNING = "signing checkpoints"
_EXTRA = "server"


def default_key_file() -> Path:
    """Return where the signing key is: as the environment says, or in the folder for settings of this user."""
    named = os.environ.get(KEY_VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser(), "crewlearn", "signing.key")


def make_key(file: Path) -> str:
    """Make a signing key in a new file that only its owner can read; return its public half."""
    with extra_for(_SIGNING, _EXTRA):
        from cryptography.hazmat.primitives import serialization as forms
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        remedy = "exists already; keep it: earlier checkpoints are checked by its public half (crewlearn ledger key)"
        raise InvalidInput("key_file", str(file), remedy) from error
    except OSError as error:
        raise InvalidInput("key_file", str(file), f"cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(made, "wb") as written:
            written.write(pem)
            written.flush()
            os.fsync(written.fileno())
    except OSError as error:
        with suppress(OSError):
            file.unlink()  # half a key is none
        raise InvalidInput("key_file", str(file), f"cannot be written ({error.strerror})") from error
    return public_text(key)


def read_key(file: Path) -> "Ed25519PrivateKey":
    """Read the signing key; refuse a file that others can read."""
    with extra_for(_SIGNING, _EXTRA):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            pem = opened.read(10_000)
    except FileNotFoundError as error:
        remedy = "there is no signing key here; make one, once: crewlearn ledger key --make"
        raise InvalidInput("key_file", str(file), remedy) from error
    except OSError as error:
        raise InvalidInput("key_file", str(file), f"cannot be read ({error.strerror})") from error
    if mode & 0o077:
        raise InvalidInput("key_file", str(file), f"can be read by others (mode {mode:04o}); run: chmod 600 {file}")
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(file) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(file)
    return key


def _no_key(file: Path) -> InvalidInput:
    return InvalidInput("key_file", str(file), "is not an Ed25519 key as crewlearn ledger key --make writes it")


def public_text(key: "Ed25519PrivateKey") -> str:
    """Return the public half of a key as one word, which may be printed and sent."""
    return PREFIX + base64.b64encode(key.public_key().public_bytes_raw()).decode()


def public_key(text: str) -> "Ed25519PublicKey":
    """Parse the public half of a key."""
    with extra_for("checking checkpoints", _EXTRA):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        if not text.startswith(PREFIX):
            raise ValueError(text)
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text.removeprefix(PREFIX), validate=True))
    except (ValueError, binascii.Error) as error:
        remedy = f"must be a public key as crewlearn ledger key prints it: {PREFIX} and 44 characters"
        raise InvalidInput("public_key", text, remedy) from error
