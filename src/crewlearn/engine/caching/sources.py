"""Hashes of the source behind users' own classes, or the reason why some of it cannot be hashed.

A policy's results may be reused only while the code that produced them is unchanged. For the package's own classes
that code is the package. For a user's class it is the defining module and every user module that it imports.
"""

import ast
import hashlib
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from crewlearn.engine.origins import in_package, in_standard_library, top_level

_GENERATED = "<string>"
"""File name of the methods that `dataclass` generates."""
_DYNAMIC = frozenset(
    {"__import__", "eval", "exec", "import_module", "run_module", "run_path", "spec_from_file_location"}
)
"""Calls that may run code which cannot be found by reading the source."""


@dataclass(frozen=True)
class SourceCoverage:
    """A hash of the source behind some classes; `gap` says why it does not cover everything, None if it does."""

    digest: str
    gap: str | None


@dataclass(frozen=True)
class _Parsed:
    """A parsed source file: its hash, imports (level, module, names), a dynamic call if any, and code objects."""

    digest: str
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    dynamic: str | None
    code: frozenset[CodeType]
    names: frozenset[str]


def is_covered(kind: type[Any]) -> bool:
    """Return whether a class and all its bases are the package's own or Python's, so that no other source counts."""
    return not _own_modules(kind)


def source_coverage(kinds: set[type[Any]]) -> SourceCoverage:
    """Hash the source of every user module that the classes reach; installed libraries count by version.

    The walk follows import statements, including those inside functions. It stops with a gap at a module without a
    readable source file (a notebook, a prompt, a program read from a pipe), at code that imports or runs other code
    dynamically, and at a file that has changed since it was loaded.
    """
    queue = sorted({name for kind in kinds for name in _own_modules(kind)})
    entries: dict[str, str] = {}
    try:
        for kind in kinds:
            for base in kind.__mro__:
                if base.__module__ in queue:
                    _check_loaded_class(base)
        while queue:
            name = queue.pop()
            if name in entries:
                continue
            entries[name], imported = _entry(name)
            queue += [other for other in imported if other not in entries]
    except _GapError as error:
        return SourceCoverage("", str(error))
    return SourceCoverage(hashlib.sha256(repr(sorted(entries.items())).encode()).hexdigest(), None)


class _GapError(Exception):
    """Some of the source cannot be hashed; the message says why."""


def _own_modules(kind: type[Any]) -> set[str]:
    """Return the modules of the class and its bases that are neither the package's nor Python's."""
    return {base.__module__ for base in kind.__mro__ if not _is_known(base.__module__)}


def _is_known(name: str) -> bool:
    """Return whether a module is covered by the package's own digest or by Python's version."""
    return in_package(name) or in_standard_library(name)


def _entry(name: str) -> tuple[str, list[str]]:
    """Return a module's entry in the digest, and the modules that it imports."""
    if _is_known(name):
        return "", []
    module = sys.modules.get(name)
    file = _file_of(name, module)
    if file is None:
        return "namespace or missing", []
    if (library := _library_version(name, file)) is not None:
        return library, []
    try:
        stat = file.stat()
        if file.suffix not in (".py", ".pyw") and name != "__main__":  # a compiled extension, its imports unknown
            return hashlib.sha256(file.read_bytes()).hexdigest(), []
        parsed = _parse(file, stat.st_mtime_ns, stat.st_size)
    except (OSError, SyntaxError, ValueError) as error:
        raise _GapError(f"the source of module {name} cannot be read") from error
    if parsed.dynamic is not None:
        raise _GapError(f"module {name} calls {parsed.dynamic}, which may run any code")
    if module is not None:
        _check_loaded(name, file, parsed, (value for value in vars(module).values() if _module_of(value) == name))
    return parsed.digest, [*_parents(name), *_imported(name, module, file, parsed)]


def _file_of(name: str, module: ModuleType | None) -> Path | None:
    """Return a module's file, or None for a namespace package or a module that is not installed."""
    if module is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            spec = None
        if spec is None or spec.origin is None:
            return None
        return Path(spec.origin) if spec.has_location else None
    file = getattr(module, "__file__", None)
    if file is None and hasattr(module, "__path__"):
        return None
    if file is None or not Path(file).is_file():
        raise _GapError(f"module {name} has no source file; put the class into a .py file")
    return Path(file)


def _library_version(name: str, file: Path) -> str | None:
    """Return the name and version of the installed distribution that provides a module, or None."""
    if not any(file.is_relative_to(folder) for folder in _library_folders()):
        return None
    distributions = _distributions().get(top_level(name))
    if not distributions:
        return None
    return ", ".join(f"{distribution}=={version(distribution)}" for distribution in sorted(set(distributions)))


@cache
def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return (paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages())


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


@lru_cache(maxsize=256)
def _parse(file: Path, modified: int, size: int) -> _Parsed:
    """Parse a source file; its modification time and size are arguments only as part of the cache key."""
    data = file.read_bytes()
    tree = ast.parse(data, str(file))
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    dynamic = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            dynamic = called if called in _DYNAMIC else dynamic
    code = frozenset(_nested(compile(data, str(file), "exec", dont_inherit=True)))
    names = frozenset(item.co_qualname for item in code)
    return _Parsed(hashlib.sha256(data).hexdigest(), tuple(imports), dynamic, code, names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _imported(name: str, module: ModuleType | None, file: Path, parsed: _Parsed) -> Iterator[str]:
    """Yield the full names of the modules that a module imports; `from a import b` may import a module a.b."""
    own_package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    package = getattr(module, "__package__", None) or own_package
    for level, base, members in parsed.imports:
        try:
            absolute = importlib.util.resolve_name("." * level + base, package) if level else base
        except ImportError as error:
            raise _GapError(f"module {name} imports {'.' * level}{base}, which cannot be resolved") from error
        if _is_known(absolute):
            continue
        yield absolute
        yield from _parents(absolute)
        target = sys.modules.get(absolute)
        for member in members:
            if f"{absolute}.{member}" in sys.modules or (member != "*" and not hasattr(target, member)):
                yield f"{absolute}.{member}"


def _check_loaded_class(kind: type[Any]) -> None:
    """Raise if a class differs from its module's source file, edited since or typed at a prompt."""
    module = sys.modules.get(kind.__module__)
    if module is None:
        raise _GapError(f"module {kind.__module__} is not loaded")
    file = _file_of(kind.__module__, module)
    if file is None:
        raise _GapError(f"module {kind.__module__} has no source file; put the class into a .py file")
    if _library_version(kind.__module__, file) is not None:
        return
    try:
        parsed = _parse(file, file.stat().st_mtime_ns, file.stat().st_size)
    except (OSError, SyntaxError, ValueError) as error:
        raise _GapError(f"the source of module {kind.__module__} cannot be read") from error
    if kind.__qualname__ not in parsed.names:
        raise _GapError(f"class {kind.__qualname__} is not in the source of module {kind.__module__}")
    _check_loaded(kind.__module__, file, parsed, [kind])


def _check_loaded(name: str, file: Path, parsed: _Parsed, values: Iterable[Any]) -> None:
    """Raise if a loaded function of a module is no longer in the module's source file.

    Functions made by a decorator belong to the decorator's file; those generated by `dataclass` belong to none.
    """
    for value in values:
        for function in _functions(value):
            origin = function.__code__.co_filename
            elsewhere = origin == _GENERATED or (Path(origin).is_file() and not file.samefile(origin))
            if function.__module__ == name and not elsewhere and function.__code__ not in parsed.code:
                raise _GapError(f"module {name} was changed after it was loaded; start again")


def _functions(value: Any) -> Iterator[FunctionType]:
    """Yield a function, or the functions of a class, unwrapping Python's own decorators."""
    if isinstance(value, FunctionType):
        yield value
        yield from _functions(getattr(value, "__wrapped__", None))
    elif isinstance(value, type):
        for member in vars(value).values():
            if not isinstance(member, type):
                yield from _functions(member)
    else:
        for attribute in ("__func__", "__wrapped__", "fget", "fset", "func", "py_func"):
            inner = getattr(value, attribute, None)
            if isinstance(inner, FunctionType):
                yield inner


def _module_of(value: Any) -> str | None:
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else None
