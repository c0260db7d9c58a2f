"""The random assignment of a pilot: it follows from a seed and the sealed plan alone, so that anybody can check it."""

import hashlib

from crewlearn.advisor.ledger.events.canonical import canonical
from crewlearn.advisor.ledger.pilots.sealed import SealedPlan
from crewlearn.problem.chance import uniform


def digest_of(plan: SealedPlan) -> str:
    """Return the hash of a plan."""
    return hashlib.sha256(canonical(plan.to_json()).encode()).hexdigest()


def assigned(plan: SealedPlan, seed: str) -> tuple[int, ...]:
    """Return the wave of each group: a shuffle by the hash of the seed and the plan's digest (Fisher-Yates)."""
    key = int.from_bytes(hashlib.sha256(f"{seed}\n{digest_of(plan)}".encode()).digest()[:8], "big")
    waves = [wave for wave, size in enumerate(plan.sizes) for _ in range(size)]
    for place in range(len(waves) - 1, 0, -1):
        other = int(uniform(key, place) * (place + 1))
        waves[place], waves[other] = waves[other], waves[place]
    return tuple(waves)
