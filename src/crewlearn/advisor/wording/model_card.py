"""A site's model card: its policy, its limits, what it learns from, how well that held in simulations, and versions."""

from datetime import date

from crewlearn.advisor.advice.readings import has_readings
from crewlearn.advisor.evidence.calibration import CalibratedLine, calibrated_gain
from crewlearn.advisor.ledger.events.envelope import RULE_VERSION
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import LEFT, Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.sections import PrintedText, Section
from crewlearn.advisor.wording.settings import NO_LIMIT, in_words, learned_delay
from crewlearn.policies.registry import line_of

CALIBRATED = "value-of-replacement-evolving"
"""The policy of the simulated firms in `bench/calibration`."""


def model_card(name: str, site: Site, events: int, on: date, version: str) -> PrintedText:
    """Return the model card of a site with so many events on record; `version` is that of the program."""
    return PrintedText(
        f"{name}: model card",
        f"What proposes replacements at {name}, as set up on {on.isoformat()}.",
        (
            Section("What it is for", _purpose()),
            Section("The policy", _policy(site)),
            Section("Brakes", _brakes(site)),
            Section("What it learns from", _learns(site)),
            Section("How well its gain held on simulated firms", _held(site.config.policy)),
            Section("Limits", _limits(site)),
            Section("Versions", _versions(site.config, events, on, version)),
        ),
    )


def _purpose() -> tuple[str, ...]:
    return (
        "It advises managers whom to keep and whom to replace in a team, where output varies at random, a replacement "
        "costs a fee, and a hire takes days to start.",
        "It proposes. A person approves or rejects each proposal, and everything is on a record that can be checked.",
        "It is not meant for pay, discipline, or judging people by a few days.",
    )


def _policy(site: Site) -> tuple[str, ...]:
    words, line = in_words(site.config), line_of(site.config.policy)
    delay = learned_delay(site)
    return (
        f"{site.config.policy}: {line}. Conventions: {words['conventions']}.",
        f"It fills {words['team']}. A replacement costs {words['fee'].removesuffix(' a replacement')}, due "
        f"{words['fee_due']}, and a unit of output is worth {words['value_per_unit'].removesuffix(' a unit')}.",
        f"Output that counts: {words['output_range']}.",
        f"It plans for {words['horizon']}, with {words['mean_delay']}{f', {delay}' if delay else ''}.",
    )


def _brakes(site: Site) -> tuple[str, ...]:
    words, today = in_words(site.config), range(len(site.workers))
    tenure = site.config.least_tenure
    lines = [
        f"Nobody is proposed to leave before {counted(tenure, 'period')} in the team."
        if tenure
        else "There is no least tenure.",
        f"Replacements in a week: {_most(words['most_a_week'])}.",
        *(
            f"{label}: {_most(words[key])}."
            for key, label in (
                ("most_a_month", "Replacements in a month"),
                ("budget_a_week", "In a week"),
                ("budget_a_month", "In a month"),
            )
            if key in words
        ),
        f"Whoever declined or was rejected is not proposed again for {words['ask_again_after']}.",
        f"To be kept now: {sum(site.is_pinned(number) for number in today)} of {_people(site)}; not to be brought in: "
        f"{sum(site.block_on(number) is not None for number in today)}.",
    ]
    return tuple(lines)


def _most(limit: str) -> str:
    return limit if limit == NO_LIMIT else f"at most {limit}"


def _people(site: Site) -> str:
    return counted(sum(worker.status != LEFT for worker in site.workers), "person", "people")


def _learns(site: Site) -> tuple[str, ...]:
    days = counted(int(site.estimates.counts.sum()), "day")
    until = f", up to {site.config.calendar.date_of(site.period - 1)}" if site.period > 1 else ""
    lines = [
        f"Recorded output of {_people(site)}: {days} of somebody's work{until}.",
        "Absence and days off are not output of zero; they do not count.",
    ]
    if has_readings(site.policy):
        lines.append(
            "From this record it learns each person's level and how it changes, how newcomers ramp up, how days differ "
            "for everybody, and how much output varies by chance."
        )
    else:
        lines.append("It takes each person's level as lasting, and all days as alike.")
    lines.append("It sees no name, age, sex, origin, health or group, and no notes of managers.")
    return tuple(lines)


def _held(policy: str) -> tuple[str, ...]:
    lines = calibrated_gain()
    firms = sum(line.firms for line in lines)
    covered = sum(line.covered * line.firms for line in lines) / firms
    low, high = lines[0].wanted
    other = "" if policy == CALIBRATED else ", not the policy of this site"
    return (
        f"The gain that managers are told was compared with the truth on {firms:,} simulated firms that run "
        f"{CALIBRATED}{other}. Its 95% interval held the true gain in {covered:.0%}; {low:.0%} to {high:.0%} "
        "of each kind are wanted.",
        *(_line(line) for line in lines),
        "Simulated firms are not this site. docs/evidence/gain.md has the whole table, and what does not hold and why.",
    )


def _line(line: CalibratedLine) -> str:
    missed = "" if line.holds else ", which is " + ("too often" if line.covered > line.wanted[1] else "too seldom")
    sign = ""
    if line.right_sign is not None:
        sign = f" It excluded zero in {line.excludes_zero:.0%}, and of these {line.right_sign:.0%} had the sign right"
        sign += "." if line.sign_holds else ", which is too few."
    return f"{line.title}: {line.covered:.1%} of {line.firms} firms covered{missed}.{sign}"


def _limits(site: Site) -> tuple[str, ...]:
    lines = [
        "It knows only what is recorded: no quality that is not counted, no help to others, no reasons for a bad week.",
        "Where somebody works is not taken into account: stations are taken as alike.",
        "People who are not given a place are not observed, so little is known of them.",
        "A gain is an estimate against the same site without the replacements, which nobody saw; a pilot compares for "
        "real.",
    ]
    if not has_readings(site.policy):
        lines.append("People who ramp up or change, and days that differ for everybody, mislead this policy.")
    lines.append(
        "Whether groups are treated alike is for the firm to check: crewlearn ledger impact, or the Impact page."
    )
    return tuple(lines)


def _versions(config: SiteConfig, events: int, on: date, version: str) -> tuple[str, ...]:
    return (
        f"crewlearn {version}, rules {RULE_VERSION}, policy {config.policy}.",
        f"The record had {counted(events, 'event')} on {on.isoformat()}.",
    )
