"""The daily commands: advise, status, explain, approve, reject, offer, undo."""

import sys
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DaysOption,
    DbOption,
    SiteArgument,
    UntilOption,
    advice_of,
    check_no_term,
    opened,
    read_advice,
    read_site,
    read_term,
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

        now, people, candidates = read_advice(store, site)
        proposals = now.open_proposals("proposed")
        words, changed = sentence(now, people), what_changed(now, people)
    if json:
        from crewlearn.advisor.wording import documents

        print_json(documents.advice(site, now, people, candidates))
        return
    from crewlearn.advisor.wording.candidates import candidate_lines
    from crewlearn.advisor.wording.figures import to_the_cent
    from crewlearn.advisor.wording.limits import held_back_words

    print(words)
    if changed:
        print(changed)
    for proposal in proposals:
        answers = (f"crewlearn {verb} {site} {proposal.id}" for verb in ("approve", "reject", "explain"))
        print(f"  {proposal.id}: {'   '.join(answers)}")
        if (first := now.first_approval_of(proposal.id)) is not None:
            print(f"     approved first by {first.by}; a different user approves it second")
        for line in candidate_lines(people, candidates.get(proposal.id, ()), to_the_cent(now.config.currency)):
            print(f"     next best: {line}")
    if now.held_back:
        print(held_back_words(now))


def status_command(
    site: SiteArgument,
    sheet: Annotated[bool, typer.Option("--sheet", help="Print a one-page morning sheet, with the team only.")] = False,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Show the team, the pool, the learning cycle, pending and overdue offers, and money so far."""
    with opened(db) as store:
        from crewlearn.advisor.advice.readings import learned_at, state_for_readings
        from crewlearn.advisor.evidence.site_record import read_past, read_rows
        from crewlearn.advisor.evidence.track_record import track_record
        from crewlearn.advisor.ledger.identities import read_people
        from crewlearn.advisor.wording import documents
        from crewlearn.advisor.wording.explain import members, sentence
        from crewlearn.advisor.wording.figures import to_the_cent
        from crewlearn.advisor.wording.learned import newer_policy, newer_policy_line, ramp_line, unusual_lines
        from crewlearn.advisor.wording.limits import use_lines
        from crewlearn.advisor.wording.names import place
        from crewlearn.advisor.wording.past.track_record import track_record_lines
        from crewlearn.advisor.wording.settings import learned_delay
        from crewlearn.advisor.wording.waiting import cycle_line, overdue_lines

        with store.reading() as connection:
            key, now, _ = store.site(connection, site)
            people, past = read_people(connection, key), read_past(connection, key)
            state, rows = state_for_readings(connection, key, now), read_rows(connection, key, past)
            learned = learned_at(now, state)
        listed, words = members(now, people, learned=learned), sentence(now, people)
        record = track_record(now, past, rows, state)
    if json:
        print_json(documents.status(site, now, people, record, listed, learned))
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
    for line in use_lines(now):
        print(line)
    figures = to_the_cent(now.config.currency)
    print(f"Output so far is worth {figures.money(now.earned)}; fees so far {figures.money(now.fees)}.")
    if past.proposals:
        for line in track_record_lines(record, currency=now.config.currency):
            print(line)
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

        now, people, candidates = read_advice(store, site, proposal)
        record = _find(store, site, proposal)
        lines = explain(now, people, record, candidates.get(proposal, ()))
    if json:
        print_json(documents.explanation(now, people, record, candidates))
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
    proposals: Annotated[list[int], typer.Argument(help="The proposal's number; several are approved all or none.")],
    out: OutOption = None,
    into: Annotated[str | None, typer.Option("--in", help="Id of a different worker to come in.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Approve proposals, so that the offers go out; --in and --out choose others for one."""
    with opened(db) as store:
        from crewlearn.advisor.advice.answering import answer_many, approval
        from crewlearn.advisor.advice.commands import approve
        from crewlearn.problem.errors import InvalidInput

        if len(proposals) == 1:
            warn(approve(store, site, proposals[0], who(actor), out=out, into=into))
        elif out is not None or into is not None:
            remedy = "approve one proposal at a time to choose who leaves or comes in"
            raise InvalidInput("in" if out is None else "out", into if out is None else out, remedy)
        else:
            given = answer_many(store, site, proposals, approval(), who(actor), all_or_none=True)
            warn([warning for answered in given for warning in answered.warnings])
        now, _ = read_site(store, site)
        if any(now.first_approval_of(number) is not None for number in proposals):
            print("Approved first. A different user approves it too before the offer goes out.")
            return
        print(f"Approved. {advice_of(store, site)}")
    number = proposals[0] if len(proposals) == 1 else "PROPOSAL"
    print(f"Record the outcome with: crewlearn offer {site} {number} started|declined|expired|no-show|cancelled")


def reject_command(
    site: SiteArgument,
    proposal: ProposalArgument,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Keep who would leave; the candidate stays available.")] = False,
    not_candidate: Annotated[
        bool, typer.Option("--not-candidate", help="Not this candidate; others may be proposed for the same place.")
    ] = False,
    not_now: Annotated[
        bool, typer.Option("--not-now", help="Not this exchange, for the site's ask_again_after periods.")
    ] = False,
    until: UntilOption = None,
    days: DaysOption = None,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Without an end, for --keep or --not-candidate.")
    ] = False,
    keep_out: Annotated[
        bool, typer.Option("--keep-out", help="Block the incoming worker for good, not only for a while.")
    ] = False,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Reject a proposal as keep, not this candidate, or not now; otherwise its candidate is not proposed for a while.

    With --keep and --not-candidate it ends on the day named, or after the site's ask_again_after periods.
    """
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import reject
        from crewlearn.advisor.advice.remarks import turn_down

        how = _refusal(keep=keep, not_candidate=not_candidate, not_now=not_now, keep_out=keep_out)
        if how is not None:
            ends = turn_down(store, site, proposal, who(actor), how, reason, term=read_term(until, days, for_good))
            words = _refused(store, site, proposal, how, ends)
            print(f"Rejected. {words} {advice_of(store, site)}")
            return
        check_no_term(until, days, for_good)
        reject(store, site, proposal, who(actor), reason, keep_out=keep_out)
        blocked = ""
        if keep_out:
            _, people = read_site(store, site)
            into = people.ids.get(_find(store, site, proposal).into)
            blocked = f" {into} is blocked; to unblock: crewlearn workers set {site} {into} --status pool."
        print(f"Rejected.{blocked} {advice_of(store, site)}")


def _refusal(**chosen: bool) -> str | None:
    """Return what a proposal is rejected as; None for the plain form and `--keep-out`."""
    from crewlearn.problem.errors import InvalidInput

    names = [name.replace("_", "-") for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise InvalidInput("reject", " ".join(f"--{name}" for name in names), "choose one of them")
    return names[0] if names and names[0] != "keep-out" else None


def _refused(store: "Store", site: str, number: int, how: str, ends: date | None) -> str:
    """Return what a rejection means for the one it is about."""
    _, people = read_site(store, site)
    proposal = _find(store, site, number)
    until = "until you lift it" if ends is None else f"until {ends}"
    if how == "not-now":
        return f"The same exchange is not proposed again before {ends}."
    if how == "keep":
        leaver = proposal.out if proposal.out >= 0 else proposal.why.leaver
        return f"{people.label(leaver)} is pinned {until}."
    return f"{people.label(proposal.into)} is blocked {until}."


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
        from crewlearn.advisor.wording.past.undoing import undo

        answer = undo(store, site, who(actor))
        print(f"Undone: {answer}. The record keeps both. {advice_of(store, site)}")
