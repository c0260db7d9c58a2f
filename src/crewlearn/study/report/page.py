"""Writing of reports: a self-contained HTML page, figures as PNG and SVG, numbers as CSV, tables for LaTeX."""

import base64
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import crewlearn
from crewlearn.engine.caching.disk_cache import sources_digest
from crewlearn.engine.caching.identity import digest_of
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.extras import extra_for
from crewlearn.study.lab import counted
from crewlearn.study.outcome import Outcome, Part, Picture
from crewlearn.study.paper.differences import DIFFERENCES
from crewlearn.study.report.tables import conventions_table, lines_to_csv, signed, tables_of, to_csv, to_latex
from crewlearn.study.result_cache import ResultCache
from crewlearn.study.studies import STUDIES

DOTS_AN_INCH, PAGE_DOTS_AN_INCH = 200, 120


@dataclass(frozen=True)
class WrittenReport:
    """The path of the page, and the number of figures and tables written."""

    page: Path
    figures: int
    tables: int


def write_report(outcomes: Sequence[Outcome], folder: Path, kept: ResultCache) -> WrittenReport:
    """Write a report to a folder; the page is `report.html`, or named after the study if there is only one."""
    drawn = {
        (outcome.study, part.conventions, picture.name): _drawn(picture, kept)
        for outcome in outcomes
        for part in outcome.parts.values()
        for picture in part.pictures
    }
    check_folder(folder)
    tables = 0
    for outcome in outcomes:
        (folder / "tables" / f"{outcome.study}.csv").write_text(to_csv(outcome), encoding="utf-8")
        for part in outcome.parts.values():
            tables += _write_part(outcome, part, folder, drawn)
    page = folder / (f"{outcomes[0].study}.html" if len(outcomes) == 1 else "report.html")
    page.write_text(render(outcomes, drawn), encoding="utf-8")
    return WrittenReport(page, len(drawn), tables)


def check_folder(folder: Path) -> None:
    """Create the folders of a report, and raise if they are not writable, before any work is done."""
    for path in (folder, folder / "figures", folder / "tables"):
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError as error:
            raise InvalidInput("out", str(path), f"must be a folder that can be written ({error.strerror})") from error


def render(outcomes: Sequence[Outcome], drawn: Mapping[tuple[str, str, str], Mapping[str, bytes]]) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("crewlearn.study.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    sections = [_section(outcome, drawn) for outcome in outcomes]
    return environment.get_template("report.html").render(
        title="Sequential hiring of contingent workers, reproduced",
        lead=(
            "Lee, Chao and Duenyas, Sequential Hiring of Contingent Workers Through Learning-Based Optimization: "
            "the paper's numbers and ours, under the conventions of its tables and of its text."
        ),
        sections=sections,
        foot=f"crewlearn {crewlearn.__version__}. Our numbers are means ± standard deviations over runs; z is the "
        "difference from the paper in combined standard errors. Regret is output lost against the best team, plus "
        "fees.",
    )


def _write_part(
    outcome: Outcome, part: Part, folder: Path, drawn: Mapping[tuple[str, str, str], Mapping[str, bytes]]
) -> int:
    """Write a part's figures and tables; return the number of tables. File names show conventions if not released."""
    ending = "" if part.conventions == "as-released" else f"-{part.conventions}"
    for picture in part.pictures:
        for kind, image in drawn[outcome.study, part.conventions, picture.name].items():
            (folder / "figures" / f"{picture.name}{ending}.{kind}").write_bytes(image)
    for name, text in lines_to_csv(part).items():
        (folder / "figures" / f"{name}{ending}.csv").write_text(text, encoding="utf-8")
    tables = tables_of(part)
    labels = [f"{outcome.study}{ending}-{number}" for number in range(1, len(tables) + 1)]
    how = how_made(part)
    latex = "\n".join(to_latex(table, label, how) for table, label in zip(tables, labels, strict=True))
    (folder / "tables" / f"{outcome.study}{ending}.tex").write_text(latex, encoding="utf-8")
    return len(tables)


def _section(outcome: Outcome, drawn: Mapping[tuple[str, str, str], Mapping[str, bytes]]) -> dict[str, Any]:
    study = STUDIES[outcome.study]
    main, *others = (_part(outcome.study, part, drawn) for part in outcome.parts.values())
    points = _points(outcome.main) if study.name == "conventions" else []
    return {
        "name": study.name,
        "title": study.title,
        "item": study.item,
        "main": main,
        "others": others,
        "points": points,
        "conventions": conventions_table(outcome),
    }


def how_made(part: Part) -> str:
    """Return a sentence on the conventions, runs and seed."""
    pools = {"as-written": "a fresh pool in each", "as-released": "all with the tables' pool"}[part.conventions]
    words = part.conventions.replace("-", " ").capitalize()
    return f"{words}: {counted(part.runs, 'run')}, {pools}, seed {part.seed}."


def _part(study: str, part: Part, drawn: Mapping[tuple[str, str, str], Mapping[str, bytes]]) -> dict[str, Any]:
    words = part.conventions.replace("-", " ")
    return {
        "conventions": words,
        "how": how_made(part),
        "findings": part.findings,
        "pictures": [_image(picture, drawn[study, part.conventions, picture.name]) for picture in part.pictures],
        "tables": tables_of(part),
    }


def _points(part: Part) -> list[dict[str, str]]:
    """Return the differences between the conventions, each with its own effect on the policies concerned."""
    means = {(row.policy, row.setting): row.numbers["regret"].ours.mean for row in part.rows}
    points = []
    for difference in DIFFERENCES:
        switched = f"{difference.point} as written"
        steps = {policy: means[policy, switched] - means[policy, "as released"] for policy in difference.policies}
        effects = [f"{policy} {signed(step, '{:,.0f}')}" for policy, step in steps.items()]
        points.append(
            {
                "point": difference.point,
                "written": difference.written,
                "released": difference.released,
                "effect": ", ".join(effects),
            }
        )
    return points


def _image(picture: Picture, images: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a picture's data for the page, with its size so that the layout does not shift while it loads."""
    width, height = struct.unpack(">II", images["png"][16:24])
    lines = [line.label for panel in picture.panels for line in panel.lines]
    titles = "; ".join(panel.title for panel in picture.panels) or "Timeline of learning cycles"
    drawn = f" Lines: {', '.join(dict.fromkeys(lines))}." if lines else ""
    scale = PAGE_DOTS_AN_INCH / DOTS_AN_INCH
    return {
        "source": "data:image/svg+xml;base64," + base64.b64encode(images["svg"]).decode(),
        "alt": f"{titles}.{drawn} The numbers are in the tables and CSV files.",
        "caption": picture.caption,
        "width": round(width * scale),
        "height": round(height * scale),
    }


def _drawn(picture: Picture, kept: ResultCache) -> Mapping[str, bytes]:
    """Draw a picture, or read it from the cache."""
    with extra_for("a figure"):
        import matplotlib as mpl

        from crewlearn.study.report import figures

    key = digest_of({"picture": _plain(picture), "code": sources_digest([figures], [mpl.__version__])})
    arrays = kept.arrays(
        key, lambda: {kind: np.frombuffer(data, dtype=np.uint8) for kind, data in figures.draw(picture).items()}
    )
    return {kind: arrays[kind].tobytes() for kind in ("png", "svg")}


def _plain(value: Any) -> Any:
    """Convert to plain data for hashing: arrays to lists, dataclasses to dictionaries."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value
