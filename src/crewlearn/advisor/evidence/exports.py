"""Every decision as a table, and all exports by name."""

from collections.abc import Callable, Generator, Mapping

from crewlearn.advisor.advice.facts import PeopleEstimate, facts
from crewlearn.advisor.files import exports
from crewlearn.advisor.files.exports import Rows, as_csv
from crewlearn.advisor.ledger.answers import answer_trails
from crewlearn.advisor.ledger.events import AnswerTrail
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput

_DECISIONS = (
    *("proposal", "proposed_for", "out", "in", "status", "answered_in", "answered_by", "answered_at", "offered_at"),
    *("accepted_at", "settled_as", "settled_on", "settled_by", "settled_at", "left", "fee", "fee_paid", "reason"),
    *("first_approved_by", "first_approved_at", "out_name", "in_name", "left_name"),
    *("out_estimate", "out_low", "out_high", "in_estimate", "in_low", "in_high"),
    *("chance_better", "expected_net_gain", "over_periods"),
)
_DIGITS = 4
"""Decimals of estimates, chances and gains."""


def decisions_table(store: Store, name: str) -> Rows:
    """Yield every proposal: who answered it and when, its outcome, who left, and the estimates when it was made.

    Times are UTC. Estimates are output in the site's units with their 95% interval.
    """
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, calendar = read_people(connection, key), site.config.calendar
        proposals = read_proposals(connection, key)
        answered = answer_trails(connection, key, proposals)
    yield _DECISIONS
    for proposal in proposals:
        answer, why = answered.get(proposal.id, AnswerTrail()), facts(site, proposal)
        yield (
            proposal.id,
            calendar.date_of(proposal.period),
            _id_of(people, proposal.out),
            _id_of(people, proposal.into),
            proposal.status,
            calendar.date_of(proposal.decided_in) if proposal.decided_in else None,
            answer.answered_by,
            answer.answered_at,
            answer.offered_at,
            answer.accepted_at,
            answer.outcome,
            None if answer.settled_in is None else calendar.date_of(answer.settled_in),
            answer.settled_by,
            answer.settled_at,
            _id_of(people, proposal.leaver),
            proposal.fee,
            "yes" if proposal.paid else "no",
            proposal.reason,
            answer.first_approved_by,
            answer.first_approved_at,
            *(people.names.get(number) for number in (proposal.out, proposal.into, proposal.leaver)),
            *_estimate(why.out),
            *_estimate(why.into),
            None if why.chance_better is None else round(why.chance_better, _DIGITS),
            round(why.value, _DIGITS),
            round(why.periods, _DIGITS),
        )


def _estimate(estimate: PeopleEstimate | None) -> tuple[float | None, ...]:
    """Return what was expected of somebody, with its interval."""
    if estimate is None:
        return None, None, None
    return tuple(round(value, _DIGITS) for value in (estimate.mean, estimate.low, estimate.high))


def _id_of(people: People, number: int) -> str | None:
    """Return a worker's id at the firm: None for nobody, the bare number if they were erased."""
    return None if number == NOBODY else people.ids.get(number) or f"worker {number}"


def decisions_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Yield the lines of `decisions_table`."""
    return as_csv(decisions_table(store, name))


EXPORTS: Mapping[str, Callable[[Store, str], Generator[str, None, None]]] = {
    "events": exports.events_as_json_lines,
    "decisions": decisions_as_csv,
    "output": exports.output_as_csv,
    "workers": exports.workers_as_csv,
}
"""The exports by name; each yields a site's lines one at a time, so that no file is held in memory."""

TABLES: Mapping[str, Callable[[Store, str], Rows]] = {
    "decisions": decisions_table,
    "output": exports.output_table,
    "workers": exports.workers_table,
}
"""Those of them that are tables, which a workbook can hold."""


def check_table(what: str) -> None:
    """Refuse an export that no workbook can hold."""
    if what not in TABLES:
        raise InvalidInput("format", "xlsx", f"is for tables only: choose {', '.join(TABLES)}")
