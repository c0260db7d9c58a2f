"""The reference of the public names: a page for each room, so that no name can be without an entry."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import crewlearn

ROOMS = {
    "problem": ("The model", "Problems, laws, how people and days change, and the roster."),
    "theory": ("Bounds", "Regret bounds with their terms, and the choices of gamma."),
    "beliefs": ("Beliefs", "What observations tell about workers."),
    "policies": ("Policies", "The contract, every policy, and what helps to write one."),
    "engine": ("Simulation", "Worlds, runs, results, sweeps and traces."),
    "study": ("Studies", "The paper's tables and figures, and the families of instances."),
}


def names_by_room() -> dict[str, list[str]]:
    """Return the public names of each room, in the order of the table in `crewlearn/__init__.py`."""
    rooms: dict[str, list[str]] = {}
    for name, home in crewlearn._HOME.items():
        rooms.setdefault(home.partition(".")[0], []).append(name)
    return rooms


def pages() -> Iterator[tuple[str, str]]:
    """Yield the address and text of each page of the Python reference."""
    rooms = names_by_room()
    index = ["# Python", "", "`import crewlearn` has these names. They are imported on first use.", ""]
    for room, names in rooms.items():
        title, line = ROOMS[room]
        body = [f"# {title}", "", f"{line} All of it is imported from `crewlearn`.", ""]
        body += [f"::: crewlearn.{name}\n" for name in names]
        yield f"reference/python/{room}.md", "\n".join(body)
        index += [f"## [{title}]({room}.md)", "", line, "", "| name | what it is |", "|---|---|"]
        index += [f"| [`{name}`]({room}.md#crewlearn.{name}) | {first_line(name)} |" for name in names]
        index.append("")
    yield "reference/python/index.md", "\n".join(index)


def first_line(name: str) -> str:
    """Return the first line of what is said of a public name: its docstring, or the string below a constant."""
    said = getattr(crewlearn, name)
    if not inspect.isclass(said) and not inspect.isroutine(said):
        return constant_docstring(name)
    return (inspect.getdoc(said) or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def constant_docstring(name: str) -> str:
    """Return the string that stands below the assignment of a constant."""
    source = Path(crewlearn.__file__).parent / Path(*crewlearn._HOME[name].split("."))
    source = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
    body = ast.parse(source.read_text(encoding="utf-8")).body
    for statement, below in pairwise(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        if name in [ast.unparse(target) for target in targets] and isinstance(below, ast.Expr):
            return " ".join(str(ast.literal_eval(below.value)).split())
    return ""
