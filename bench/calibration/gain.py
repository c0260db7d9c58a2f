"""The fair gain against the truth: in the same world, what was earned under advice less what keeping the team earns."""

import math
from collections.abc import Sequence

import numpy as np

from calibration.firms import FIRMS, FIRST_SEED, firm_problem, play_firm
from calibration.parts import Case, Limit, Line, Part, Row
from crewlearn.advisor.evidence.gain import fair_gain
from crewlearn.advisor.evidence.levels import Learned

WORLDS, QUICK_WORLDS = 200, 40
COVERED, RIGHT_SIGN = Limit(0.92, 0.98), Limit(0.97, 1.0)


def cases(quick: bool) -> list[Case]:
    """Return the firms, under advice that is followed always and half of the time; a part of them has all kinds."""
    worlds = QUICK_WORLDS if quick else WORLDS
    return [
        {"firm": firm, "follow": follow, "seed": FIRST_SEED + world}
        for world in range(worlds)
        for firm in FIRMS
        for follow in (1.0, 0.5)
    ]


def measure(case: Case) -> Row:
    """Return the true gain of a firm and the gain that it is told."""
    firm = play_firm(firm_problem(case["firm"]), case["seed"], case["follow"])
    told = fair_gain(firm.record, Learned.of(firm.learned))
    return {
        "true": firm.gain,
        "expected": told.whole.expected,
        "low": told.whole.low,
        "high": told.whole.high,
        "changes": len(told.results),
    }


def table(rows: Sequence[Row]) -> list[Line]:
    """Return coverage, right signs and errors by firm and by how often advice is followed."""
    lines = []
    for firm, follow in dict.fromkeys((row["firm"], row["follow"]) for row in rows):
        own = [row for row in rows if (row["firm"], row["follow"]) == (firm, follow)]
        true, expected, low, high = (
            np.array([row[name] for row in own]) for name in ("true", "expected", "low", "high")
        )
        clear = (low > 0.0) | (high < 0.0)
        right = float(np.mean((expected > 0.0)[clear] == (true > 0.0)[clear])) if clear.any() else math.nan
        figures = {
            "firms": float(len(own)),
            "replacements": float(np.mean([row["changes"] for row in own])),
            "true gain": float(true.mean()),
            "told": float(expected.mean()),
            "half-width": float(np.mean(high - low)) / 2.0,
            "rms error": float(np.sqrt(np.mean((expected - true) ** 2))),
            "covered": float(np.mean((low <= true) & (true <= high))),
            "excludes 0": float(clear.mean()),
            "right sign": right,
        }
        limits = {"covered": COVERED} | ({"right sign": RIGHT_SIGN} if clear.any() else {})
        lines.append(Line(f"{firm}, {'followed' if follow == 1.0 else 'half followed'}", figures, limits))
    return lines


PART = Part(cases, measure, table)
