"""A notice to the people at a site: what is recorded about them, how it is used, who decides, and what they may ask."""

from datetime import date

from crewlearn.advisor.advice.readings import has_readings
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.wording.sections import PrintedText, Section
from crewlearn.language import _, plural

BLANK = "______________________________"
"""Where a name is filled in by hand."""


def worker_notice(name: str, site: Site, on: date, contact: str = "") -> PrintedText:
    """Return the notice of a site, as its settings are; `contact` is whom to ask, by default a line to fill in."""
    return PrintedText(
        _("{name}: what we record about your work, and how it is used", name=name),
        _(
            "For everybody who works at {name}. As things are set up on {day}.",
            name=name,
            day=on.isoformat(),
        ),
        (
            Section(_("What is recorded"), _recorded(site)),
            Section(_("How it is used"), _used(site)),
            Section(_("Who decides"), _decides()),
            Section(_("Where it can be wrong"), _doubts(site)),
            Section(_("How long it is kept"), _kept(site.config)),
            Section(_("What you can ask for"), _rights(contact)),
        ),
    )


def _recorded(site: Site) -> tuple[str, ...]:
    units = site.config.units
    where = "" if units.hours_per_period is not None else _(", where the firm's files have them")
    lines = [
        _("Your id at this firm, and your name if the firm's list has it; both are kept apart from the rest."),
        _(
            "For each day that you work: how many units you put out and your hours{where}. For a day "
            "that you do not: that you were absent, sent home or did not come, but not why.",
            where=where,
        )
        if site.config.calendar.shifts_per_day == 1
        else _(
            "For each shift that you work: how many units you put out and your hours{where}. For a shift "
            "that you do not: that you were absent, sent home or did not come, but not why.",
            where=where,
        ),
        _("When you were in the team, what was proposed about you, what a person decided, who that was, and when."),
        _(
            "Notes that a manager writes about you, with the manager's name and the day, and that you are "
            "to be kept or not to be brought in for some time."
        ),
    ]
    beside = [
        words
        for words, known in (
            (_("days and mean output from before"), any(worker.prior_n for worker in site.workers)),
            (_("a score from an interview"), any(worker.interview is not None for worker in site.workers)),
            (_("what hiring them costs"), any(worker.fee is not None for worker in site.workers)),
        )
        if known
    ]
    if beside:
        lines.append(_("About some people here, also: {beside}.", beside=", ".join(beside)))
    lines.append(
        _(
            "There is no place for age, sex, origin, health or anything else about you, and none of it is "
            "used. If the firm checks whether groups of people are treated alike, it names the groups for "
            "that moment only; they are not stored."
        )
    )
    return tuple(lines)


def _used(site: Site) -> tuple[str, ...]:
    config = site.config
    lines = [
        _(
            "A program, crewlearn, estimates the level of everybody's output, with a range that says how "
            "sure it is. It compares what people in the team and people waiting for a place are likely to "
            "put out."
        ),
    ]
    if has_readings(site.policy):
        lines.append(
            _(
                "It allows for newcomers who are still learning the work, for days that were good or bad "
                "for everybody, and for levels that change."
            )
        )
    lines.append(_("A day on which you do not work is not counted as a day without output."))
    if config.policy.partition(":")[0] == "keep-team":
        lines.append(_("As it is set up here, the program proposes no replacements."))
    else:
        lines.append(
            _(
                "Where somebody else is likely to put out so much more that it is worth the cost of a replacement, the "
                "program proposes to a manager to replace one person by another."
            )
        )
    lines.extend(_limits(config))
    return tuple(lines)


def _limits(config: SiteConfig) -> list[str]:
    """Return what limits the proposals, as workers read it."""
    lines = []
    if config.least_tenure:
        lines.append(
            plural(
                "Nobody is proposed to leave in their first {n} working day in the team.",
                "Nobody is proposed to leave in their first {n} working days in the team.",
                config.least_tenure,
            )
            if config.calendar.shifts_per_day == 1
            else plural(
                "Nobody is proposed to leave in their first {n} shift in the team.",
                "Nobody is proposed to leave in their first {n} shifts in the team.",
                config.least_tenure,
            )
        )
    else:
        lines.append(_("There is no time at the start in which nobody is proposed to leave."))
    if config.most_a_week is None:
        lines.append(_("How many replacements are proposed in a week is not limited."))
    else:
        lines.append(
            _(
                "At most {most_a_week} a week can be proposed.",
                most_a_week=plural("{n} replacement", "{n} replacements", config.most_a_week),
            )
        )
    if config.most_a_month is not None:
        lines.append(
            _(
                "At most {most_a_month} a month can be proposed.",
                most_a_month=plural("{n} replacement", "{n} replacements", config.most_a_month),
            )
        )
    return lines


def _decides() -> tuple[str, ...]:
    return (
        _(
            "A person decides. The program only proposes: nothing happens before a manager has approved a "
            "proposal, and a manager can reject it, or choose otherwise."
        ),
        _("The record keeps each proposal with its reasons, who decided, and when. It cannot be changed unnoticed."),
    )


def _doubts(site: Site) -> tuple[str, ...]:
    return (
        _(
            "Output has luck in it, and depends on the station, the tools and the work of the day. A few "
            "days say little; the range says how little."
        ),
        _(
            "The program knows nothing of what is not in the record: help given to others, quality that is"
            " not counted, or the reasons for a bad week. Tell a manager what it should know."
        ),
    )


def _kept(config: SiteConfig) -> tuple[str, ...]:
    by_itself: tuple[str, ...] = ()
    if config.erase_after is not None:
        by_itself = (
            _(
                "{erase_after} after you have left, your id and name are erased.",
                erase_after=plural("{n} day", "{n} days", config.erase_after),
            ),
        )
    return (
        *by_itself,
        _(
            "The firm can erase your id and name at any time. What remains is a number with its output, "
            "which the program no longer connects with you. Notes remain in the record as they were "
            "written."
        ),
    )


def _rights(contact: str) -> tuple[str, ...]:
    return (
        _("Your own sheet: everything that is recorded about you, how your level is estimated, and what was proposed."),
        _("The reasons for a decision about you, and that a person looks at it again and hears what you have to say."),
        _("That output recorded wrongly is corrected, and that your id and name are erased."),
        _(
            "The law may give you more. In the European Union, see Articles 13 to 22 of the General Data "
            "Protection Regulation: information, access, correction, erasure, objection, and decisions "
            "that are not left to a machine alone. You can also complain to the data protection authority."
        ),
        _("Whom to ask: {contact}", contact=contact.strip() or BLANK),
    )
