"""The daily commands: advise, status, explain, approve, reject, offer, undo."""

import sys
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DbOption,
    SiteArgument,
    advice_of,
    opened,
    read_site,
    warn,
    who,
)
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table

if TYPE_CHECKING:
    from crewlearn.advisor.ledger.site import Proposal
    from crewlearn.advisor.ledger.store import Store
    from crewlearn.advisor.wording.explain import Member

ProposalArgument = Annotated[int, typer.Argument(help="The proposal's number.")]
OutOption = Annotated[str | None, typer.Option("--out", help="Id of a different worker to make room.")]


def advise_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """Show the advice for the coming period, or what it waits for; changes nothing."""
    with opened(db) as store:
        from crewlearn.advisor.wording.explain import sentence, what_changed

        now, people = read_site(store, site)
        proposals = now.open_proposals("proposed")
        words, changed = sentence(now, people), what_changed(now, people)
    if json:
        from crewlearn.advisor.wording import documents

        print_json(documents.advice(site, now, people))
        return
    print(words)
    if changed:
        print(changed)
    for proposal in proposals:
        answers = (f"crewlearn {verb} {site} {proposal.id}" for verb in ("approve", "reject", "explain"))
        print(f"  {proposal.id}: {'   '.join(answers)}")
    if now.held_back:
        print(f"{len(now.held_back)} more held back by the limit of {now.config.most_a_week} a week.")


def status_command(
    site: SiteArgument,
    sheet: Annotated[bool, typer.Option("--sheet", help="Print a one-page morning sheet, with the team only.")] = False,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Show the team, the pool, the learning cycle, pending and overdue offers, and money so far."""
    with opened(db) as store:
        from crewlearn.advisor.advice.gain import gain_over_first_team, read_past
        from crewlearn.advisor.advice.readings import read_learned_at
        from crewlearn.advisor.ledger.identities import read_people
        from crewlearn.advisor.wording import documents
        from crewlearn.advisor.wording.explain import members, sentence
        from crewlearn.advisor.wording.learned import newer_policy, newer_policy_line, ramp_line, unusual_lines
        from crewlearn.advisor.wording.names import place
        from crewlearn.advisor.wording.settings import learned_delay
        from crewlearn.advisor.wording.waiting import cycle_line, overdue_lines

        with store.reading() as connection:
            key, now, _ = store.site(connection, site)
            people, past = read_people(connection, key), read_past(connection, key)
            learned = read_learned_at(connection, key, now)
        listed, words = members(now, people, learned=learned), sentence(now, people)
        gain = gain_over_first_team(now, past.stints, past.proposals)
    if json:
        print_json(documents.status(site, now, people, gain, listed, learned))
        return
    print(f"{site}: {words}")
    print(cycle_line(now, people))
    for line in () if learned is None else (*unusual_lines(now, learned), ramp_line(learned)):
        if line:
            print(line)
    print()
    shown = [person for person in listed if person.station is not None or not sheet]
    print_table("Team:", *_table([person for person in shown if person.station is not None]), words=2)
    if not sheet:
        print_table("Others:", *_table([person for person in shown if person.station is None]), words=2)
    under_way = now.open_proposals("approved", "offered", "accepted")
    for proposal in under_way:
        pair = f"{people.label(proposal.into)} for {place(people, proposal)}"
        print(f"Under way since {now.config.calendar.date_of(proposal.decided_in)}: {pair} ({proposal.status})")
    for line in overdue_lines(now, people):
        print(line)
    if delay := learned_delay(now):
        print(f"From an offer to the first day: {delay}.")
    empty = now.roster.empty
    print(f"Stations filled: {now.config.team - empty} of {now.config.team}.")
    print(f"Output so far is worth {now.earned:,.2f}; fees so far {now.fees:,.2f}.")
    if past.proposals:
        between = f"95% between {gain.low:+,.2f} and {gain.high:+,.2f}"
        print(f"Against keeping the first team, fees taken off: {gain.expected:+,.2f} as estimated now ({between}).")
    if newer_policy(now):
        print(newer_policy_line(site), file=sys.stderr)


def _table(listed: "list[Member]") -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            "" if person.station is None else str(person.station + 1),
            person.label,
            str(person.estimate.days),
            f"{person.level.mean:,.2f}",
            f"{person.level.low:,.2f} to {person.level.high:,.2f}",
            ", ".join(person.notes()),
        ]
        for person in listed
    ]
    judged_by = "estimate" if all(person.learned is None for person in listed) else "level after ramp-up"
    return ["station", "worker", "days", judged_by, "95% interval", "note"], rows


def explain_command(
    site: SiteArgument, proposal: ProposalArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False
) -> None:
    """Explain why a proposal was made, with the numbers of that day."""
    with opened(db) as store:
        from crewlearn.advisor.wording import documents
        from crewlearn.advisor.wording.explain import explain

        now, people = read_site(store, site)
        record = _find(store, site, proposal)
        lines = explain(now, people, record)
    if json:
        print_json(documents.explanation(now, people, record))
        return
    for line in lines:
        print(line)


def _find(store: "Store", site: str, number: int) -> "Proposal":
    from crewlearn.advisor.ledger.queries import read_proposals
    from crewlearn.problem.errors import InvalidInput

    with store.reading() as connection:
        key = store.key(connection, site)
        for candidate in read_proposals(connection, key):
            if candidate.id == number:
                return candidate
    raise InvalidInput("proposal", number, "does not exist at this site")


def approve_command(
    site: SiteArgument,
    proposal: ProposalArgument,
    out: OutOption = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Approve a proposal, so that the offer goes out."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import approve

        warn(approve(store, site, proposal, who(actor), out=out))
        print(f"Approved. {advice_of(store, site)}")
    print(f"Record the outcome with: crewlearn offer {site} {proposal} started|declined|expired|no-show|cancelled")


def reject_command(
    site: SiteArgument,
    proposal: ProposalArgument,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    keep_out: Annotated[
        bool, typer.Option("--keep-out", help="Block the incoming worker for good, not only for a while.")
    ] = False,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Reject a proposal. Its candidate is not proposed again for a while or, with --keep-out, ever."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import reject

        reject(store, site, proposal, who(actor), reason, keep_out=keep_out)
        blocked = ""
        if keep_out:
            _, people = read_site(store, site)
            into = people.ids.get(_find(store, site, proposal).into)
            blocked = f" {into} is blocked; to unblock: crewlearn workers set {site} {into} --status pool."
        print(f"Rejected.{blocked} {advice_of(store, site)}")


def offer_command(
    site: SiteArgument,
    proposal: ProposalArgument,
    outcome: Annotated[
        str, typer.Argument(help="offered, accepted, started, declined, expired, no-show or cancelled.")
    ],
    on: Annotated[str | None, typer.Option("--on", help="The day it happened; by default the coming one.")] = None,
    out: OutOption = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Record the outcome of an offer; after a decline the next candidate is proposed."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import record_offer
        from crewlearn.advisor.ledger.settings.changes import read_day

        day: date | None = None if on is None else read_day("on", on)
        warn(record_offer(store, site, proposal, outcome, who(actor), on=day, out=out))
        print(f"Recorded: {outcome}. {advice_of(store, site)}")


def undo_command(site: SiteArgument, db: DbOption = DEFAULT_DB, actor: ActorOption = None) -> None:
    """Undo the last answer (approve, reject, offer) or `workers set`, if nothing was recorded since."""
    with opened(db) as store:
        from crewlearn.advisor.wording.undoing import undo

        answer = undo(store, site, who(actor))
        print(f"Undone: {answer}. The record keeps both. {advice_of(store, site)}")
