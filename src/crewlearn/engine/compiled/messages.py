"""Messages about functions of a user's own that cannot be compiled."""

import dis
import re
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError

from crewlearn.engine.compiled.reach import Function, is_ours, reach


def is_from_compiler(error: Exception) -> bool:
    """Return whether an error was raised by compiling a loop, not by running it nor for want of memory or disk."""
    if isinstance(error, (NumbaError, UnsupportedBytecodeError)):
        return True
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "_compile_for_args" in frames and not isinstance(error, (OSError, MemoryError))


def compiler_message(main: Callable[..., Any], functions: Iterable[Callable[..., Any]], error: Exception) -> str:
    """Return what cannot be compiled, by function and line, and why; `main` is named if no line of its own is."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    own = [function for function in reach(functions).functions if not is_ours(function)]
    known = _undefined_name(own, text) or _raise_from(own, text) or _wrong_arguments(own, text)
    where, line, why = known or _by_place(main, own, text, type(error).__name__)
    return f"{where.__qualname__}, line {line}, cannot be compiled: {why.rstrip('.')}"


Reason = tuple[Callable[..., Any], int, str]
"""A function, its line, and what is wrong there."""


def _undefined_name(own: list[Function], text: str) -> Reason | None:
    """Return where an undefined name is used; the compiler names no place."""
    found = re.search(r"NameError: name '(\w+)' is not defined", text)
    if found is None:
        return None
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    line = _line_where(own, lambda step: step.opname in loads and step.argval == found[1])
    return line and (*line, f"the name {found[1]!r} is not defined")


def _raise_from(own: list[Function], text: str) -> Reason | None:
    """Return where an error is raised from another; the compiler names no place."""
    if "Multiple argument raise" not in text:
        return None
    line = _line_where(own, lambda step: step.opname == "RAISE_VARARGS" and step.arg == 2)
    return line and (*line, "`raise ... from ...` is not supported; raise the error without `from`")


def _wrong_arguments(own: list[Function], text: str) -> Reason | None:
    """Return which function does not take the arguments that it is called with."""
    found = re.search(r"Cannot bind .* to signature '(.*)' due to \"TypeError: (.*)\"", text)
    if found is None:
        return None
    called = re.findall(r"Function\(<function (.+?) at ", text[: found.start()])
    named = [function for name in called for function in own if function.__qualname__ == name]
    if not named:
        return None
    why = f"it takes {found[1]}, and is called with {found[2]}"
    return named[-1], named[-1].__code__.co_firstlineno, why


def _line_where(own: list[Function], fits: Callable[[dis.Instruction], bool]) -> tuple[Function, int] | None:
    """Return the first line with an instruction that fits."""
    for function in own:
        line = function.__code__.co_firstlineno
        for step in dis.get_instructions(function.__code__):
            line = (step.positions and step.positions.lineno) or line
            if fits(step):
                return function, line
    return None


def _by_place(main: Callable[..., Any], own: list[Function], text: str, kind: str) -> Reason:
    """Return the innermost place in the user's own functions that the compiler names, and its reason."""
    where, line, inside = main, main.__code__.co_firstlineno, False
    places = re.findall(r'File "([^"]*)", line (\d+)', text) + re.findall(r"Raised from (.*) \((\d+)\)", text)
    for file, number in places:
        fitting = [function for function in own if _has_line(function, Path(file).name, int(number))]
        if fitting:
            where, line = max(fitting, key=lambda function: function.__code__.co_firstlineno), int(number)
            inside = True
            break
    before = [part.strip() for part in text.partition('File "')[0].splitlines() if part.strip()]
    why = re.sub(r"\.? *Raised from .*", "", before[-1]) if before else kind
    return where, line, _unknown_call(own, text, inside) if why.startswith("During: ") else _shortened(why)


def _unknown_call(own: list[Function], text: str, inside: bool) -> str:
    """Return the outermost operation that the compiler has no code for and that is no call of the user's functions."""
    names = {function.__name__ for function in own}
    calls = [call.strip() for call in re.findall(r">>> (.*)", text)]
    unknown = [call for call in calls if call.partition("(")[0] not in names]
    call = unknown[0] if unknown else (calls[0] if calls else "it")
    what = f"there is no compiled form of {_shortened(call)}"
    return what if inside else f"the loop cannot use what it returns or is given; {what}"


def _shortened(text: str) -> str:
    """Return a text with types in the words of Python, and without the fields of named tuples."""
    text = re.sub(r"Module\(<module ('[^']*')[^>]*>\)", r"module \1", text)
    text = re.sub(r"Literal\[str\]\((.*?)\)", r"'\1'", text)
    text = re.sub(r"Literal\[\w+\]\((.*?)\)", r"\1", text).replace("unicode_type", "str")
    text = re.sub(r"<iv=.*?>", "", text)
    text = re.sub(r"of type (\w+)\(.*", r"of \1", text)
    return text if len(text) <= 300 else text[:297] + "..."


def _has_line(function: Function, file: str, line: int) -> bool:
    code = function.__code__
    lines = [number for _, _, number in code.co_lines() if number is not None]
    return Path(code.co_filename).name == file and min(lines) <= line <= max(lines)
