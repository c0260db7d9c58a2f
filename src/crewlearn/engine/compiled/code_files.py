"""The files of numba's disk cache, each behind its digest: flipped bits in code give wrong numbers silently."""

import os
import pickle
import sys
from pathlib import Path
from typing import Any, cast

from numba.core import serialize
from numba.core.caching import IndexDataCacheFile

from crewlearn.engine.caching.sealing import sealed, unsealed

_dumps: Any = serialize.dumps  # untyped


class SealedFiles(IndexDataCacheFile):
    """An index of compiled code and its data files; what is damaged counts as missing, so that it is compiled again."""

    def _load_index(self) -> dict[Any, str]:
        content = self._read(self._index_name)
        stamp, overloads = (None, {}) if content is None else pickle.loads(content)
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_name, _dumps((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = self._read(name)
        if content is None:
            raise FileNotFoundError(name)
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, _dumps(data))

    def _read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing, and with a message if it is damaged."""
        try:
            data = Path(self._cache_path, name).read_bytes()
        except FileNotFoundError:
            return None
        content = unsealed(data, name)
        if content is None:
            print("crewlearn: the cache of compiled code is damaged; recompiling", file=sys.stderr)
        return content

    def _write(self, name: str, content: bytes) -> None:
        with self._open_for_write(os.path.join(self._cache_path, name)) as file:
            file.write(sealed(content, name))


def seal(compiled: Any) -> None:
    """Let a function that numba caches on disk use sealed files; numba has no public way to choose them."""
    files, kind = compiled._cache._cache_file, cast(Any, SealedFiles)
    compiled._cache._cache_file = kind(files._cache_path, Path(files._index_name).stem, files._source_stamp)
