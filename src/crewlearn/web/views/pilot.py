"""A pilot as its page shows it: how far it is, its groups, and the report with the result as a picture."""

from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor.ledger.pilots.sealed import wave_names
from crewlearn.advisor.wording.sections import Section
from crewlearn.language import _, localized, noted
from crewlearn.planning.pilot.report import report
from crewlearn.planning.pilot.running import PilotStatus
from crewlearn.planning.pilot.wording import progress_line, result_lines
from crewlearn.web import formats
from crewlearn.web.views.charts import axis, scale_over, spread

STATES = {
    "running": noted("under way"),
    "complete": noted("ready for its analysis"),
    "ended": noted("ended"),
    "given-up": noted("given up"),
}


@dataclass(frozen=True)
class PilotView:
    """A pilot: `saying` is its main sentence, `done` the working days on record, `arms` pairs of group and arm.

    `picture` draws the gain with its interval, over `axis`; None as long as there is no result.
    """

    state: str
    chip: str
    saying: str
    days: str
    done: int
    arms: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    digest: str
    look_due: bool
    may_end: bool
    over: bool
    picture: Markup | None
    axis: Markup | None
    gain: str
    interval: str
    several: bool


def pilot_view(status: PilotStatus) -> PilotView:
    """Return a pilot as its page shows it."""
    plan, ended = status.plan, status.record.ended
    result = None if ended is None else ended.result
    saying = progress_line(status) if result is None else result_lines(result)[0]
    picture, scale_axis, gain, interval = None, None, "", ""
    if result is not None and result["low"] is not None and result["high"] is not None:
        scale = scale_over([0.0, result["low"], result["high"]], 4)
        picture = spread(scale, result["gain"], (result["low"], result["high"]))
        scale_axis = axis(scale, [formats.money(tick, sign=True) for tick in scale.ticks])
        gain = f"{result['gain']:+,.2f}"
        interval = _(
            "{level}% interval {low} to {high}",
            level=localized(f"{100 * (1 - result['level']):.4g}"),
            low=localized(f"{result['low']:+,.2f}"),
            high=localized(f"{result['high']:+,.2f}"),
        )
    return PilotView(
        state=status.state,
        chip=_(STATES[status.state]),
        saying=saying,
        days=_("{steps} to {last}", steps=formats.day(plan.steps[0]), last=formats.day(plan.last)),
        done=status.recorded,
        arms=tuple(
            (group.name, arm) for group, arm in zip(plan.groups, wave_names(status.waves, plan.waves - 1), strict=True)
        ),
        sections=report(status),
        digest=status.record.started.digest,
        look_due=status.look_due,
        may_end=ended is None and (status.complete or any(look.stop for look in status.record.looks)),
        over=ended is not None,
        picture=picture,
        axis=scale_axis,
        gain=gain,
        interval=interval,
        several=len(plan.sites) > 1,
    )
