"""Events: everything that is recorded for a site. Importing the package registers every kind."""

from crewlearn.advisor.ledger.events.advice.advised import Advised
from crewlearn.advisor.ledger.events.advice.answers import (
    OUTCOMES,
    AnswerTrail,
    OfferRecorded,
    ProposalAnswer,
    ProposalApproved,
    ProposalApprovedFirst,
    ProposalRejected,
)
from crewlearn.advisor.ledger.events.advice.refusals import KEEP, NOT_CANDIDATE, NOT_NOW, REFUSALS, ProposalTurnedDown
from crewlearn.advisor.ledger.events.advice.undone import AnswerUndone
from crewlearn.advisor.ledger.events.canonical import canonical
from crewlearn.advisor.ledger.events.envelope import (
    DERIVABLE,
    FIRST_HASH,
    LEARNED_OTHERWISE,
    LIMIT_ON_REFILLS,
    REQUEST,
    RULE_VERSION,
    WHOLE_MEMORY,
    Event,
    LedgerEntry,
    hash_of,
    next_entry,
)
from crewlearn.advisor.ledger.events.fact import (
    KINDS,
    Cached,
    Fact,
    Names,
    Subject,
    invalidated_by,
    kinds_of,
    parse_fact,
)
from crewlearn.advisor.ledger.events.output.import_undone import ImportUndone
from crewlearn.advisor.ledger.events.output.imported import OutputImported
from crewlearn.advisor.ledger.events.people.remarks import NoteAdded, WorkerBlocked, WorkerProtected
from crewlearn.advisor.ledger.events.people.team import TeamRecorded
from crewlearn.advisor.ledger.events.people.workers import (
    StaffFact,
    WorkerChanged,
    WorkerErased,
    WorkerFacts,
    WorkersImported,
    WorkerUpdate,
    worker_facts,
)
from crewlearn.advisor.ledger.events.pilots import PilotEnded, PilotLooked, PilotStarted
from crewlearn.advisor.ledger.events.rows import (
    ADDED_COLUMNS,
    ATTENDANCE,
    AWAY,
    OBSERVED,
    History,
    Observation,
    RecordedRow,
    added_values,
    digest_of_rows,
    observation,
    observe,
    row_document,
)
from crewlearn.advisor.ledger.events.site.days import DaysOpened
from crewlearn.advisor.ledger.events.site.profiles import ImportProfileSet
from crewlearn.advisor.ledger.events.site.sites import RangeChanged, SiteChanged, SiteCreated

__all__ = [
    "ADDED_COLUMNS",
    "ATTENDANCE",
    "AWAY",
    "DERIVABLE",
    "FIRST_HASH",
    "KEEP",
    "KINDS",
    "LEARNED_OTHERWISE",
    "LIMIT_ON_REFILLS",
    "NOT_CANDIDATE",
    "NOT_NOW",
    "OBSERVED",
    "OUTCOMES",
    "REFUSALS",
    "REQUEST",
    "RULE_VERSION",
    "WHOLE_MEMORY",
    "Advised",
    "AnswerTrail",
    "AnswerUndone",
    "Cached",
    "DaysOpened",
    "Event",
    "Fact",
    "History",
    "ImportProfileSet",
    "ImportUndone",
    "LedgerEntry",
    "Names",
    "NoteAdded",
    "Observation",
    "OfferRecorded",
    "OutputImported",
    "PilotEnded",
    "PilotLooked",
    "PilotStarted",
    "ProposalAnswer",
    "ProposalApproved",
    "ProposalApprovedFirst",
    "ProposalRejected",
    "ProposalTurnedDown",
    "RangeChanged",
    "RecordedRow",
    "SiteChanged",
    "SiteCreated",
    "StaffFact",
    "Subject",
    "TeamRecorded",
    "WorkerBlocked",
    "WorkerChanged",
    "WorkerErased",
    "WorkerFacts",
    "WorkerProtected",
    "WorkerUpdate",
    "WorkersImported",
    "added_values",
    "canonical",
    "digest_of_rows",
    "hash_of",
    "invalidated_by",
    "kinds_of",
    "next_entry",
    "observation",
    "observe",
    "parse_fact",
    "row_document",
    "worker_facts",
]
