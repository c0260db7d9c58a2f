"""Exports of other systems, written to `tests/data/exports`: two files of each shape, and what they come to.

Run `python tests/support/exports.py` to write them again. What each file comes to is added up here from the figures as
they are drawn up, and not by reading the files.
"""

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from support.workbooks import workbook

FOLDER = Path(__file__).parents[1] / "data" / "exports"
PEOPLE = {
    "1001": ("Ann", "Ames"),
    "1002": ("Ben", "Byrd"),
    "1003": ("Carla", "Cruz"),
    "1004": ("Dirk", "van Dam"),
    "1005": ("Élise", "Étienne"),
    "1006": ("Faruk", "Öztürk"),
}
IDS = tuple(PEOPLE)


@dataclass(frozen=True)
class Shape:
    """A shape of export: the site it goes to, and the function that writes a file for some days."""

    name: str
    suffix: str
    output_range: tuple[float, float]
    write: Callable[["Draft"], bytes]
    hours_per_period: float | None = None


@dataclass
class Draft:
    """A file being drawn up: its days, a source of figures, and the output and hours of each person and day."""

    days: Sequence[date]
    chance: random.Random
    truth: dict[tuple[str, str], tuple[float | None, float | None]] = field(default_factory=dict)

    def note(self, worker: str, day: date, units: float | None, hours: float | None = None) -> None:
        self.truth[worker, day.isoformat()] = (units, hours)


def _csv(rows: Sequence[Sequence[Any]], delimiter: str = ",", encoding: str = "utf-8", above: str = "") -> bytes:
    out = io.StringIO(newline="")
    out.write(above)
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode(encoding)


def _comma(value: float, digits: int = 2, thousands: str = ".") -> str:
    return f"{value:,.{digits}f}".replace(",", "\0").replace(".", ",").replace("\0", thousands)


def _last_first(worker: str) -> str:
    first, last = PEOPLE[worker]
    return f"{last}, {first}"


def wms_labour(draft: Draft) -> bytes:
    """A labour report by employee: titles, the employee in the first row of a block only, subtotals and a total."""
    rows: list[list[Any]] = [
        ["Labor Productivity Report", "", "", "", "", "", "", ""],
        ["Facility: DC 07 Reno", "", "", "", "Run: " + draft.days[-1].strftime("%m/%d/%Y"), "", "", ""],
        [],
        ["Emp #", "Employee Name", "Work Date", "Job Function", "Lines", "Units", "Direct Hrs", "UPH"],
    ]
    everything = 0
    for worker in IDS[:4]:
        subtotal = 0
        for place, day in enumerate(draft.days):
            made = worked = 0.0
            for task in ("Case Pick", "Each Pick"):
                units, hours = draft.chance.randint(180, 420), draft.chance.choice((3.25, 3.5, 4.0))
                head = [worker, _last_first(worker)] if place == 0 and task == "Case Pick" else ["", ""]
                shown = f"{units:,}" if units >= 1000 else units
                rows.append(
                    [*head, day.strftime("%m/%d/%Y"), task, units // 6, shown, f"{hours:.2f}", f"{units / hours:.1f}"]
                )
                made, worked = made + units, worked + hours
            draft.note(worker, day, made, worked)
            subtotal += int(made)
        rows.append([f"Total for {worker}", "", "", "", subtotal // 6, f"{subtotal:,}", "", ""])
        everything += subtotal
    rows += [["Grand Total", "", "", "", everything // 6, f"{everything:,}", "", ""], [], ["*** End of report ***"]]
    return _csv(rows)


def lms_percent(draft: Draft) -> bytes:
    """Percent of standard: several functions a day, each with its own standard; a blank row for an absence."""
    header = [
        "Employee ID",
        "Employee Name",
        "Date",
        "Function",
        "Actual Units",
        "Standard Units",
        "Actual Hours",
        "% of Std",
    ]
    rows: list[list[Any]] = [header]
    for day in draft.days:
        for worker in IDS[:5]:
            if draft.chance.random() < 0.1:
                rows.append([worker, _last_first(worker), day.isoformat(), "", "", "", "", ""])
                draft.note(worker, day, None)
                continue
            made = expected = worked = 0.0
            for task, standard in (("Receiving", 300), ("Putaway", 120)):
                units, hours = int(standard * draft.chance.uniform(0.8, 1.3)), 3.75
                percent = f"{100 * units / standard:.1f}%"
                rows.append([worker, _last_first(worker), day.isoformat(), task, units, standard, hours, percent])
                made, expected, worked = made + units, expected + standard, worked + hours
            draft.note(worker, day, 100 * made / expected, worked)
    return _csv(rows)


def scanner_log(draft: Draft) -> bytes:
    """A log of scans, one a row, with moments to the second."""
    rows: list[list[Any]] = [["Timestamp", "Device", "User", "Event", "Barcode"]]
    scans = []
    for day in draft.days:
        for worker in IDS[:3]:
            count = draft.chance.randint(25, 60)
            seconds = draft.chance.sample(range(8 * 3600), count)
            begin = datetime.combine(day, time(6))
            scans += [(begin + timedelta(seconds=second), f"u{worker}") for second in seconds]
            draft.note(f"u{worker}", day, count)
    for number, (moment, user) in enumerate(sorted(scans)):
        rows.append([moment.isoformat(), f"RF{number % 4}", user, "PICK_CONFIRM", 4006381000000 + number % 97])
    return _csv(rows, "\t")


def call_centre(draft: Draft) -> bytes:
    """Mean handle time by agent and skill, in minutes and seconds; agents by name only."""
    rows: list[list[Any]] = [["Agent", "Date", "Skill", "Calls Handled", "Avg Handle Time", "Avg Hold Time"]]
    for day in draft.days:
        for worker in IDS[:4]:
            total = calls = 0
            for skill in ("Billing", "Sales"):
                handled, seconds = draft.chance.randint(15, 40), draft.chance.randint(240, 520)
                clock = f"{seconds // 60:02}:{seconds % 60:02}"
                rows.append([_last_first(worker), day.strftime("%d-%b-%Y"), skill, handled, clock, "00:21"])
                total, calls = total + handled * seconds, calls + handled
            draft.note(" ".join(PEOPLE[worker]).casefold(), day, total / calls)
    rows.append(["Average", "", "", "", "06:10", "00:21"])
    return _csv(rows)


def sewing_bundles(draft: Draft) -> bytes:
    """Bundle tickets: many a day, of several operations; the last ticket of the file is there twice."""
    rows: list[list[Any]] = [["Ticket No", "Bundle", "Operator No", "Operator", "Operation", "SAM", "Pcs", "Sewn On"]]
    number = 70_000 + draft.days[0].toordinal() % 1000
    for day in draft.days:
        for worker in IDS[:4]:
            made = 0
            for _ in range(draft.chance.randint(5, 9)):
                number, pieces = number + 1, draft.chance.choice((18, 20, 24, 30))
                operation, sam = draft.chance.choice((("Collar join", 0.62), ("Side seam", 0.85)))
                rows.append(
                    [
                        number,
                        f"B{number % 311}",
                        worker,
                        " ".join(PEOPLE[worker]),
                        operation,
                        sam,
                        pieces,
                        f"{day:%d/%m/%Y}",
                    ]
                )
                made += pieces
            draft.note(worker, day, made)
    rows.append(list(rows[-1]))
    return _csv(rows)


def agency_timesheet(draft: Draft) -> bytes:
    """A timesheet of temporary workers: names in two columns, times in and out, a break, and pieces."""
    rows: list[list[Any]] = [
        ["Weekly Timesheet – Agency Workers"],
        ["Client", "Packright Ltd", "", "Week ending", draft.days[-1]],
        [],
        ["First Name", "Last Name", "Date", "Time In", "Time Out", "Break (min)", "Pieces", "Approved By"],
    ]
    for worker in IDS[1:5]:
        for day in draft.days:
            minutes, pieces = draft.chance.choice((450, 480, 510)), draft.chance.randint(300, 700)
            end = (datetime.combine(day, time(7)) + timedelta(minutes=minutes)).time()
            rows.append([*PEOPLE[worker], day, time(7), end, 30, pieces, "J. Boss"])
            draft.note(" ".join(PEOPLE[worker]).casefold(), day, pieces, (minutes - 30) / 60)
    return workbook(rows, ["A1:H1"], "Timesheet")


def dutch(draft: Draft) -> bytes:
    """Dutch: semicolons, decimal commas, days first, who was ill, and a total."""
    rows: list[list[Any]] = [
        ["Personeelsnr.", "Naam medewerker", "Datum", "Afdeling", "Aantal stuks", "Gewerkte uren", "Opmerking"]
    ]
    total = 0
    for day in draft.days:
        for worker in IDS[2:6]:
            head = [worker, _last_first(worker), day.strftime("%d-%m-%Y"), "Inpak"]
            if draft.chance.random() < 0.12:
                rows.append([*head, "", "", "ziek"])
                draft.note(worker, day, None)
                continue
            made, hours = draft.chance.randint(900, 1400), draft.chance.choice((7.5, 7.75, 8.0))
            rows.append([*head, f"{made:,}".replace(",", "."), _comma(hours), ""])
            draft.note(worker, day, made, hours)
            total += made
    rows.append(["Totaal", "", "", "", f"{total:,}".replace(",", "."), "", ""])
    return _csv(rows, ";", "utf-8-sig")


def german(draft: Draft) -> bytes:
    """German: Windows-1252, a title, day subtotals, good and bad pieces."""
    rows: list[list[Any]] = [["Personal-Nr.", "Mitarbeiter", "Datum", "Gutmenge Stück", "Ausschuss", "Stunden"]]
    for day in draft.days:
        total = 0.0
        for worker in IDS[:4]:
            made, hours = draft.chance.randint(9000, 16000) / 10, 7.6
            rows.append([worker, _last_first(worker), day.strftime("%d.%m.%Y"), _comma(made, 1), "3", _comma(hours, 1)])
            draft.note(worker, day, made, hours)
            total += made
        rows.append(["", "Zwischensumme", day.strftime("%d.%m.%Y"), _comma(total, 1), "12", ""])
    return _csv(rows, ";", "cp1252", "Leistungsübersicht Halle 3\r\n\r\n")


def us(draft: Draft) -> bytes:
    """American: months first, in days that could be read either way, and thousands with commas."""
    rows: list[list[Any]] = [["Badge", "Name", "Shift Date", "Qty Produced", "Hours Worked"]]
    for day in draft.days:
        for worker in IDS[:4]:
            made, hours = draft.chance.randint(950, 1700), draft.chance.choice((7.5, 8.0))
            rows.append([worker, " ".join(PEOPLE[worker]), f"{day.month}/{day.day}/{day.year}", f"{made:,}", hours])
            draft.note(worker, day, made, hours)
    return _csv(rows)


def french(draft: Draft) -> bytes:
    """French: accents, thousands with narrow spaces, hours as 7h30, and a total."""
    rows: list[list[Any]] = [
        ["Matricule", "Nom", "Prénom", "Date", "Atelier", "Quantité produite", "Heures travaillées"]
    ]
    total = 0.0
    for day in draft.days:
        for worker in IDS[:5]:
            first, last = PEOPLE[worker]
            made, (shown, hours) = (
                draft.chance.randint(9000, 15000) / 10,
                draft.chance.choice((("7h30", 7.5), ("8h00", 8.0))),
            )
            rows.append([worker, last, first, day.strftime("%d/%m/%Y"), "Montage", _comma(made, 1, "\u202f"), shown])
            draft.note(worker, day, made, hours)
            total += made
    rows.append(["Total général", "", "", "", "", _comma(total, 1, "\u202f"), ""])
    return _csv(rows, ";")


def merged_title(draft: Draft) -> bytes:
    """A workbook with a title over all columns, numbers as ids, dates as dates, and a formula-like total line."""
    rows: list[list[Any]] = [
        ["Daily Production – Line 4"],
        [f"Period: {draft.days[0]:%d %b %Y} to {draft.days[-1]:%d %b %Y}"],
        [],
        ["Operator ID", "Operator Name", "Date", "Produced", "Rejects", "Hours"],
    ]
    total = 0
    for day in draft.days:
        for worker in IDS[:4]:
            made = draft.chance.randint(400, 900)
            rows.append([int(worker), _last_first(worker), day, made, draft.chance.randint(0, 9), 7.5])
            draft.note(worker, day, made, 7.5)
            total += made
    rows.append(["Total", None, None, total, None, None])
    return workbook(rows, ["A1:F1", "A2:F2"], "Production")


def two_areas(draft: Draft) -> bytes:
    """Two areas a day, with an hour of meetings that has no units."""
    rows: list[list[Any]] = [["Date", "Associate ID", "Area", "Units", "Hours"]]
    for day in draft.days:
        for worker in IDS[:5]:
            made = worked = 0.0
            for area in ("Pick", "Pack"):
                units, hours = draft.chance.randint(120, 300), draft.chance.choice((3.0, 3.5, 4.0))
                rows.append([day.isoformat(), worker, area, units, hours])
                made, worked = made + units, worked + hours
            draft.note(worker, day, made, worked)
    return _csv(rows)


def night_shifts(draft: Draft) -> bytes:
    """A night shift from ten to six: date and time apart, quantities a row, days that change at midnight."""
    rows: list[list[Any]] = [["Trans Date", "Trans Time", "User ID", "Transaction Type", "Qty"]]
    booked = []
    for day in draft.days:
        for worker in IDS[:3]:
            made = 0
            for minute in sorted(draft.chance.sample(range(480), 12)):
                moment, pieces = (
                    datetime.combine(day, time(22)) + timedelta(minutes=minute),
                    draft.chance.randint(5, 30),
                )
                booked.append((moment, worker, pieces))
                made += pieces
            draft.note(worker, day, made)
    for moment, worker, pieces in sorted(booked):
        rows.append([moment.strftime("%Y%m%d"), moment.strftime("%H:%M:%S"), worker, "PICK", pieces])
    return _csv(rows, "|")


SHAPES = (
    Shape("wms_labour", "csv", (0, 1200), wms_labour),
    Shape("lms_percent", "csv", (50, 150), lms_percent),
    Shape("scanner_log", "txt", (0, 100), scanner_log),
    Shape("call_centre", "csv", (700, 150), call_centre),
    Shape("sewing_bundles", "csv", (0, 300), sewing_bundles),
    Shape("agency_timesheet", "xlsx", (0, 120), agency_timesheet, 8.0),
    Shape("dutch", "csv", (500, 2000), dutch),
    Shape("german", "csv", (500, 2000), german),
    Shape("us", "csv", (500, 2000), us),
    Shape("french", "csv", (500, 2000), french),
    Shape("merged_title", "xlsx", (0, 1000), merged_title),
    Shape("two_areas", "csv", (0, 900), two_areas),
    Shape("night_shifts", "txt", (0, 500), night_shifts),
)
WEEKS = (date(2026, 2, 2), date(2026, 2, 9))


def drafted(shape: Shape, week: int) -> tuple[Draft, bytes]:
    """Return a file of a shape for the first or second week, with what it comes to."""
    days = [WEEKS[week] + timedelta(days=day) for day in range(4)]
    draft = Draft(days, random.Random(f"{shape.name} {week}"))
    return draft, shape.write(draft)


def path_of(shape: Shape, week: int) -> Path:
    """Return where a file of a shape is."""
    return FOLDER / f"{shape.name}_{WEEKS[week]}.{shape.suffix}"


def write_all() -> None:
    """Write every file, and beside them what they come to."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected: dict[str, list[list[Any]]] = {}
    for shape in SHAPES:
        for week in range(len(WEEKS)):
            draft, data = drafted(shape, week)
            path = path_of(shape, week)
            path.write_bytes(data)
            expected[path.name] = [[worker, day, *values] for (worker, day), values in draft.truth.items()]
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows, ensure_ascii=False)}" for name, rows in expected.items())
    (FOLDER / "expected.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    write_all()
