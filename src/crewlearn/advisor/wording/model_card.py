"""A site's model card: its policy, its limits, what it learns from, how well that held in simulations, and versions."""

from datetime import date

from crewlearn.advisor.advice.readings import has_readings
from crewlearn.advisor.evidence.calibration import CalibratedLine, calibrated_gain
from crewlearn.advisor.ledger.events.envelope import RULE_VERSION
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import LEFT, Site
from crewlearn.advisor.wording.sections import PrintedText, Section
from crewlearn.advisor.wording.settings import NO_LIMIT, in_words, learned_delay
from crewlearn.language import _, localized, percent, plural
from crewlearn.policies.registry import line_of

CALIBRATED = "value-of-replacement-evolving"
"""The policy of the simulated firms in `bench/calibration`."""


def model_card(name: str, site: Site, events: int, on: date, version: str) -> PrintedText:
    """Return the model card of a site with so many events on record; `version` is that of the program."""
    return PrintedText(
        _("{name}: model card", name=name),
        _("What proposes replacements at {name}, as set up on {day}.", name=name, day=on.isoformat()),
        (
            Section(_("What it is for"), _purpose()),
            Section(_("The policy"), _policy(site)),
            Section(_("Brakes"), _brakes(site)),
            Section(_("What it learns from"), _learns(site)),
            Section(_("How well its gain held on simulated firms"), _held(site.config.policy)),
            Section(_("Limits"), _limits(site)),
            Section(_("Versions"), _versions(site.config, events, on, version)),
        ),
    )


def _purpose() -> tuple[str, ...]:
    return (
        _(
            "It advises managers whom to keep and whom to replace in a team, where output varies at "
            "random, a replacement costs a fee, and a hire takes days to start."
        ),
        _(
            "It proposes. A person approves or rejects each proposal, and everything is on a record that can"
            " be checked."
        ),
        _("It is not meant for pay, discipline, or judging people by a few days."),
    )


def _policy(site: Site) -> tuple[str, ...]:
    words, line = in_words(site.config), line_of(site.config.policy)
    delay = learned_delay(site)
    return (
        _(
            "{policy}: {line}. Conventions: {conventions}.",
            policy=site.config.policy,
            line=_(line),
            conventions=words["conventions"],
        ),
        _(
            "It fills {team}. A replacement costs {fee}, due {fee_due}, and a unit of output is worth {unit}.",
            team=words["team"],
            fee=localized(f"{site.config.fee:,.10g}"),
            fee_due=words["fee_due"],
            unit=localized(f"{site.config.units.value_per_unit:,.10g}"),
        ),
        _("Output that counts: {output_range}.", output_range=words["output_range"]),
        _(
            "It plans for {horizon}, with {mean_delay}{delay}.",
            horizon=words["horizon"],
            mean_delay=words["mean_delay"],
            delay=f", {delay}" if delay else "",
        ),
    )


def _brakes(site: Site) -> tuple[str, ...]:
    words, today = in_words(site.config), range(len(site.workers))
    tenure = site.config.least_tenure
    lines = [
        _(
            "Nobody is proposed to leave before {tenure} in the team.",
            tenure=plural("{n} period", "{n} periods", tenure),
        )
        if tenure
        else _("There is no least tenure."),
        _("Replacements in a week: {most}.", most=_most(words["most_a_week"])),
        *(
            f"{label}: {_most(words[key])}."
            for key, label in (
                ("most_a_month", _("Replacements in a month")),
                ("budget_a_week", _("In a week")),
                ("budget_a_month", _("In a month")),
            )
            if key in words
        ),
        _(
            "Whoever declined or was rejected is not proposed again for {ask_again_after}.",
            ask_again_after=words["ask_again_after"],
        ),
        _(
            "To be kept now: {kept} of {people}; not to be brought in: {barred}.",
            kept=sum(site.is_pinned(number) for number in today),
            people=_people(site),
            barred=sum(site.block_on(number) is not None for number in today),
        ),
    ]
    return tuple(lines)


def _most(limit: str) -> str:
    return limit if limit == _(NO_LIMIT) else _("at most {limit}", limit=limit)


def _people(site: Site) -> str:
    return plural("{n} person", "{n} people", sum(worker.status != LEFT for worker in site.workers))


def _learns(site: Site) -> tuple[str, ...]:
    days = plural("{n} day", "{n} days", int(site.estimates.counts.sum()))
    until = _(", up to {period}", period=site.config.calendar.date_of(site.period - 1)) if site.period > 1 else ""
    lines = [
        _(
            "Recorded output of {people}: {days} of somebody's work{until}.",
            people=_people(site),
            days=days,
            until=until,
        ),
        _("Absence and days off are not output of zero; they do not count."),
    ]
    if has_readings(site.policy):
        lines.append(
            _(
                "From this record it learns each person's level and how it changes, how newcomers ramp up,"
                " how days differ for everybody, and how much output varies by chance."
            )
        )
    else:
        lines.append(_("It takes each person's level as lasting, and all days as alike."))
    lines.append(_("It sees no name, age, sex, origin, health or group, and no notes of managers."))
    return tuple(lines)


def _held(policy: str) -> tuple[str, ...]:
    lines = calibrated_gain()
    firms = sum(line.firms for line in lines)
    covered = sum(line.covered * line.firms for line in lines) / firms
    low, high = lines[0].wanted
    other = "" if policy == CALIBRATED else _(", not the policy of this site")
    return (
        _(
            "The gain that managers are told was compared with the truth on {firms} simulated firms that run"
            " {calibrated}{other}. Its 95% interval held the true gain in {covered}; {low} to {high} of each"
            " kind are wanted.",
            firms=localized(f"{firms:,}"),
            calibrated=CALIBRATED,
            other=other,
            covered=percent(covered),
            low=percent(low),
            high=percent(high),
        ),
        *(_line(line) for line in lines),
        _(
            "Simulated firms are not this site. docs/evidence/gain.md has the whole table, and what does not"
            " hold and why."
        ),
    )


def _line(line: CalibratedLine) -> str:
    missed = (
        "" if line.holds else _(", which is ") + (_("too often") if line.covered > line.wanted[1] else _("too seldom"))
    )
    sign = ""
    if line.right_sign is not None:
        sign = _(
            " It excluded zero in {excludes_zero}, and of these {right_sign} had the sign right",
            excludes_zero=percent(line.excludes_zero),
            right_sign=percent(line.right_sign),
        )
        sign += "." if line.sign_holds else _(", which is too few.")
    return _(
        "{title}: {covered} of {firms} firms covered{missed}.{sign}",
        title=line.title,
        covered=percent(line.covered, 1),
        firms=line.firms,
        missed=missed,
        sign=sign,
    )


def _limits(site: Site) -> tuple[str, ...]:
    lines = [
        _(
            "It knows only what is recorded: no quality that is not counted, no help to others, no reasons "
            "for a bad week."
        ),
        _("Where somebody works is not taken into account: stations are taken as alike."),
        _("People who are not given a place are not observed, so little is known of them."),
        _(
            "A gain is an estimate against the same site without the replacements, which nobody saw; a "
            "pilot compares for real."
        ),
    ]
    if not has_readings(site.policy):
        lines.append(_("People who ramp up or change, and days that differ for everybody, mislead this policy."))
    lines.append(
        _("Whether groups are treated alike is for the firm to check: crewlearn ledger impact, or the Impact page.")
    )
    return tuple(lines)


def _versions(config: SiteConfig, events: int, on: date, version: str) -> tuple[str, ...]:
    return (
        _(
            "crewlearn {version}, rules {rule_version}, policy {policy}.",
            version=version,
            rule_version=RULE_VERSION,
            policy=config.policy,
        ),
        _(
            "The record had {events} on {day}.",
            events=plural("{n} event", "{n} events", events),
            day=on.isoformat(),
        ),
    )
