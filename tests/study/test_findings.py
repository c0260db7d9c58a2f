"""Findings of studies claim no more than their numbers show, and no number in them is typed by hand."""

import ast
import json
import math
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from crewlearn.engine.local import simulate
from crewlearn.engine.results import paired_difference, student_95
from crewlearn.problem.instances import benchmark
from crewlearn.study import paired
from crewlearn.study.outcome import StudyRow
from crewlearn.study.paper import differences, value
from crewlearn.study.paper.benchmark import POLICIES, standing_against
from crewlearn.study.report.tables import tables_of
from support.study_runs import RUNS, number, run


def test_when_a_number_agrees() -> None:
    """Within 3% or 3 standard errors, whichever is larger."""
    assert number(102.9, 0.0, 100, (100.0, 0.1)).agrees
    assert number(103.1, 0.0, 100, (100.0, 0.1)).agrees is False
    assert number(129.0, 0.0, 100, (100.0, 10.0 * math.sqrt(250))).agrees  # 2.9 standard errors of 10
    assert number(131.0, 0.0, 100, (100.0, 10.0 * math.sqrt(250))).agrees is False
    assert number(131.0, 0.0, 100).agrees is None
    assert number(131.0, 0.0, 1, (100.0, 1.0)).z is None  # one run has no spread


def test_student_is_the_known_table() -> None:
    known = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 29: 2.045, 249: 1.970, 10**6: 1.960}
    for degrees, point in known.items():
        assert student_95(degrees) == pytest.approx(point, abs=0.012 if degrees == 3 else 0.002)


def against(rival: str, difference: float, half: float) -> paired.Comparison:
    low, high = difference - half, difference + half
    return paired.Comparison("dr-ucb", rival, "m=5", 730, difference, low, high, 3, 4, 7)


def test_findings_say_no_more_than_the_intervals() -> None:
    better, worse, open_ = against("a", -10.0, 3.0), against("b", 10.0, 3.0), against("c", 10.0, 30.0)
    assert standing_against([better], "all") == ["DR-UCB loses less than all in every setting here."]
    assert standing_against([better, worse], "all") == [
        "At m=5 DR-UCB loses more than b after 730 periods, by 10 (95% interval 7 to 13)."
    ]
    assert standing_against([better, open_], "all") == [
        "At m=5 the difference between DR-UCB and c is not significant."
    ]


def test_one_run_claims_nothing(tmp_path: Path) -> None:
    outcome = run("headline", tmp_path, runs=1)
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert {row["z"] for row in document["rows"]} == {None}
    assert {comparison["low"] for comparison in document["comparisons"]} == {None}
    for table in tables_of(outcome.main):
        assert all("±" not in row[table.columns.index("ours")] for row in table.rows if "ours" in table.columns)


def test_the_headline_says_what_its_numbers_say(tmp_path: Path) -> None:
    outcome = run("headline", tmp_path)
    result = simulate(benchmark(10, "as-released"), list(POLICIES), RUNS, 3, [365], "as-released")
    every = np.array([result.policies[name].regret[:, 0] for name in POLICIES])
    first = int((every.argmin(axis=0) == 0).sum())
    assert f"DR-UCB has the least regret of the five in {first} of {RUNS} worlds." in outcome.main.findings
    less = 1 - every[0].mean() / every[1].mean()
    assert f"Its mean is {less:.0%} below that of a-aht (printed: 38% below)." in outcome.main.findings  # 1 - 402 / 649
    dear = run("high-cost", tmp_path)
    ours, _, keep = (row.numbers["regret"].ours.mean for row in dear.main.rows)
    assert f"DR-UCB loses {ours / keep:.1f} times what never replacing anyone does." in dear.main.findings


def test_the_study_of_our_policy_says_what_its_numbers_say(tmp_path: Path) -> None:
    outcome = run("value-of-replacement", tmp_path)
    result = simulate(
        benchmark(5, "as-released"), ["value-of-replacement", "dr-ucb"], RUNS, 3, [365, 730], "as-released"
    )
    shares = [result.regret("value-of-replacement", at).mean / result.regret("dr-ucb", at).mean for at in (365, 730)]
    finding = f"At m=5 its mean regret is {shares[0]:.0%} of DR-UCB's after 12 months and {shares[1]:.0%} after 24."
    assert finding in outcome.main.findings
    settings = {row.setting for row in outcome.main.rows}
    assert settings == {
        *("m=10", "m=5", "m=20", "c=168"),
        *(f"cost={cost}" for cost in (3, 7, 30, 60, 90)),
        *(f"mean_delay={mean}" for mean in (0, 1, 3, 7)),
    }
    rows = [
        StudyRow(policy, "m=10", at, {"regret": number(mean, 1.0, 9)})
        for at in (365, 730)
        for policy, mean in (("value-of-replacement", 10.0 * at), ("dr-ucb", 20.0 * at), ("keep-team", 5.0 * at))
    ]
    worse = paired.Comparison("value-of-replacement", "keep-team", "m=10", 365, 5.0, 4.0, 6.0, 0, 9, 9)
    assert value.findings(rows, [worse])[-1].startswith("At m=10 it loses more than keep-team after 365 periods, by 5")


def test_the_largest_step_is_named(tmp_path: Path) -> None:
    rows = [
        StudyRow("p", setting, 365, {"regret": number(mean, 1.0, 9)})
        for setting, mean in (("as released", 100.0), ("x as written", 90.0), ("y as written", 130.0), ("all", 120.0))
    ]
    assert differences._largest_step(rows) == (100.0, 120.0, "y", 30.0)


def test_winners_and_pairs() -> None:
    regret = {"a": np.array([1.0, 5.0, 2.0, 7.0]), "b": np.array([2.0, 4.0, 2.0, 9.0])}
    assert paired.winners(regret) == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match="same worlds"):
        paired_difference(np.zeros(2), np.zeros(3))


NUMERAL = re.compile(r"(?<![\w.#{%-])\d[\d,./]*\d|(?<![\w.#{:-])\d(?![\w}])")
PARAMETERS = {
    *("0", "1", "2", "3", "5", "6", "10", "12", "20", "24", "25", "30", "95", "100"),  # parameters of the studies
    *("0.5", "0.3", "12345", "168", "0/1", "1/3"),  # the paper's own parameters
    *("50", "500", "0,25"),  # descriptions of families
    *("60", "90", "14", "200", "0.08"),  # settings of the limit
}


def test_no_result_is_typed_by_hand() -> None:
    """Numerals in the studies' texts and in the page are parameters of the paper or of the study, never results."""
    folder = Path(str(files("crewlearn.study").joinpath("")))
    texts: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text())
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        fields = [node for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)]
        for field in fields:  # a constant number in an f-string would be a result in disguise
            assert not (isinstance(field.value, ast.Constant) and isinstance(field.value.value, (int, float))), (
                path.name
            )
        formats = {id(part) for field in fields for part in ast.walk(field)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented | formats:
                texts.append((path.name, node.value))
    page = (folder / "report" / "templates" / "report.html").read_text()
    texts.append(("report.html", re.sub(r"<style>.*?</style>|<[^>]*>|\{[{%].*?[%}]\}", " ", page, flags=re.DOTALL)))
    for name, text in texts:
        if name in ("figures.py", "tables.py", "floors.py", "crowd.py"):  # formats, and parameters of the families
            continue
        for numeral in NUMERAL.findall(text):
            assert numeral.rstrip(".,") in PARAMETERS, (name, text)


def test_a_numeral_typed_by_hand_would_be_found() -> None:
    numerals = NUMERAL.findall("DR-UCB loses 398 and 13.4%, 1,155 in all")
    assert numerals == ["398", "13.4", "1,155"]
    assert not set(numerals) & PARAMETERS
