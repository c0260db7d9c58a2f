"""Reports: the page has every number, is self-contained, and agrees with the files beside it."""

import csv
import io
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.problem.errors import InvalidInput
from crewlearn.study.outcome import Outcome
from crewlearn.study.paired import Comparison
from crewlearn.study.report import figures
from crewlearn.study.report.page import check_folder, write_report
from crewlearn.study.report.tables import TextTable, comparison_table, conventions_table, tables_of, to_latex
from crewlearn.study.result_cache import ResultCache
from crewlearn.study.studies import STUDIES, Request, StudyRunner

RUNS = 5


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ResultCache:
    return ResultCache(folder=tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def everything(kept: ResultCache, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder written by `reproduce --all`, and its standard output; the slow command runs once for all tests."""
    path = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crewlearn.study.result_cache.cache_folder", lambda part, what: kept.folder)
        done = CliRunner().invoke(app, ["reproduce", "--all", f"--runs={RUNS}", "--seed=2", f"--out={path}"])
    assert done.exit_code == 0, done.output
    return path, done.stdout


@pytest.fixture(scope="module")
def folder(everything: tuple[Path, str]) -> Path:
    return everything[0]


@pytest.fixture(scope="module")
def outcomes(kept: ResultCache, folder: Path) -> list[Outcome]:
    """The command's results, read from its cache."""
    runner = StudyRunner(Request(runs=RUNS, seed=2), kept)
    return [runner.complete(runner.run(study)) for study in STUDIES.values()]


def test_reproducing_everything_says_what_was_met(everything: tuple[Path, str]) -> None:
    folder, printed = everything
    assert re.search(r"benchmark +\d+ of 120 printed numbers met", printed)
    assert (folder / "report.html").exists()


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


class ParsedReport(HTMLParser):
    """The page's text, tags, table cells, ids and references."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.cells: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.references += [str(values[name]) for name in ("src", "href") if name in values]
        if "id" in values:
            self.ids.append(str(values["id"]))
        if tag == "td":
            self.cells.append("")
        if tag == "img":
            assert values["alt"]
            assert int(str(values["width"])) > 0

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.tags and self.tags[-1] == "td" and self.cells:
            self.cells[-1] += data.strip()


def test_the_page_needs_nothing_else(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    page = ParsedReport(text)
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    for reference in page.references:
        assert reference.startswith(("data:image/svg+xml;base64,", "#")), reference[:60]
    assert "url(" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids)) == len(STUDIES)
    assert {f"#{name}" for name in STUDIES} <= set(page.references)


def test_the_page_shows_every_number_of_every_study_in_both_conventions(folder: Path, outcomes: list[Outcome]) -> None:
    page = ParsedReport((folder / "report.html").read_text())
    shown = set(page.cells)
    for outcome in outcomes:
        assert STUDIES[outcome.study].title in page.text
        assert len(outcome.parts) == (1 if STUDIES[outcome.study].one_part else 2)
        for part in outcome.parts.values():
            for finding in part.findings:
                assert finding in page.text
            for table in tables_of(part):
                for row in table.rows:
                    assert {cell.strip() for cell in row} <= shown, (outcome.study, row)
            for study_row in part.rows:
                mean = next(iter(study_row.numbers.values())).ours.mean
                ours = [row for table in tables_of(part) for row in table.rows if row[0] == study_row.policy]
                assert any(_close(cell, mean) for row in ours for cell in row), (outcome.study, study_row)
    assert "What the paper says, what its tables ran, what we get" in page.text
    for words in ("sqrt(log T / n)", "default_rng(12345)", "the fee for each of the k candidates"):
        assert words in page.text


def _close(cell: str, value: float) -> bool:
    """Return whether a cell shows the value, at any rounding."""
    match = re.match(r"([\d,]+(?:\.(\d+))?)%?(?: ±|$)", cell)
    if match is None:
        return False
    places = len(match[2] or "")
    return abs(float(match[1].replace(",", "")) - value) <= 0.5000001 * 10.0**-places


def test_the_effect_of_each_difference_is_computed(folder: Path, outcomes: list[Outcome]) -> None:
    page = ParsedReport((folder / "report.html").read_text())
    (outcome,) = (candidate for candidate in outcomes if candidate.study == "conventions")
    means = {(row.policy, row.setting): row.numbers["regret"].ours.mean for row in outcome.main.rows}
    step = means["a-aht", "start of A-AHT as written"] - means["a-aht", "as released"]
    assert f"a-aht {'+' if step > 0 else '−'}{abs(step):,.0f}" in page.cells


def test_files_beside_the_page(folder: Path, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        lines = iter(read_csv(folder / "tables" / f"{outcome.study}.csv"))
        for part in outcome.parts.values():
            for row in part.rows:
                for measure, number in row.numbers.items():
                    line = next(lines)
                    words = (part.conventions, row.policy, row.setting, str(row.at), measure)
                    names = ("conventions", "policy", "setting", "at", "measure")
                    assert tuple(line[name] for name in names) == words
                    paper = (None, None) if number.paper is None else (number.paper.mean, number.paper.std)
                    expected = {
                        "paper_mean": paper[0],
                        "paper_std": paper[1],
                        **{f"ours_{name}": value for name, value in vars(number.ours).items()},
                        "difference": number.difference,
                        "z": number.z,
                        "runs": number.runs,
                        "seed": 2,
                    }
                    for name, value in expected.items():
                        assert line[name] == ("" if value is None else str(value)), name
        assert next(lines, None) is None
        for part in outcome.parts.values():
            ending = "" if part.conventions == "as-released" else f"-{part.conventions}"
            latex = (folder / "tables" / f"{outcome.study}{ending}.tex").read_text()
            assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == len(tables_of(part))
            for picture in part.pictures:
                stem = folder / "figures" / f"{picture.name}{ending}"
                assert Path(f"{stem}.png").read_bytes().startswith(b"\x89PNG")
                assert ElementTree.parse(f"{stem}.svg").getroot().tag.endswith("svg")
                points = read_csv(Path(f"{stem}.csv"))
                drawn = sum(len(line.x) for panel in picture.panels for line in panel.lines)
                assert len(points) == (drawn or len(getattr(picture.timeline, "cycles", ())))


def test_a_second_report_draws_nothing_anew(
    outcomes: list[Outcome], kept: ResultCache, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(picture: object) -> dict[str, bytes]:
        raise AssertionError("drawn again")

    monkeypatch.setattr(figures, "draw", refuse)
    write_report(outcomes, tmp_path, kept)
    assert (tmp_path / "report.html").read_bytes() == (folder / "report.html").read_bytes()


def test_one_study_makes_a_page_of_its_own(outcomes: list[Outcome], kept: ResultCache, tmp_path: Path) -> None:
    written = write_report(outcomes[:1], tmp_path, kept)
    assert written.page == tmp_path / "headline.html"
    assert not (tmp_path / "report.html").exists()


def test_latex_is_escaped_and_aligned() -> None:
    table = TextTable("Loss_at 5%", ("policy", "ours"), (("a_b & c", "1% ± 2%"), ("#x", "−3")))
    text = to_latex(table, "loss")
    assert r"a\_b \& c & 1\% $\pm$ 2\% \\" in text
    assert r"\#x & $-$3 \\" in text
    assert r"\caption{Loss\_at 5\%.}" in text
    assert r"\caption{Loss\_at 5\%. As written: 2 runs.}" in to_latex(table, "loss", "As written: 2 runs.")
    assert r"\begin{tabular}{lr}" in text


def test_labels_at_lines_never_touch() -> None:
    for heights in ([0.5] * 6, [0.0, 0.0, 1.0, 1.0], [0.3, 0.31, 0.32, 0.9], [0.2]):
        placed = sorted(figures.apart(heights, 0.06))
        assert all(b - a >= 0.06 - 1e-6 for a, b in itertools.pairwise(placed)), heights
        assert placed[0] >= 0.0
        assert placed[-1] <= 1.0
    assert figures.apart([0.9, 0.1, 0.5], 0.06) == [0.9, 0.1, 0.5]
    first, second, third = figures.apart([0.52, 0.5, 0.51], 0.1)
    assert second < third < first


def test_a_folder_that_cannot_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(InvalidInput, match="folder that can be written"):
        check_folder(path / "below")
    check_folder(tmp_path / "new" / "one")
    assert {path.name for path in (tmp_path / "new" / "one").iterdir()} == {"figures", "tables"}
    (tmp_path / "figures").touch()
    with pytest.raises(InvalidInput, match="figures"):
        check_folder(tmp_path)


def test_columns_of_tables_by_name() -> None:
    comparison = Comparison("dr-ucb", "a-aht", "m=5", 365, -5.0, -7.5, -2.5, 9, 1, 10)
    table = comparison_table([comparison])
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "policy": "dr-ucb",
        "against": "a-aht",
        "difference": "−5.0",
        "95% interval": "−7.5 to −2.5",
        "wins": "9",
        "losses": "1",
    }


def test_both_conventions_stand_side_by_side(outcomes: list[Outcome]) -> None:
    (outcome,) = (candidate for candidate in outcomes if candidate.study == "headline")
    table = conventions_table(outcome)
    assert table is not None
    released, written = (outcome.parts[name].rows[0].numbers["regret"].ours for name in ("as-released", "as-written"))
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["as released"] == f"{released.mean:,.0f} ± {released.std:,.0f}"
    assert row["as written"] == f"{written.mean:,.0f} ± {written.std:,.0f}"
    assert row["difference"].lstrip("+−") == f"{abs(written.mean - released.mean):,.0f}"
