"""`crewlearn site create --from FILE`: what a file suggests for a new site, its first advice, and creating it."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crewlearn.cli.live.session import advice_of, read_bytes
from crewlearn.cli.output import option_said, print_json, print_table

if TYPE_CHECKING:
    from crewlearn.advisor.ledger.store import Store
    from crewlearn.advisor.setup.proposals import SiteProposal

_OPTIONS = {"fee": "--cost", "value_per_unit": "--value-per-unit"}
"""The options of what has to be asked."""


def from_file(
    store: "Store",
    name: str,
    path: Path,
    *,
    mapping: Sequence[str] | None,
    chosen: Mapping[str, Any],
    actor: str,
    yes: bool,
    json: bool,
) -> None:
    """Show what a file suggests and the first advice; with `yes`, create the site."""
    from crewlearn.advisor.advice.commands import check_new_name
    from crewlearn.advisor.files.columns import OUTPUT
    from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of
    from crewlearn.advisor.setup.opening import NewSite, open_site, rehearsed
    from crewlearn.advisor.setup.proposals import ASKED, propose_site
    from crewlearn.problem.errors import InvalidInput

    check_new_name(name)
    file = ImportFile(OUTPUT.kind, read_bytes(path), ImportOptions(mapping_of(mapping)), path.name)
    proposal = propose_site(file, store.clock().date(), chosen.get("hours_per_period"))
    missing = [setting for setting in ASKED if setting not in chosen]
    if yes and missing:
        options = " and ".join(_OPTIONS[setting] for setting in missing)
        raise InvalidInput("options", options, f"{'is' if len(missing) == 1 else 'are'} needed: no file can tell")
    new = None if missing else NewSite(name, proposal.config(chosen), proposal, file)
    advice = ""
    if new is not None and not yes:
        with rehearsed(store, new, actor) as (scratch, _):
            advice = advice_of(scratch, name)
    if new is not None and yes:
        open_site(store, new, actor)
        advice = advice_of(store, name)
    if json:
        print_json({"site": name, "created": yes, **proposal.to_json(), "first_advice": advice or None})
        return
    _print(proposal, chosen)
    if advice:
        print(advice)
    if yes:
        print(f"Site {name} was created, with its people, output and team.", file=sys.stderr)
    elif missing:
        options = " and ".join(f"{_OPTIONS[setting]} AMOUNT" for setting in missing)
        print(f"Nothing was created. For the first advice, add {options}.", file=sys.stderr)
    else:
        print("Nothing was created. Add --yes to create the site like this.", file=sys.stderr)


def _print(proposal: "SiteProposal", chosen: Mapping[str, Any]) -> None:
    from crewlearn.advisor.ledger.text import options_said

    first, last, days = proposal.days
    rows = len(proposal.reading.rows)
    print(f"{rows:,} rows of {proposal.people:,} people on {days:,} days, {first} to {last}.")
    for sentence in proposal.reading.read.sentences:
        print(f"- {options_said(sentence, option_said)}")
    table = [
        [
            name,
            *(
                (_shown(name, chosen[name]), "as you say")
                if name in chosen
                else (_shown(name, setting.value), setting.why)
            ),
        ]
        for name, setting in proposal.settings.items()
    ]
    print_table("Proposed:", ["setting", "value", "why"], table, words=3)


def _shown(name: str, value: Any) -> str:
    """Return a setting as its option takes it."""
    from crewlearn.advisor.ledger.settings.changes import DAYS

    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ",".join(DAYS[part] if name == "weekdays" else str(part) for part in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
