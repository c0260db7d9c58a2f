"""The report of a pilot, for those who decide on it: question, design, draw, seal and result."""

from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.sections import Section
from crewlearn.planning.pilot.running import PilotStatus
from crewlearn.planning.pilot.wording import (
    arms_lines,
    design_lines,
    progress_line,
    result_lines,
    sealed_promise_lines,
)


def report(status: PilotStatus) -> tuple[Section, ...]:
    """Return the parts of a pilot's report; before the end they are the protocol, without the effect."""
    return (
        Section("The question", _question(status)),
        Section("The answer" if status.state == "ended" else "How far it is", _answer(status)),
        Section("The design", (*design_lines(status.plan), *sealed_promise_lines(status.plan))),
        Section("The draw", _draw(status)),
        Section("Sealed beforehand", _seal(status)),
        Section("What happened meanwhile", _events(status)),
        Section("What it cannot rule out", _doubts(status)),
    )


def _question(status: PilotStatus) -> tuple[str, ...]:
    sites = status.plan.sites
    where = sites[0] if len(sites) == 1 else f"{', '.join(sites[:-1])} and {sites[-1]}"
    return (f"Does it pay, at {where}, to follow the advice on whom to keep and replace, instead of usual practice?",)


def _answer(status: PilotStatus) -> tuple[str, ...]:
    ended = status.record.ended
    if ended is None or ended.result is None:
        return (progress_line(status),)
    return tuple(result_lines(ended.result))


def _draw(status: PilotStatus) -> tuple[str, ...]:
    return (
        *arms_lines(status.plan, status.waves),
        f"Chance alone decided. The draw follows from the seed {status.record.started.seed} and the plan, so that "
        "anybody can repeat it.",
    )


def _seal(status: PilotStatus) -> tuple[str, ...]:
    record = status.record
    return (
        f"The design, the measure and the one analysis were fixed on {record.at[:10]} by {record.by}, before any "
        f"output from {status.plan.steps[0]} on was on record.",
        f"Digest of the plan (SHA-256): {record.started.digest}",
        "A later change of the plan or of the draw would show: crewlearn ledger verify checks both.",
    )


def _events(status: PilotStatus) -> tuple[str, ...]:
    came, departures = status.came
    lines = [
        f"{counted(status.recorded, 'working day')} of the pilot on record. "
        f"{counted(came, 'person', 'people')} came by advice where advice was given."
    ]
    if departures:
        lines.append(
            f"{counted(departures, 'person', 'people')} came by advice to usual practice, against the plan. They count "
            "as usual practice, which makes the gain look smaller."
        )
    if status.plan.looks:
        taken = len(status.record.looks)
        lines.append(f"{taken} of {counted(len(status.plan.looks), 'planned early look')} taken; none was unplanned.")
    return tuple(lines)


def _doubts(status: PilotStatus) -> tuple[str, ...]:
    lines = [
        "It tells of these days and these people. Other times and other places may differ.",
        "People knew where advice was followed. That may have changed how some of them worked.",
        "People stay longer than the pilot lasts, but their fees count in full. So the gain net of fees is rather too "
        "low than too high.",
    ]
    if len(status.plan.sites) == 1:
        lines.insert(
            1,
            "Both arms hired from one pool. If advice took the best people first, usual practice found fewer of them, "
            "and the difference is larger than the gain of advice for all.",
        )
    return tuple(lines)
