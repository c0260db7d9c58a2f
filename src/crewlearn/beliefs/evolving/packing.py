"""What was learned as plain data, packed: arrays are written as base64 text of their bytes.

Only what can matter later is written: filters of ramps that are not ruled out, rows that may be learned again, and days
noted. The rest follows from it.
"""

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from crewlearn.beliefs.evolving.allocation import empty_evolving, scratch_size
from crewlearn.beliefs.evolving.model import (
    ANCHORS,
    CLASSES,
    DAYS_KEPT,
    DAYS_NOTED,
    FADED,
    NO_FILTERS,
    RAMPS,
    REPLAYABLE,
    ROWS,
    SLOTS,
    Crowd,
    Days,
    Evolving,
    Filters,
    History,
    People,
    Pool,
)
from crewlearn.problem.arrays import FloatArray, IntArray

Packed = dict[str, Any]

INTEGERS, REALS = "<i8", "<f8"

VIEWED = ("filters", "anchors", "history", "scratch")
"""The parts of what was learned that plain Python reads in place."""

FORM = 3
"""The number of this form; data of another form cannot be read, and is to be learned again.

Form 3 has the arrays of form 2, but on floors with next to no output other days were learned from.
"""


def pack_array(array: FloatArray | IntArray) -> str:
    """Return an array as text.

    >>> unpack_array(pack_array(np.array([0.5, -1.0]))).tolist()
    [0.5, -1.0]
    """
    plain = np.asarray(array)
    kind = INTEGERS if plain.dtype.kind == "i" else REALS
    return kind + base64.b64encode(plain.astype(kind).tobytes()).decode("ascii")


def unpack_array(text: str) -> Any:
    """Return the array that `pack_array` wrote."""
    kind, data = text[: len(REALS)], text[len(REALS) :]
    return np.frombuffer(base64.b64decode(data), dtype=kind).astype(np.int64 if kind == INTEGERS else np.float64)


def pack(learned: Evolving) -> Packed:
    """Return what was learned as plain data."""
    counts, pool = learned.counts, learned.pool
    slots, rows = int(counts[SLOTS]), int(counts[ROWS]) if counts[REPLAYABLE] == 1 else 0
    used, noted = _used(learned.people, pool, slots), min(int(counts[DAYS_NOTED]), DAYS_KEPT)
    return {
        "form": FORM,
        "rows": len(learned.history.worker),
        "numbers": pack_array(learned.numbers),
        "counts": pack_array(counts),
        "people": _pack_fields(learned.people, slice(None)),
        "filters": _pack_fields(learned.filters, used),
        "anchors": _pack_fields(learned.anchors, slice(slots * ANCHORS)),
        "pool": {name: pack_array(array) for name, array in pool._asdict().items() if name != "fading"},
        "crowd": _pack_fields(learned.crowd, slice(None)),
        "history": _pack_fields(learned.history, slice(rows)),
        "days": _pack_fields(learned.days, slice(noted)),
    }


def unpack(data: Mapping[str, Any]) -> Evolving:
    """Return what `pack` described; raise ValueError if it has another form."""
    if data.get("form") != FORM:
        raise ValueError(f"what was learned is in form {data.get('form')}, and this version reads form {FORM}")
    people = People(**{name: unpack_array(text) for name, text in data["people"].items()})
    numbers, counts = unpack_array(data["numbers"]), unpack_array(data["counts"])
    slots = int(counts[SLOTS])
    room = empty_evolving(len(people.slot), int(data["rows"]), slots)
    pool = Pool(fading=room.pool.fading, **{name: unpack_array(text) for name, text in data["pool"].items()})
    for ramp in range(RAMPS):
        if pool.priors[ramp] > -math.inf:
            days = float(pool.ramp_days[ramp])
            pool.fading[ramp * FADED : (ramp + 1) * FADED] = [math.exp(-day / days) for day in range(FADED)]
    crowd = Crowd(**{name: unpack_array(text) for name, text in data["crowd"].items()})
    _unpack_fields(room.filters, data["filters"], _used(people, pool, slots))
    _unpack_fields(room.anchors, data["anchors"], slice(slots * ANCHORS))
    _unpack_fields(room.history, data["history"], slice(_length(data["history"]["worker"])))
    _unpack_fields(room.days, data["days"], slice(_length(data["days"]["periods"])))
    return room._replace(numbers=numbers, counts=counts, people=people, pool=pool, crowd=crowd)


def with_room(learned: Evolving, workers: int, capacity: int) -> Evolving:
    """Return a copy of what was learned, with room for more workers in the pool, and for so many to work here."""
    people = People(*(_longer(array, workers) for array in learned.people))
    known = len(learned.people.slot)
    if workers > known:
        fresh = empty_evolving(workers - known, 0, 0).people
        for array, added in zip(people, fresh, strict=True):
            array[known:] = added
    filters = Filters(*(_longer(array, capacity * RAMPS * CLASSES) for array in learned.filters))
    anchors = type(learned.anchors)(*(_longer(array, capacity * ANCHORS) for array in learned.anchors))
    return learned._replace(
        numbers=learned.numbers.copy(),
        counts=learned.counts.copy(),
        people=people,
        filters=filters,
        anchors=anchors,
        pool=_copied(learned.pool),
        crowd=_copied(learned.crowd),
        history=_copied(learned.history),
        days=_copied(learned.days),
        scratch=np.zeros(scratch_size(capacity), dtype=np.float64),
    )


def _copied(arrays: Any) -> Any:
    return type(arrays)(*(array.copy() for array in arrays))


def as_plain(learned: Evolving) -> Evolving:
    """Return what was learned in the form that plain Python reads fast: lists, which are copies.

    Filters, anchors, history and scratch are large and little of them is read, so they become views of the same arrays.
    """
    parts = {name: _listed(part) for name, part in learned._asdict().items() if name not in VIEWED}
    views = {name: _viewed(getattr(learned, name)) for name in VIEWED}
    return Evolving(**parts, **views)


def as_arrays(plain: Evolving, like: Evolving) -> Evolving:
    """Return as arrays what `as_plain` made of `like`, without the scratch."""
    learned: Evolving = _as_arrays(plain, like)
    return learned._replace(scratch=np.zeros(0, dtype=np.float64))


def _as_arrays(plain: Any, like: Any) -> Any:
    pairs = zip(plain, like, strict=True)
    return type(like)(
        *(_as_arrays(item, old) if isinstance(old, tuple) else np.asarray(item, dtype=old.dtype) for item, old in pairs)
    )


def _listed(part: Any) -> Any:
    return type(part)(*(array.tolist() for array in part)) if isinstance(part, tuple) else part.tolist()


def _viewed(part: Any) -> Any:
    return type(part)(*(memoryview(array) for array in part)) if isinstance(part, tuple) else memoryview(part)


def _longer(array: Any, length: int) -> Any:
    """Return a copy of an array, padded with zeros."""
    padded = np.zeros(max(length, len(array)), dtype=array.dtype)
    padded[: len(array)] = array
    return padded


def _used(people: People, pool: Pool, slots: int) -> IntArray:
    """Return the places of the filters that may still matter, in order."""
    ramps = [ramp for ramp in range(RAMPS) if pool.live[ramp] != 0]
    alike = np.zeros(slots, dtype=np.bool_)
    seen = (people.slot >= 0) & (people.slot < NO_FILTERS)
    alike[people.slot[seen]] = people.alike[seen] == 1
    of_ramps = np.add.outer(np.array(ramps, dtype=np.int64) * CLASSES, np.arange(CLASSES)).ravel()
    wanted = np.zeros((slots, RAMPS * CLASSES), dtype=np.bool_)
    wanted[alike, :CLASSES] = True
    wanted[np.ix_(~alike, of_ramps)] = True
    return np.flatnonzero(wanted)


def _pack_fields(arrays: Any, part: Any) -> Packed:
    return {name: pack_array(array[part]) for name, array in arrays._asdict().items()}


def _unpack_fields(arrays: Filters | History | Days | Any, data: Mapping[str, str], part: Any) -> None:
    for name, text in data.items():
        getattr(arrays, name)[part] = unpack_array(text)


def _length(text: str) -> int:
    return len(base64.b64decode(text[len(REALS) :])) // 8
