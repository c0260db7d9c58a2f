"""A reading in sentences, for the person who confirms it."""

from collections.abc import Sequence

from crewlearn.advisor.files.cells import shortened
from crewlearn.advisor.files.detection.layout import Layout
from crewlearn.advisor.files.detection.plan import Measure, ReadingPlan
from crewlearn.advisor.files.detection.roles import Roles
from crewlearn.advisor.files.detection.writing import Writing
from crewlearn.advisor.files.sources.stacking import StackedSheets
from crewlearn.advisor.ledger.text import some_of

_MOST_CHOICES = 3
_UNITS = {3600.0: "hours", 60.0: "minutes", 1.0: "seconds"}


def sentences_of(
    plan: ReadingPlan, layout: Layout, roles: Roles, writing: Writing, others: Sequence[Measure]
) -> list[str]:
    """Return what was found in a file, one finding a sentence."""
    matters = writing.order_matters and not plan.dates
    order = f", taken to have {_first_part(writing.order)}" if matters else ""
    return [_header(layout), *plan_sentences(plan, order, others), *_choices(roles, plan)]


def plan_sentences(plan: ReadingPlan, order: str = "", others: Sequence[Measure] = ()) -> list[str]:
    """Return a plan in sentences, with the order that dates are taken to have and other columns for the output."""
    told = [_people(plan), _days(plan, order), _output(plan, others)]
    if hours := _hours(plan):
        told.append(hours)
    if plan.carried:
        told.append("A blank worker or day stands for the one above.")
    if "attendance" in plan.columns:
        told.append(f"{_quoted(plan.columns['attendance'])} tells who was absent; blank output is an absence too.")
    if "shift" in plan.columns:
        told.append(f"{_quoted(plan.columns['shift'])} is the shift.")
    if plan.where:
        parts = (f"{_quoted(header)} is {some_of(list(values), 5)}" for header, values in plan.where)
        told.append(f"Only rows where {' and '.join(parts)} are used.")
    return told


def _first_part(order: str) -> str:
    return "the day first" if order == "day-first" else "the month first"


def _quoted(text: str) -> str:
    return f"“{shortened(text, 60)}”"


def _header(layout: Layout) -> str:
    source, line = layout.source, layout.line
    if isinstance(source, StackedSheets):
        line = source.tables[0][1]
        sheets = some_of([_quoted(sheet) for sheet in source.sheets], _MOST_CHOICES)
        place = f"line {line} of {len(source.sheets)} sheets that are read together ({sheets})"
    else:
        place = f"sheet {_quoted(source.sheet)}, line {line}" if source.sheet else f"line {line}"
    above = "; the lines above it are skipped" if line > 1 else ""
    shape = {
        "days across": " Days stand side by side, each in a column.",
        "blocks across": " Columns repeat, once for each area or day.",
        "header in two lines": " It takes two lines, which are joined.",
        "people as headings": " People stand as headings above their rows.",
    }.get(source.shape, "")
    return f"The header is in {place}{above}.{shape}"


def _people(plan: ReadingPlan) -> str:
    columns = plan.columns
    name = columns.get("name") or " and ".join(columns[part] for part in ("first", "last") if part in columns)
    if "worker_id" not in columns:
        return f"{_quoted(name)} is the worker; there is no id, so the name serves as one."
    written = {"id name": ", each with a name", "name id": ", each after a name"}.get(plan.id_form, "")
    told = f"{_quoted(columns['worker_id'])} is the worker's id{written}"
    return f"{told}, and {_quoted(name)} the name." if name else f"{told}."


def _days(plan: ReadingPlan, order: str) -> str:
    if "date" not in plan.columns:
        return f"{_quoted(plan.columns['period'])} is the period."
    told = f"{_quoted(plan.columns['date'])} is the day{f', with {_first_part(plan.dates)}' if plan.dates else order}"
    if "time" in plan.columns:
        told += f", with the time in {_quoted(plan.columns['time'])}"
    if plan.cutoff is not None:
        told += f"; what happens before {plan.cutoff}:00 belongs to the day before, as the work goes on over midnight"
    return told + "."


def measure_words(measure: Measure) -> str:
    """Return what is taken for the output, in words."""
    of, per = _quoted(measure.of), _quoted(measure.per)
    if measure.kind == "count":
        return "the number of rows"
    if measure.kind == "mean":
        scaled = {100.0: ", times 100", 0.01: ", as a share"}.get(measure.scale, "")
        clock = f", in {_UNITS[measure.clock]}" if measure.clock != 1.0 else ""
        return f"the mean of {of}{f', weighted by {per}' if measure.per else ''}{scaled}{clock}"
    if measure.kind == "ratio":
        return f"{of} in percent of {per}" if measure.scale == 100.0 else f"{of} divided by {per}"
    if measure.kind == "product":
        return f"the sum of {of} times {per}"
    return f"the sum of {of}"


def _output(plan: ReadingPlan, others: Sequence[Measure]) -> str:
    told = f"A day's output is {measure_words(plan.measure)}"
    chosen = plan.measure.of
    choices = list(dict.fromkeys(other.of for other in others if other.of and other.of != chosen))[:_MOST_CHOICES]
    if choices:
        listed = " or ".join(_quoted(choice) for choice in choices)
        told += f"; {listed} would be taken with `map=units={choices[0]}`"
    return told + "."


def _hours(plan: ReadingPlan) -> str:
    columns = plan.columns
    if "hours" in columns:
        unit = "" if plan.hours_unit == 3600.0 else f", in {_UNITS.get(plan.hours_unit, 'other units')}"
        return f"Hours are the sum of {_quoted(columns['hours'])}{unit}."
    if "start" in columns and "end" in columns:
        pause = f", less {_quoted(columns['break'])}" if "break" in columns else ""
        return f"Hours run from {_quoted(columns['start'])} to {_quoted(columns['end'])}{pause}."
    return ""


def _choices(roles: Roles, plan: ReadingPlan) -> list[str]:
    """Return which areas or tasks are added up, and how to take one of them alone."""
    filtered = {header for header, _ in plan.where}
    told = []
    for column in roles.categories:
        values = list(dict.fromkeys(cell.strip() for cell in column.cells))
        if column.fit("category") >= 0.5 and 2 <= len(values) <= 12 and column.header not in filtered:
            listed = some_of([shortened(value, 30) for value in values], 4)
            alone = f"`where={column.header}={values[0]}` takes one alone"
            told.append(f"{_quoted(column.header)} has {listed}: all are added up; {alone}.")
    return told[:2]
