"""A reading is proposed: what a file holds, as far as it can be told, with a sentence for each finding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from crewlearn.advisor.files.cells import CellRefused, DateOrder, Decimal, key_of, shortened
from crewlearn.advisor.files.detection.layout import Layout, find_layout
from crewlearn.advisor.files.detection.measures import Candidate, candidates, fit, hours_unit
from crewlearn.advisor.files.detection.plan import Measure, ReadingPlan
from crewlearn.advisor.files.detection.roles import Roles, find_roles
from crewlearn.advisor.files.detection.row_reader import shift_number
from crewlearn.advisor.files.detection.sentences import sentences_of
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.summing import sum_rows
from crewlearn.advisor.files.detection.words.values import is_blank, moment_of, number_parser, time_of_day
from crewlearn.advisor.files.detection.writing import Writing, writing_of
from crewlearn.advisor.files.errors.file_errors import CsvErrors, ErrorCollector
from crewlearn.advisor.files.errors.grouping import CsvError
from crewlearn.advisor.files.sources.source import Source
from crewlearn.problem.errors import InvalidInput

_TRIED_ROWS = 20_000
_TRIED_MEASURES = 40
"""The most ways to take the output that are tried on the rows; the others rank behind, by their words."""
Filter = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Wishes:
    """What the caller says about a file: headers by column, how it is written, and which rows count."""

    mapping: Mapping[str, str]
    decimal: Decimal | None = None
    dates: DateOrder | None = None
    where: Filter = ()


@dataclass(frozen=True)
class ProposedReading:
    """A plan for a file, the table it was found in, how that is written, and the plan in sentences."""

    plan: ReadingPlan
    layout: Layout
    writing: Writing
    sentences: tuple[str, ...]


def propose(what: str, sources: Sequence[Source], site: SiteView, wishes: Wishes) -> ProposedReading:
    """Return how a file can be read, or raise `CsvErrors` if its day, worker or output is not found."""
    layout = find_layout(sources)
    _check_headers(what, layout, wishes)
    roles = find_roles(layout, site, wishes.mapping)
    _check_found(what, layout, roles)
    columns = {role: column.header for role, column in roles.columns.items() if role != "units"}
    numeric = [column.at for column in (*roles.rest, *roles.columns.values()) if column.numbers >= 0.5]
    dated = [roles.columns[role].at for role in ("date",) if role in roles.columns]
    writing = writing_of(layout.source, layout.body(), numeric, dated, site.today)
    decimal = wishes.decimal or writing.decimal
    plan = ReadingPlan(
        columns,
        sheet=layout.source.sheet,
        shape=layout.source.shape,
        header_line=layout.line,
        categories=tuple(column.header for column in roles.categories),
        where=_with_headers(layout, wishes.where),
        decimal=wishes.decimal or (writing.decimal if writing.decimal_certain else None),
        dates=wishes.dates or (writing.order if writing.order_certain else None),
        hours_unit=_hours_unit(roles, decimal),
        shifts=_shifts(roles),
        carried=_is_carried(layout, roles),
        id_form=roles.id_form,
    )
    plan = replace(plan, cutoff=_cutoff(layout, plan, writing, site))
    tried = list(islice(layout.body(), _TRIED_ROWS))
    ranked = _ranked(candidates(roles, site, "units" in wishes.mapping), plan, layout, writing, site, tried)
    if not ranked:
        here = shortened(", ".join(layout.headers), 200)
        expected = "a column with the output; say with `map=units=HEADER` which it is"
        raise CsvErrors(what, [CsvError(layout.line, "units", here, expected)], 1)
    plan = replace(plan, measure=ranked[0])
    told = sentences_of(plan, layout, roles, writing, ranked[1:])
    return ProposedReading(plan, layout, writing, tuple(told))


def plan_layout(
    plan: ReadingPlan, layout: Layout, site: SiteView, decimal: Decimal | None = None, dates: DateOrder | None = None
) -> tuple[ReadingPlan, Writing]:
    """Return a plan for another file of the same shape, with how that file is written."""
    plan = replace(plan, decimal=decimal or plan.decimal, dates=dates or plan.dates)
    if layout.source.decimal:  # numbers of a workbook are written by us
        plan = replace(plan, decimal="," if layout.source.decimal == "," else ".")
    places = layout.places
    headers = [plan.measure.of, plan.measure.per, plan.columns.get("hours", "")]
    numeric = [places[key_of(header)] for header in headers if header]
    dated = [places[key_of(plan.columns["date"])]] if "date" in plan.columns else []
    return plan, writing_of(layout.source, layout.body(), numeric, dated, site.today)


def _check_headers(what: str, layout: Layout, wishes: Wishes) -> None:
    """Refuse headers that the caller names and the file does not have."""
    here = shortened(", ".join(layout.headers), 200)
    named = [(role, header) for role, header in wishes.mapping.items() if header.strip()]
    for role, header in [*named, *(("where", header) for header, _ in wishes.where)]:
        if key_of(header) not in layout.places:
            raise CsvErrors(
                what, [CsvError(layout.line, role, header, f"a header that the file has; it has {here!r}")], 1
            )


def _check_found(what: str, layout: Layout, roles: Roles) -> None:
    """Raise an error for each column that a file cannot do without and that was not found."""
    here = shortened(", ".join(layout.headers), 200)
    errors = ErrorCollector(what)
    if "date" not in roles.columns and "period" not in roles.columns:
        errors.add(layout.line, "date", here, "a column of dates; say with `map=date=HEADER` which it is")
    if not {"worker_id", "name", "last"} & roles.columns.keys():
        errors.add(layout.line, "worker_id", here, "a column of workers; say with `map=worker_id=HEADER` which it is")
    errors.raise_any()


def _with_headers(layout: Layout, where: Filter) -> Filter:
    """Return a filter with the headers as the file writes them."""
    return tuple((layout.headers[layout.places[key_of(header)]], values) for header, values in where)


def _hours_unit(roles: Roles, decimal: Decimal) -> float:
    column, parse = roles.columns.get("hours"), number_parser(decimal)
    numbers = []
    for cell in () if column is None else column.cells:
        try:
            value = parse(cell)
        except CellRefused:  # such a cell does not tell the unit
            continue
        if value:
            numbers.append(value)
    return hours_unit(column, numbers)


def _shifts(roles: Roles) -> dict[str, int]:
    column = roles.columns.get("shift")
    named = {} if column is None else {key_of(cell): shift_number(cell) for cell in column.cells}
    return {name: number for name, number in named.items() if number is not None and not name.isdigit()}


def _is_carried(layout: Layout, roles: Roles) -> bool:
    """Return whether the worker or day stands only in the first of several rows.

    In such a file the same worker never stands in two rows in a row. Our own exports have blank ids where people were
    erased; those are never taken for somebody else's.
    """
    people = [roles.columns[role].at for role in ("worker_id", "name", "last") if role in roles.columns]
    days = [roles.columns["date"].at] if "date" in roles.columns else []
    if not people or layout.headers[people[0]] == "worker_id":
        return False
    others = [column.at for column in roles.rest if column.numbers >= 0.5]
    rows = [cells for _, cells in layout.rows if any(not is_blank(cells[at]) for at in others)]
    return any(places and _is_in_blocks(rows, places) for places in (people, days))


def _is_in_blocks(rows: Sequence[Sequence[str]], places: Sequence[int]) -> bool:
    """Return whether these cells are filled in the first row of each block only."""
    texts = [" ".join(cells[at].strip() for at in places).strip() for cells in rows]
    filled = [text for text in texts if not is_blank(text)]
    if len(texts) < 4 or not filled or is_blank(texts[0]) or len(filled) > 0.6 * len(texts):
        return False
    return all(one != other for one, other in pairwise(filled))


def _cutoff(layout: Layout, plan: ReadingPlan, writing: Writing, site: SiteView) -> int | None:
    """Return the hour at which days should change, if work goes on at midnight and rests at another time.

    The site's own hour is used if it has one.
    """
    if site.calendar.cutoff_hour or not (writing.timed or "time" in plan.columns) or "date" not in plan.columns:
        return None
    day_at = layout.places[key_of(plan.columns["date"])]
    clock_at = layout.places[key_of(plan.columns["time"])] if "time" in plan.columns else -1
    hours = [0] * 24
    for _, cells in islice(layout.body(), _TRIED_ROWS):
        moment = moment_of(cells[day_at], writing.order)
        clock = time_of_day(cells[clock_at]) if clock_at >= 0 else moment[1] if moment is not None else None
        if clock is not None:
            hours[clock.hour] += 1
    few = 0.002 * sum(hours)
    busy = [count > few for count in hours]
    if not (busy[23] and (busy[0] or busy[1])):
        return None
    quiet = [hour for hour in range(1, 20) if not busy[hour]]
    runs = [[hour] for hour in quiet if hour - 1 not in quiet]
    for run in runs:
        while run[-1] + 1 in quiet:
            run.append(run[-1] + 1)
    longest = max(runs, key=len, default=[])
    return longest[len(longest) // 2] if len(longest) >= 2 else None


def _ranked(
    found: Sequence[Candidate],
    plan: ReadingPlan,
    layout: Layout,
    writing: Writing,
    site: SiteView,
    rows: Sequence[tuple[int, list[str]]],
) -> list[Measure]:
    """Return the ways to take the output, the best first: by their words, and by how well they fit the range."""
    scored = []
    by_words = sorted(range(len(found)), key=lambda place: -found[place].words)
    for place in by_words[:_TRIED_MEASURES]:
        candidate = found[place]
        score = candidate.words
        if len(found) > 1:
            tried = replace(plan, measure=candidate.measure)
            copies = ((line, list(cells)) for line, cells in rows)
            errors = ErrorCollector("")
            days = sum_rows(layout, copies, tried, writing, site, errors).rows
            score += fit(days, site) - 2.0 * errors.total / max(1, len(rows))
        scored.append((-score, place, candidate.measure))
    others = [found[place].measure for place in by_words[_TRIED_MEASURES:]]
    return [measure for _, _, measure in sorted(scored, key=lambda entry: entry[:2])] + others


def parse_filter(conditions: Sequence[str] | None) -> Filter:
    """Parse conditions such as `Area=Pick`; several for one header mean any of their values.

    >>> parse_filter(["Area = Pick", "Area=Pack", "Shift=Day"])
    (('Area', ('Pick', 'Pack')), ('Shift', ('Day',)))
    """
    found: dict[str, list[str]] = {}
    for text in conditions or ():
        header, equals, value = text.partition("=")
        if not equals or not header.strip():
            raise InvalidInput("where", text, "is written HEADER=VALUE, such as Area=Pick")
        found.setdefault(header.strip(), []).append(value.strip())
    return tuple((header, tuple(values)) for header, values in found.items())
