"""The problem file: reading and writing a `Problem` as TOML."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from crewlearn.problem.errors import InvalidInput, one_of, unknown_name
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS, DelayLaw, NoDelay, OutputLaw, UniformOutput
from crewlearn.problem.laws.own import Draw
from crewlearn.problem.model import CONVENTIONS, Pool, Problem, Start
from crewlearn.problem.people import Drift, LevelPath, Presence, Ramp
from crewlearn.problem.recipes import Estimated, Recipe

Part = TypeVar("Part")
TABLES: dict[str, type[Any]] = {"start": Start, "ramp": Ramp, "drift": Drift, "presence": Presence}
"""Tables that may be left out, each the fields of one class."""

_SECTIONS = ("workers", "output", "delay", *TABLES)
_NEUTRAL: dict[str, Any] = {
    "generator": "numpy",
    "stars": 0.0,
    "warmup": 0,
    "turnover": 0,
    "gone": 0.0,
    "absence": 0.0,
    "quits": 0.0,
    "declines": 0.0,
}
"""Keys of tables that are left out of what is written at these values, as older versions do not know them."""


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
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and nesting without end
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
            **{
                name: None if (section := sections[name]) is None else _build(f"[{name}]", part, section)
                for name, part in TABLES.items()
            },
        },
    )


def problem_to_table(problem: Problem) -> dict[str, Any]:
    """Return a problem as a plain table, without fields that are None, the default conventions and neutral tables.

    The table of a law or path of a user's own describes it, but no problem can be built from it.
    """
    if problem.script is not None:
        raise InvalidInput("script", "given", "cannot be written to a problem file; leave it out")
    table: dict[str, Any] = {
        field.name: getattr(problem, field.name)
        for field in dataclasses.fields(problem)
        if field.name not in _SECTIONS and getattr(problem, field.name) is not None
    }
    if problem.conventions == CONVENTIONS[0]:
        del table["conventions"]
    table["workers"] = _written(problem.workers)
    for name in ("output", "delay"):
        law: OutputLaw | DelayLaw = getattr(problem, name)
        table[name] = {**_own(law, law.own_draw()), "law": getattr(law, "law", type(law).__name__), **_written(law)}
    for name in TABLES:
        part = getattr(problem, name)
        if part is None or getattr(part, "neutral", False):
            continue
        own = _own(part, part.own_step()) if isinstance(part, LevelPath) else {}
        if written := {**own, **_written(part)}:
            table[name] = written
    return table


def _own(part: Any, draw: Draw | None) -> dict[str, str]:
    """Return the name of a class of a user's own, so that its table is never read as that of a built-in one."""
    return {} if draw is None else {"own": type(part).__name__}


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


def _written(part: Any) -> dict[str, Any]:
    """Return the fields of a part that are not left at nothing."""
    values = {field.name: _plain(getattr(part, field.name)) for field in dataclasses.fields(part)}
    if isinstance(part, OutputLaw):
        values.update(weekdays=values["weekdays"] if any(part.weekdays) else [])
        values.update(shocks=[shock for shock in values["shocks"] if shock[2] != 0.0])
    return {key: value for key, value in values.items() if value != [] and _NEUTRAL.get(key, ()) != value}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _written(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'  # only names of laws and choices, which need no escapes
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_value(item)}' for key, item in value.items())}}}"
    return repr(value.item() if hasattr(value, "item") else value)
