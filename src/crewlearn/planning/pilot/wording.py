"""Pilots in words that a manager can show to their director."""

from collections.abc import Mapping
from typing import Any

from crewlearn.advisor.ledger.pilots.sealed import NET, SealedPlan, wave_names
from crewlearn.advisor.ledger.text import counted
from crewlearn.planning.pilot.planning import PilotProposal
from crewlearn.planning.pilot.running import PilotStatus

_MEASURED = {NET: "output in money, net of fees", "output": "output in money, before fees"}


def design_lines(plan: SealedPlan) -> list[str]:
    """Return what a plan compares, when and how."""
    stations = sum(len(group.stations) for group in plan.groups)
    what = counted(len(plan.groups), "site" if len(plan.sites) > 1 else "group")
    if plan.waves == 2:
        arms = f"{plan.sizes[0]} drawn at random get advice, {plan.sizes[1]} stay with usual practice"
    else:
        arms = f"drawn at random, they turn to advice in {len(plan.steps)} steps; the last {plan.sizes[-1]} do not"
    looks = f" Early looks: {', '.join(map(str, plan.looks))}." if plan.looks else ""
    return [
        f"{what}, {counted(stations, 'station')}: {arms}.",
        f"From {plan.steps[0]} to {plan.last}; baseline from {plan.baseline}.",
        f"Compared: {_MEASURED[plan.measure]}, a station and day; the first {plan.run_in} calendar days after a group "
        "turns to advice do not count.",
        f"One analysis at the end, at level {plan.final_level:.3g}.{looks}",
    ]


def promise_lines(proposal: PilotProposal) -> list[str]:
    """Return what a pilot can show."""
    plan = proposal.plan
    lines = sealed_promise_lines(plan, proposal.usual_output)
    if proposal.gain is not None and proposal.power is not None:
        shortest = proposal.shortest
        enough = (
            f"The shortest pilot listed with {plan.promised_power:.0%}: {shortest.days} working days."
            if shortest is not None
            else f"No pilot listed has {plan.promised_power:.0%}: use more groups, or hope for more."
        )
        lines.append(f"A gain of {proposal.gain:,.2f} is shown with probability {proposal.power:.0%}. {enough}")
    return lines


def sealed_promise_lines(plan: SealedPlan, usual: float = 0.0) -> list[str]:
    """Return what a plan promises to show, and as a share of a station's usual output, if given."""
    share = f" ({plan.promised_gain / usual:.1%} of the usual {usual:,.2f})" if usual > 0 else ""
    return [
        f"A gain of {plan.promised_gain:,.2f} a station and day{share} or more is shown with probability "
        f"{plan.promised_power:.0%} or more; a smaller one may be missed.",
        f"If advice makes no difference, the pilot still shows one with probability {plan.alpha:.0%} at most.",
    ]


def arms_lines(plan: SealedPlan, waves: tuple[int, ...]) -> list[str]:
    """Return which groups are in which arm or step."""
    names: dict[str, list[str]] = {}
    for group, arm in sorted(
        zip(plan.groups, wave_names(waves, plan.waves - 1), strict=True), key=lambda pair: (pair[1], pair[0].stations)
    ):
        names.setdefault(arm, []).append(group.name)
    return [f"{arm.capitalize()}: {', '.join(groups)}." for arm, groups in names.items()]


def progress_line(status: PilotStatus) -> str:
    """Return how far a pilot is, without its effect."""
    plan = status.plan
    if status.state == "ended":
        return "The pilot has ended."
    if status.state == "given-up":
        assert status.record.ended is not None
        return f"The pilot was given up, without a result: {status.record.ended.reason}"
    if status.state == "complete":
        return "All days of the pilot are on record. End it to see the result."
    days = counted(status.recorded, "working day")
    return f"{days} of the pilot on record; it runs to {plan.last}. The effect is told at the end."


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """Return the result of a pilot: the gain with its interval, in money, and what it means."""
    low, high = result["low"], result["high"]
    confidence = f"{100 * (1 - result['level']):.4g}%"
    if low is None or high is None:
        return [f"Advice gained {result['gain']:+,.2f} a station and day; too few groups to say how sure that is."]
    ends = f"from {low:+,.2f} to {high:+,.2f}"
    if low > 0:
        verdict = "Advice paid during the pilot."
    elif high < 0:
        verdict = "Advice cost more than it brought during the pilot."
    else:
        verdict = "The pilot does not tell whether advice paid: the interval contains 0."
    second, stations = result["second"], result["stations"]
    lines = [
        verdict,
        f"Gain a station and day, {_MEASURED[result['measure']]}: {result['gain']:+,.2f} ({confidence} interval "
        f"{ends}; p = {result['p']:.3f}).",
        f"For all {counted(stations, 'station')}, a working day: {result['gain'] * stations:+,.2f} "
        f"(from {low * stations:+,.2f} to {high * stations:+,.2f}).",
    ]
    if second["low"] is not None and second["high"] is not None:
        lines.append(
            f"Beside it, {_MEASURED[second['measure']]}: {second['gain']:+,.2f} "
            f"(from {second['low']:+,.2f} to {second['high']:+,.2f}). This was not the question of the plan."
        )
    if result["departures"]:
        came = counted(result["departures"], "person", "people")
        lines.append(f"{came} came by advice to groups in usual practice, against the plan; they count as usual.")
    return lines
