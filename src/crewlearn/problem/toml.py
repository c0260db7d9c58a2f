"""The problem file: reading and writing a `Problem` as TOML."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from crewlearn.problem.errors import InvalidInput, one_of, unknown_name
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS, DelayLaw, NoDelay, OutputLaw, UniformOutput
from crewlearn.problem.model import CONVENTIONS, Pool, Problem, Start
from crewlearn.problem.recipes import Estimated, Recipe

Part = TypeVar("Part")
_SECTIONS = ("workers", "output", "delay", "start")


def read_problem(path: Path | str) -> Problem:
    """Read a problem file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "problem file", str(path), f"cannot be read ({error}); give the path of a TOML file"
        ) from error
    return problem_from_toml(text)


def problem_from_toml(text: str) -> Problem:
    """Build a problem from TOML text."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("problem file", "TOML", f"is not valid TOML: {error}") from error
    return problem_from_table(table)


def problem_from_table(table: Mapping[str, Any]) -> Problem:
    """Build a problem from a table, as parsed from TOML or JSON."""
    known = [field.name for field in dataclasses.fields(Problem)]
    top = {key: value for key, value in table.items() if key not in _SECTIONS}
    _check_keys("problem file", top, [name for name in known if name not in _SECTIONS], extra=_SECTIONS)
    sections = {name: _section(table, name) for name in _SECTIONS}
    if sections["workers"] is None:
        raise InvalidInput("[workers]", None, "is missing: give means = [...] or a recipe with draw and count")
    return _build(
        "problem file",
        Problem,
        {
            **top,
            "workers": _workers(sections["workers"]),
            "output": UniformOutput()
            if sections["output"] is None
            else _law("output", sections["output"], OUTPUT_LAWS),
            "delay": NoDelay() if sections["delay"] is None else _law("delay", sections["delay"], DELAY_LAWS),
            "start": None if sections["start"] is None else _build("[start]", Start, sections["start"]),
        },
    )


def problem_to_table(problem: Problem) -> dict[str, Any]:
    """Return a problem as a plain table, without fields that are None and the default conventions."""
    table: dict[str, Any] = {
        field.name: getattr(problem, field.name)
        for field in dataclasses.fields(problem)
        if field.name not in _SECTIONS and getattr(problem, field.name) is not None
    }
    if problem.conventions == CONVENTIONS[0]:
        del table["conventions"]
    workers = dataclasses.asdict(problem.workers)
    table["workers"] = {key: _plain(value) for key, value in workers.items() if value != ()}
    for name in ("output", "delay"):
        law: OutputLaw | DelayLaw = getattr(problem, name)
        numbers = {key: _plain(value) for key, value in dataclasses.asdict(law).items()}
        table[name] = {"law": law.law, **numbers}
    if problem.start is not None:
        start = dataclasses.asdict(problem.start)
        table["start"] = {key: _plain(value) for key, value in start.items() if value != ()}
    return table


def problem_to_toml(problem: Problem) -> str:
    """Return a problem as TOML text, from which `problem_from_toml` builds the same problem."""
    table = problem_to_table(problem)
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if key not in _SECTIONS]
    for name in [name for name in _SECTIONS if name in table]:
        lines += [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table[name].items())]
    return "\n".join(lines) + "\n"


def _section(table: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    section = table.get(name)
    if section is not None and not isinstance(section, Mapping):
        raise InvalidInput(f"[{name}]", section, f"must be a table headed [{name}]")
    return section


def _workers(section: Mapping[str, Any]) -> Pool | Recipe | Estimated:
    if "means" in section and "draw" in section:
        raise InvalidInput("[workers] draw", section["draw"], "give either means or a recipe, not both")
    if "draw" in section:
        return _build("[workers]", Recipe, section)
    if "means" not in section:
        names = [field.name for part in (Pool, Recipe, Estimated) for field in dataclasses.fields(part)]
        _check_keys("[workers]", section, names)
        raise InvalidInput("[workers]", dict(section), "give means = [...] or a recipe with draw and count")
    if "sds" in section:
        return _build("[workers]", Estimated, section)
    return _build("[workers]", Pool, section)


def _law(name: str, section: Mapping[str, Any], laws: Sequence[type[Part]]) -> Part:
    by_name: dict[str, type[Part]] = {law.law: law for law in laws}  # type: ignore[attr-defined]  # every law class has it
    if "law" not in section:
        _check_keys(f"[{name}]", section, ["law", *_fields_of(laws)])
        raise InvalidInput(f"[{name}] law", None, f"is missing; known: {', '.join(by_name)}")
    chosen = by_name[one_of(f"[{name}] law", section["law"], by_name)]
    rest = {key: value for key, value in section.items() if key != "law"}
    return _build(f"[{name}]", chosen, rest, extra=("law",))


def _fields_of(parts: Sequence[type[Any]]) -> list[str]:
    return list(dict.fromkeys(field.name for part in parts for field in dataclasses.fields(part)))


def _check_keys(where: str, values: Mapping[str, Any], known: Sequence[str], extra: Sequence[str] = ()) -> None:
    for key in values:
        if key not in known:
            raise unknown_name(f"{where} key", key, [*known, *extra])


def _build(where: str, part: type[Part], values: Mapping[str, Any], extra: Sequence[str] = ()) -> Part:
    fields = dataclasses.fields(part)  # type: ignore[arg-type]  # only dataclasses are passed
    _check_keys(where, values, [field.name for field in fields], extra)
    for field in fields:
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in values:
            raise InvalidInput(f"{where} {field.name}", None, "is missing")
    return part(**values)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'  # only names of laws and choices, which need no escapes
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return repr(value.item() if hasattr(value, "item") else value)
