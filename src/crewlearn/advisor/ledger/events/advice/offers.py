"""Ending replacements under way, for the events that do so."""

from crewlearn.advisor.ledger.site import STARTED, UNDER_WAY, Proposal, Site
from crewlearn.problem.arrays import NOBODY


def fail(site: Site, proposal: Proposal, outcome: str, period: int) -> None:
    """End a replacement under way without a start."""
    site.roster.fail(proposal.into)
    site.failed.append((proposal.out, proposal.into))
    site.set_proposal(proposal.id, status=outcome, settled_in=period)


def start(site: Site, proposal: Proposal, leaver: int, period: int) -> None:
    """Settle a replacement whose incoming worker started; a fee that is due at completion is paid.

    The roster is the caller's.
    """
    site.completed.append((leaver, proposal.into))
    site.set_proposal(proposal.id, status=STARTED, leaver=leaver, settled_in=period)
    if not proposal.paid:
        site.fees += proposal.fee
        site.set_proposal(proposal.id, paid_in=period)
    count, total = site.delays
    site.delays = (count + 1, total + site.config.calendar.between(proposal.decided_in, period))


def seat_in_advice(site: Site, number: int) -> None:
    """Move a newcomer from an empty station that a pilot leaves to usual practice to one that it does not, if any."""
    stations, withheld = list(site.roster.stations), site.withheld_stations()
    taken = stations.index(number)
    others = [place for place, worker in enumerate(stations) if worker == NOBODY and place not in withheld]
    if taken in withheld and others:
        stations[taken], stations[others[0]] = NOBODY, number
        site.roster = site.roster.reseated(stations)


def bar(site: Site, number: int) -> None:
    """Bar a worker from being proposed for `ask_again_after` periods."""
    site.set_worker(number, barred_until=site.period + site.config.ask_again_after)


def release(site: Site, number: int) -> None:
    """Vacate a worker's station and cancel the offers made to them."""
    for proposal in site.open_proposals(*UNDER_WAY):
        if proposal.into == number:
            fail(site, proposal, "cancelled", site.period)
        elif proposal.out == number:
            site.set_proposal(proposal.id, out=NOBODY)  # the hire fills the empty station
    if number in site.roster.active:
        site.roster.vacate(number)
        site.set_worker(number, since=0)
