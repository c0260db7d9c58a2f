"""A small sealed plan of a pilot."""

from datetime import date, timedelta

from crewlearn.advisor.ledger.pilots.sealed import NET, PilotGroup, SealedPlan


def pilot_plan(
    site: str, stations: int, first: date, days: int, *, steps: int = 1, looks: tuple[date, ...] = (), run_in: int = 0
) -> SealedPlan:
    """Return a plan in which each station of a site is a group, for so many calendar days from the first."""
    return SealedPlan(
        groups=tuple(PilotGroup(f"station {n + 1}", site, (n,)) for n in range(stations)),
        baseline=first - timedelta(days=30),
        steps=tuple(first + timedelta(days=days // steps * step) for step in range(steps)),
        last=first + timedelta(days=days - 1),
        run_in=run_in,
        measure=NET,
        outside_fee=1.0,
        carried=0.5,
        alpha=0.05,
        looks=looks,
        promised_gain=1.0,
        promised_power=0.8,
    )
