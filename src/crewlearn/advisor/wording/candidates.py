"""Candidates for a proposal in words and as data."""

from collections.abc import Callable, Sequence
from typing import Any

from crewlearn.advisor.advice.candidates import Candidate
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.wording.figures import TO_THE_CENT, Figures
from crewlearn.language import _, localized, plural


def candidate_name(candidate: Candidate, named: Callable[[int], str]) -> str:
    """Name a candidate; people of whom nothing is known are shown as what they are."""
    if not candidate.unseen:
        return named(candidate.worker)
    if candidate.alike == 1:
        return _("{named}, not seen yet", named=named(candidate.worker))
    return _(
        "any of {alike} not seen yet, such as {named}",
        alike=localized(f"{candidate.alike:,}"),
        named=named(candidate.worker),
    )


def candidate_lines(people: People, candidates: Sequence[Candidate], figures: Figures = TO_THE_CENT) -> list[str]:
    """Return a line for each candidate: who, and what they are expected to bring, net of the fee."""
    return [
        _(
            "{candidate}: expected net gain {gain} over {periods}",
            candidate=candidate_name(candidate, people.label),
            gain=figures.signed(candidate.value),
            periods=plural("{n} period", "{n} periods", round(candidate.facts.periods)),
        )
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
