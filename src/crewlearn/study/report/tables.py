"""A study's rows as text tables for the terminal, report and LaTeX, and as flat CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crewlearn.study.lab import counted
from crewlearn.study.leaderboard import Leaderboard
from crewlearn.study.outcome import MEASURES, Measure, Number, Outcome, Part, StudyRow
from crewlearn.study.paired import Comparison

NONE = "–"

MOST_MEASURES = 5
"""Upper limit on the measures in a table, so that it fits a page."""


@dataclass(frozen=True)
class TextTable:
    """A titled text table; the first `words` columns are names, the rest numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


def tables_of(part: Part) -> list[TextTable]:
    """Return a part's tables: first measures that the paper prints too, then all other measures side by side."""
    beside: list[str] = []
    alone: list[str] = []
    for measure in dict.fromkeys(name for row in part.rows for name in row.numbers):
        rows = [row for row in part.rows if measure in row.numbers]
        printed = any(row.numbers[measure].paper is not None for row in rows)
        (beside if printed else alone).append(measure)
    tables = [table for measure in beside for table in _beside_paper(part, measure)]
    for first in range(0, len(alone), MOST_MEASURES):
        tables.append(_side_by_side(part, alone[first : first + MOST_MEASURES]))
    if part.comparisons:
        tables.append(comparison_table(part.comparisons))
    return tables


def _beside_paper(part: Part, measure: str) -> list[TextTable]:
    """Return a table for each setting if each has several checkpoints, else a single table."""
    rows = [row for row in part.rows if measure in row.numbers]
    settings = list(dict.fromkeys(row.setting for row in rows))
    per_setting = len(settings) > 1 and all(
        len({row.at for row in rows if row.setting == setting}) > 1 for setting in settings
    )
    groups = [[row for row in rows if row.setting == setting] for setting in settings] if per_setting else [rows]
    kind = MEASURES[measure]
    tables = []
    for group in groups:
        names, lead = _leading_columns(group)
        title = f"{kind.title.capitalize()}, {group[0].setting}" if per_setting else kind.title.capitalize()
        body = [(*words, *_cells(row.numbers[measure], kind)) for words, row in zip(lead, group, strict=True)]
        tables.append(TextTable(title, (*names, "paper", "ours", "difference", "z"), tuple(body), len(names)))
    return tables


def _side_by_side(part: Part, measures: Sequence[str]) -> TextTable:
    rows = [row for row in part.rows if any(measure in row.numbers for measure in measures)]
    names, lead = _leading_columns(rows)
    body = [
        (
            *words,
            *(
                _ours(row.numbers[measure], MEASURES[measure]) if measure in row.numbers else NONE
                for measure in measures
            ),
        )
        for words, row in zip(lead, rows, strict=True)
    ]
    titles = [MEASURES[measure].title for measure in measures]
    title = ", ".join(titles)
    return TextTable(title[0].upper() + title[1:], (*names, *titles), tuple(body), len(names))


def conventions_table(outcome: Outcome) -> TextTable | None:
    """Return the study's main numbers under both conventions side by side, or None if only one was run."""
    by_name = {
        part.conventions: {(row.policy, row.setting, row.at): row for row in part.rows}
        for part in outcome.parts.values()
    }
    if by_name.keys() != {"as-released", "as-written"}:
        return None
    released, written = by_name["as-released"], by_name["as-written"]
    shared = [key for key in released if key in written]
    names, lead = _leading_columns([released[key] for key in shared])
    body = []
    for words, key in zip(lead, shared, strict=True):
        measure, number = next(iter(released[key].numbers.items()))
        other, kind = written[key].numbers[measure], MEASURES[measure]
        difference = signed(other.ours.mean - number.ours.mean, kind.form)
        body.append((*words, _ours(number, kind), _ours(other, kind), difference))
    title = f"{MEASURES[measure].title.capitalize()} as released and as written"
    return TextTable(title, (*names, "as released", "as written", "difference"), tuple(body), len(names))


def comparison_table(comparisons: Sequence[Comparison]) -> TextTable:
    """Return paired differences in regret as a table."""
    shown = len({comparison.setting for comparison in comparisons}) > 1
    body = [
        (
            comparison.policy,
            comparison.rival,
            *((comparison.setting,) if shown else ()),
            signed(comparison.difference, "{:,.1f}"),
            f"{signed(comparison.low, '{:,.1f}')} to {signed(comparison.high, '{:,.1f}')}"
            if comparison.runs > 1
            else NONE,
            f"{comparison.wins:,}",
            f"{comparison.losses:,}",
        )
        for comparison in comparisons
    ]
    head = ("policy", "against", *(("setting",) if shown else ()))
    worlds = counted(comparisons[0].runs, "world")
    at = " and ".join(dict.fromkeys(str(comparison.at) for comparison in comparisons))
    title = f"Paired difference in regret after period {at}, in the same {worlds}"
    return TextTable(title, (*head, "difference", "95% interval", "wins", "losses"), tuple(body), len(head))


def _leading_columns(rows: Sequence[StudyRow]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the names and values of the leading columns: the policy and whatever else differs between rows."""
    every = {
        "policy": [row.policy for row in rows],
        "setting": [row.setting for row in rows],
        "at": [str(row.at) for row in rows],
    }
    names = [name for name, values in every.items() if name == "policy" or len(set(values)) > 1]
    if {"setting", "at"} <= set(names) and len(set(zip(every["setting"], every["at"], strict=True))) == len(
        set(every["setting"])
    ):
        names.remove("at")  # the setting determines it
    return names, list(zip(*(every[name] for name in names), strict=True))


def _cells(number: Number, measure: Measure) -> tuple[str, str, str, str]:
    paper = NONE if number.paper is None else _plus_minus(number.paper.mean, number.paper.std, measure)
    ours = _ours(number, measure)
    difference = NONE if number.difference is None else signed(number.difference, measure.form)
    return paper, ours, difference, NONE if number.z is None else signed(number.z, "{:.1f}")


def signed(value: float, form: str) -> str:
    """Format a difference with its sign, except if it rounds to zero.

    >>> signed(3.2, "{:.0f}"), signed(-3.2, "{:.0f}"), signed(-0.2, "{:.0f}")
    ('+3', '−3', '0')
    """
    text, nothing = form.format(abs(value)), form.format(0.0)
    return text if text == nothing else ("+" if value > 0 else "−") + text


def _ours(number: Number, measure: Measure) -> str:
    """Format our number, with its standard deviation if it was measured more than once."""
    return _plus_minus(number.ours.mean, None if number.exact or number.runs < 2 else number.ours.std, measure)


def _plus_minus(mean: float, std: float | None, measure: Measure) -> str:
    return measure.text(mean) if std is None else f"{measure.text(mean)} ± {measure.text(std)}"


CSV_COLUMNS = (
    "study",
    "conventions",
    "policy",
    "setting",
    "at",
    "measure",
    "paper_mean",
    "paper_std",
    "ours_mean",
    "ours_std",
    "ours_stderr",
    "ours_p95",
    "difference",
    "z",
    "runs",
    "seed",
)


def to_csv(outcome: Outcome) -> str:
    """Return every number of a study as CSV, one per line, in full precision."""

    def lines() -> Iterable[tuple[object, ...]]:
        for part in outcome.parts.values():
            for row in part.rows:
                for measure, number in row.numbers.items():
                    plain = number.to_json()
                    yield (
                        outcome.study,
                        part.conventions,
                        row.policy,
                        row.setting,
                        row.at,
                        measure,
                        plain["paper_mean"],
                        plain["paper_std"],
                        number.ours.mean,
                        number.ours.std,
                        number.ours.stderr,
                        number.ours.p95,
                        number.difference,
                        number.z,
                        number.runs,
                        part.seed,
                    )

    return _csv_text(CSV_COLUMNS, lines())


def lines_to_csv(part: Part) -> dict[str, str]:
    """Return the data of each picture as CSV, one point per line, by the picture's name."""
    texts = {}
    for picture in part.pictures:
        if picture.timeline is not None:
            cycles = [(cycle.number, cycle.decided, cycle.complete, cycle.end) for cycle in picture.timeline.cycles]
            texts[picture.name] = _csv_text(("cycle", "decided", "complete", "end"), cycles)
            continue
        points = [
            (panel.title, line.label, x, y, "" if line.sd is None else line.sd[index])
            for panel in picture.panels
            for line in panel.lines
            for index, (x, y) in enumerate(zip(line.x.tolist(), line.y.tolist(), strict=True))
        ]
        texts[picture.name] = _csv_text(("panel", "line", "x", "y", "sd"), points)
    return texts


def leaderboard_csv(board: Leaderboard) -> str:
    """Return the leaderboard's numbers as CSV, one policy and setting per line."""
    columns = ("family", "setting", "policy", "mean", "std", "stderr", "p95", "relative", "over_best_rival")
    return _csv_text(
        columns,
        (
            (
                standing.family,
                standing.setting,
                name,
                *vars(score.regret).values(),
                score.relative,
                score.over_best_rival,
            )
            for standing in board.standings
            for name, score in standing.entries.items()
        ),
    )


def _csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": r"--",
    "*": r"$^*$",
}


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> latex_text("13.4% ± 0.8%")
    '13.4\\% $\\pm$ 0.8\\%'
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)


def to_latex(table: TextTable, label: str, how: str = "") -> str:
    """Return a table as LaTeX, with `how` it was made in the caption; it needs the package booktabs."""
    columns = "l" * table.words + "r" * (len(table.columns) - table.words)
    lines = [
        "\\begin{table}[t]",
        "  \\centering",
        "  \\small",
        f"  \\begin{{tabular}}{{{columns}}}",
        "    \\toprule",
        *_latex_rows([table.columns]),
        "    \\midrule",
        *_latex_rows(table.rows),
        "    \\bottomrule",
        "  \\end{tabular}",
        f"  \\caption{{{latex_text(f'{table.title}. {how}'.strip())}}}",
        f"  \\label{{tab:{label}}}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_rows(rows: Iterable[Sequence[str]]) -> list[str]:
    return ["    " + " & ".join(latex_text(cell) for cell in row) + r" \\" for row in rows]
