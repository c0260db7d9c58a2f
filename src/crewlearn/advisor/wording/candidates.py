"""Candidates for a proposal in words and as data."""

from collections.abc import Callable, Sequence
from typing import Any

from crewlearn.advisor.advice.candidates import Candidate
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.figures import TO_THE_CENT, Figures


def candidate_name(candidate: Candidate, named: Callable[[int], str]) -> str:
    """Name a candidate; people of whom nothing is known are shown as what they are."""
    if not candidate.unseen:
        return named(candidate.worker)
    if candidate.alike == 1:
        return f"{named(candidate.worker)}, not seen yet"
    return f"any of {candidate.alike:,} not seen yet, such as {named(candidate.worker)}"


def candidate_lines(people: People, candidates: Sequence[Candidate], figures: Figures = TO_THE_CENT) -> list[str]:
    """Return a line for each candidate: who, and what they are expected to bring, net of the fee."""
    return [
        f"{candidate_name(candidate, people.label)}: expected net gain {figures.signed(candidate.value)} over "
        f"{counted(round(candidate.facts.periods), 'period')}"
        for candidate in candidates
    ]


def candidate_documents(people: People, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Describe candidates as plain data."""
    return [
        {
            "worker_id": people.ids.get(candidate.worker),
            "name": people.names.get(candidate.worker),
            "unseen": candidate.unseen,
            "alike": candidate.alike,
            "value": candidate.value,
            "gain": candidate.facts.gain,
            "fee": candidate.facts.fee,
            "chance_better": candidate.facts.chance_better,
            "estimate": candidate.facts.into.to_json(),
        }
        for candidate in candidates
    ]
