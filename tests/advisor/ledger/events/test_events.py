"""Every kind of event: exact wire form, errors for unknown kinds and payloads, and what each invalidates."""

import hashlib
import json
import pickle
from dataclasses import FrozenInstanceError, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crewlearn.advisor.ledger.errors import (
    Conflict,
    StoreBusy,
    StoreUnavailable,
    UnusablePolicy,
)
from crewlearn.advisor.ledger.events import (
    ADDED_COLUMNS,
    KINDS,
    AnswerUndone,
    Cached,
    Event,
    ProposalAnswer,
    RecordedRow,
    SiteCreated,
    canonical,
    digest_of_rows,
    invalidated_by,
    kinds_of,
    parse_fact,
    row_document,
)
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.pilots.assignment import assigned, digest_of
from crewlearn.advisor.ledger.queries import read_entries, unused_columns
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.advice_record import NO_REASONS
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.names import RecordNames
from crewlearn.problem.errors import InvalidInput
from support.pilots import pilot_plan
from support.stores import CALENDAR, busy_site, config, contents, state_of

OLDEST = Path(__file__).parents[3] / "data" / "store_0001.json"

STATES: list[dict[str, Any]] = [
    {"memory": {"a": 1}, "after": {"a": 2}},
    {"memory": {"a": 1}},
    {"after": {}},
    {},
    {"learned": "d"},
]
"""How advice may hold the state of a policy."""

PILOT = pilot_plan("hall", stations=4, first=date(2026, 1, 5), days=20)

WIRE: dict[str, list[dict[str, Any]]] = {
    "pilot-started": [
        {
            "site": "hall",
            "plan": PILOT.to_json(),
            "digest": digest_of(PILOT),
            "seed": "s",
            "waves": list(assigned(PILOT, "s")),
        }
    ],
    "pilot-looked": [{"digest": "d", "look": 1, "p": 0.25, "stop": False}],
    "pilot-ended": [
        {"digest": "d", "reason": "the hall closes"},
        {"digest": "d", "result": {"gain": 1.5, "low": None, "high": 2.0}},
    ],
    "team-recorded": [
        {"source": "took", "spans": [[0, 2, 3, None], [1, -1, -2, 4]]},
        {
            "source": "file",
            "spans": [[0, 2, -1, 5]],
            "days": {"2026-01-03": [-1]},
            "settled": [[1, "started", 0], [2, "cancelled", -1]],
        },
    ],
    "days-opened": [{"days": {"2025-12-31": [-3, -2], "2026-01-03": [-1]}}],
    "import-profile-set": [
        {"name": "labor report", "profile": {"columns": {"date": "Day"}, "measure": {"kind": "count"}}},
        {"name": "labor report"},
    ],
    "advised": [
        {
            "period": 2,
            "kind": "wait",
            "pairs": [],
            "held_back": [[0, 1]],
            "reasons": [],
            "waiting": {},
            "interviews": 0.0,
            **state,
        }
        for state in STATES
    ],
    "site-created": [{"site": "hall", "config": config().to_json()}],
    "site-changed": [{"changes": {"fee": 2.0}}, {"changes": {"fee": None, "team": 3}, "period": 4}],
    "range-changed": [{"changes": {"units": Units(0.0, 9.0).to_json()}, "period": 4}],
    "workers-imported": [
        {"digest": "d", "workers": [{"worker": 0, "fee": None, "active": True}]},
        {
            "digest": "d",
            "workers": [{"worker": 1, "prior_n": 2, "prior_mean": 0.5, "prior_given": 9.0}],
            "renamed": [0],
        },
        {"digest": "d", "workers": [], "renamed": [0], "identities": [[0, "e"]]},
    ],
    "worker-changed": [{"worker": 1, "changes": {"status": "left", "fee": None, "pinned": False}}],
    "worker-protected": [{"worker": 1}, {"worker": 1, "until": "2026-12-01", "reason": "trains the others"}],
    "worker-blocked": [{"worker": 1}, {"worker": 1, "until": "2026-12-01", "reason": "on holiday"}],
    "note-added": [{"worker": 1, "text": "speaks Polish"}, {"worker": 1, "text": "away", "until": "2026-12-01"}],
    "worker-erased": [{"worker": 2}],
    "output-imported": [{"digest": "d", "rows": 2, "rows_digest": "e", "corrected": 1, "warnings": ["w"]}],
    "import-undone": [{"number": 5, "rows": 2, "corrected": 1}],
    "proposal-approved": [
        {"proposal": 1, "out": -1},
        {"proposal": 1, "out": 0, "into": 3},
        {"proposal": 1, "out": 0, "into": 3, "why": NO_REASONS.to_json()},
    ],
    "proposal-approved-first": [{"proposal": 1, "out": -1, "into": 3}],
    "proposal-turned-down": [
        {"proposal": 1, "as": "keep", "until": "2026-12-01", "reason": "no"},
        {"proposal": 1, "as": "not-candidate"},
        {"proposal": 1, "as": "not-now"},
    ],
    "proposal-rejected": [{"proposal": 1, "reason": ""}, {"proposal": 1, "reason": "no", "keep_out": True}],
    "offer-recorded": [
        {"proposal": 1, "outcome": "declined", "period": 3},
        {"proposal": 1, "outcome": "started", "period": 3, "leaver": -1},
    ],
    "undone": [
        {"number": 7},
        {"number": 7, "type": "worker-changed", "worker": 0},
        {"number": 7, "type": "offer-recorded", "proposal": 1, "outcome": "started"},
    ],
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_is_a_frozen_dataclass_whose_wire_form_is_exact(kind: str) -> None:
    """Unset keys stay absent, so that an old event keeps its hash."""
    assert is_dataclass(KINDS[kind])
    payloads = [*WIRE.get(kind, ()), *(payload for name, payload in _oldest() if name == kind)]
    assert payloads
    for payload in payloads:
        fact = parse_fact(kind, payload)
        assert canonical(fact.to_payload()) == canonical(payload)
        assert pickle.loads(pickle.dumps(fact)) == fact
        with pytest.raises(FrozenInstanceError):
            setattr(fact, next(iter(vars(fact))), None)


def test_the_oldest_record_keeps_its_wire_form() -> None:
    for kind, payload in _oldest():
        assert canonical(parse_fact(kind, payload).to_payload()) == canonical(payload)


def _oldest() -> list[tuple[str, dict[str, Any]]]:
    return [(event["type"], json.loads(event["payload"])) for event in json.loads(OLDEST.read_text())["events"]]


def test_what_is_recorded_today_keeps_its_wire_form(store: Store) -> None:
    busy_site(store)
    with store.reading() as connection:
        for entry in read_entries(connection, store.key(connection, "site")):
            assert canonical(Event.of(entry).fact.to_payload()) == canonical(entry.payload)


def test_a_state_is_the_same_after_json(store: Store) -> None:
    busy_site(store)
    site = state_of(store)
    assert json.dumps(Site.from_json(json.loads(json.dumps(site.to_json()))).to_json()) == json.dumps(site.to_json())
    assert [row[4] for row in contents(store)["sites"]] == [json.dumps(site.to_json())]


def test_an_unknown_kind_is_named_with_what_to_do() -> None:
    with pytest.raises(InvalidInput, match=r"event = 'site-sold': is not a known kind .*update this one"):
        parse_fact("site-sold", {})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("worker-erased", {}),
        ("worker-changed", {"worker": 0, "changes": {"salary": 3}}),
        ("workers-imported", {"digest": "d", "workers": 3}),
        ("output-imported", {"digest": "d", "warnings": []}),
        ("advised", {"period": "never"}),
        ("worker-protected", {"worker": 1, "until": "soon"}),
        ("note-added", {"worker": 1}),
    ],
)
def test_a_malformed_payload_is_named_with_what_to_do(kind: str, payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=rf"event = '{kind}': has a payload that cannot be read .*ledger verify"):
        parse_fact(kind, payload)


def test_an_unknown_kind_of_refusal_is_refused() -> None:
    with pytest.raises(InvalidInput, match="as"):
        parse_fact("proposal-turned-down", {"proposal": 1, "as": "never"})


def test_an_unknown_outcome_of_an_offer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="outcome"):
        parse_fact("offer-recorded", {"proposal": 1, "outcome": "lost", "period": 3})


def test_which_kinds_answer_and_which_can_be_undone() -> None:
    answers = {kind.type for kind in kinds_of(ProposalAnswer)}
    approvals = {"proposal-approved-first", "proposal-approved"}
    assert answers == {*approvals, "proposal-rejected", "proposal-turned-down", "offer-recorded"}
    assert {name for name, kind in KINDS.items() if kind.undoable} >= {*answers, "worker-changed"}
    assert {name for name, kind in KINDS.items() if not kind.by_people} == {"advised"}


def test_what_becomes_stale() -> None:
    assert invalidated_by([]) == invalidated_by(["advised", "output-imported"]) == frozenset()
    assert invalidated_by(["proposal-approved", "advised"]) == {Cached.PAST}
    assert Cached.PEOPLE in invalidated_by(["workers-imported"])
    assert invalidated_by(["worker-erased"]) == invalidated_by(["from a newer crewlearn"]) == frozenset(Cached)


def test_every_kind_that_can_be_undone_is_named_when_it_is() -> None:
    names = RecordNames(People({0: "a"}, {0: "Ada"}), {}, CALENDAR)
    words = {payload.get("type"): parse_fact("undone", payload).tell(names) for payload in WIRE["undone"]}
    together = parse_fact("undone", {"number": 9, "since": 5, "type": "proposal-approved", "proposal": 1})
    assert together.tell(names) == "took back 5 answers given together, the last the approval of proposal 1"
    assert words == {
        None: "took back event 7",
        "worker-changed": "took back what was last said of Ada (a)",
        "offer-recorded": "took back that proposal 1 is started",
    }
    assert AnswerUndone(3).to_payload() == {"number": 3}
    for kind in (kind for kind in KINDS.values() if kind.undoable):
        facts = [parse_fact(kind.type, payload) for payload in WIRE[kind.type]]
        assert all(kind.slip(fact.subject, names) for fact in facts), kind.type


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("x", "y"), StoreBusy("x", "y"), Conflict("a", 1, "y"), UnusablePolicy("policy", "p", "y")],
)
def test_errors_keep_their_class_across_processes(error: InvalidInput) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    if isinstance(error, StoreUnavailable):
        assert error.field == "db"


class WiderRow(NamedTuple):
    """A row as a later version may have it, with two columns more."""

    period: int
    worker: int
    units: float | None
    hours: float | None
    attendance: str
    scrap: int | None = None
    line: str | None = None


def test_an_added_column_is_hashed_and_exported_only_where_it_is_set() -> None:
    plain = (1, 0, 5.0, None, "worked")
    wider: Any = WiderRow(*plain)
    assert digest_of_rows([wider]) == digest_of_rows([RecordedRow(*plain)])
    assert row_document(wider) == row_document(RecordedRow(*plain))
    digests = {digest_of_rows([wider._replace(**added)]) for added in ({}, {"scrap": 0}, {"scrap": 1}, {"line": "1"})}
    assert len(digests) == 4
    text = '[[1,0,5.0,null,"worked",{"line":"b","scrap":0}]]'
    assert digest_of_rows([wider._replace(scrap=0, line="b")]) == hashlib.sha256(text.encode()).hexdigest()
    assert row_document(wider._replace(scrap=0)) == {**row_document(wider), "scrap": 0}


def test_the_columns_of_earlier_records_are_hashed_in_every_row() -> None:
    """Another one here, or a default for one of them, would change the digests of all records."""
    first = tuple(name for name in RecordedRow._fields if name not in ADDED_COLUMNS)
    assert first == ("period", "worker", "units", "hours", "attendance")
    assert RecordedRow._fields[: len(first)] == first
    assert all(RecordedRow._field_defaults[name] is None for name in ADDED_COLUMNS)


def test_columns_that_no_row_has_are_known(store: Store) -> None:
    busy_site(store)
    with store.reading() as connection:
        key = store.key(connection, "site")
        assert unused_columns(connection, key, ["units", "hours", "attendance"]) == {"hours"}
        assert unused_columns(connection, key + 1, ["units"]) == {"units"}
        assert unused_columns(connection, key, []) == set()


def test_rows_are_hashed_with_the_event_that_brought_them() -> None:
    fact = parse_fact("output-imported", WIRE["output-imported"][0])
    assert fact.fault("hall", 3, [RecordedRow(1, 0, 5.0, None, "worked")]) == "the rows of event 3 were altered"


def test_settings_recorded_without_policy_or_brakes_keep_their_meaning() -> None:
    """The defaults of new sites are newer than such records."""
    written = config().to_json()
    for name in ("policy", "least_tenure", "most_a_week"):
        del written[name]
    fact = parse_fact("site-created", {"site": "s", "config": written})
    assert isinstance(fact, SiteCreated)
    read = fact.config
    assert (read.policy, read.least_tenure, read.most_a_week) == ("value-of-replacement", 0, None)
