"""What becomes of replacements that are under way, whichever event ends them."""

from crewlearn.advisor.ledger.site import UNDER_WAY, Proposal, Site
from crewlearn.problem.arrays import NOBODY


def fail(site: Site, proposal: Proposal, outcome: str, period: int) -> None:
    """Take back a replacement that is under way."""
    site.roster.fail(proposal.into)
    site.failed.append((proposal.out, proposal.into))
    site.set_proposal(proposal.id, status=outcome, settled_in=period)


def bar(site: Site, number: int) -> None:
    """Keep a worker from being proposed again for a while."""
    site.set_worker(number, barred_until=site.period + site.config.ask_again_after)


def release(site: Site, number: int) -> None:
    """Empty a worker's station and cancel the hires that would bring them."""
    for proposal in site.open_proposals(*UNDER_WAY):
        if proposal.into == number:
            fail(site, proposal, "cancelled", site.period)
        elif proposal.out == number:
            site.set_proposal(proposal.id, out=NOBODY)  # the hire fills the empty station
    if number in site.roster.active:
        site.roster.vacate(number)
        site.set_worker(number, since=0)
