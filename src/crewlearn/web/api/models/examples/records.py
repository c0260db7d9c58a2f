"""Examples of output, imports and the ledger, by model."""

from typing import Any

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.web.api.models.examples.advice import SENTENCE
from crewlearn.web.api.models.examples.pages import page_of

_IMPORT: dict[str, Any] = {
    "number": 12,
    "at": "2026-11-16T17:30:00.000+00:00",
    "actor": "mia",
    "rows": 24,
    "corrected": 0,
    "replaced": 0,
    "from": "2026-11-16",
    "to": "2026-11-16",
    "undone": None,
    "can_undo": True,
}
_OUTPUT: dict[str, Any] = {
    **{column.name: None for column in OUTPUT.columns if column.listed},
    "date": "2026-11-16",
    "period": 1,
    "worker_id": "0113",
    "units": 84.0,
    "attendance": "worked",
    "event": 3,
}
_DONE: dict[str, Any] = {
    "recorded": 24,
    "known": 0,
    "corrected": 0,
    "skipped": 0,
    "enrolled": 0,
    "reading": [],
    "warnings": [],
}
_EVENT: dict[str, Any] = {
    "number": 98,
    "at": "2027-01-11T06:30:00.000+00:00",
    "actor": "mia",
    "rule_version": "3",
    "type": "proposal-approved",
    "payload": {"proposal": 7, "out": 2},
    "previous": "5f0c" * 16,
    "hash": "a91e" * 16,
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "NewOutputs": [
        {
            "rows": [
                {"date": "2026-11-16", "worker_id": "0113", "units": 84},
                {"date": "2026-11-16", "worker_id": "0207", "attendance": "absent"},
            ]
        }
    ],
    "Outputs": page_of(_OUTPUT),
    "Recorded": [{**_DONE, "advice": SENTENCE}],
    "Checked": [
        {
            **_DONE,
            "recorded": 0,
            "sound": False,
            "columns": {"date": "Tag", "worker_id": "Badge no", "units": "Pieces"},
            "ignored": ["Remark"],
            "rows": 24,
            "errors": [{"line": 7, "column": "units", "value": "8o", "expected": "a number"}],
            "total_errors": 1,
            "causes": [
                {
                    "count": 1,
                    "sentence": "1 row has no readable number there",
                    "action": "correct the cells, or let the file be read as it is written: `yes`",
                    "examples": [{"line": 7, "column": "units", "value": "8o", "expected": "a number"}],
                }
            ],
        }
    ],
    "Profiles": [
        {
            "items": [
                {
                    "name": "labor report",
                    "reading": [
                        "“Emp ID” is the worker's id.",
                        "“Date” is the day.",
                        "A day's output is the sum of “Units”.",
                    ],
                    "plan": {
                        "columns": {"worker_id": "Emp ID", "date": "Date"},
                        "measure": {"kind": "sum", "of": "Units", "per": "", "scale": 1.0, "clock": 1.0},
                    },
                }
            ]
        }
    ],
    "Imports": page_of(_IMPORT),
    "ImportTakenBack": [{"import": {**_IMPORT, "undone": 13, "can_undo": False}, "advice": SENTENCE}],
    "Events": page_of(_EVENT),
}
