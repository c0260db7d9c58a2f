"""Where notices come from: the advice of a transaction, trends after an import, overdue offers by the calendar day.

The functions that look for something new mark what they return, so that it is told once.
"""

from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.events import Event
from crewlearn.advisor.ledger.learned.dated_readings import date_of_period, readings_of
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.notices.kinds import FOUND_TREND, NEW_ADVICE, OVERDUE_OFFER, Notice
from crewlearn.advisor.ledger.notices.outbox import mark, marked
from crewlearn.advisor.ledger.site import UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import StandingAdvice


def new_advice(before: StandingAdvice, site: Site, event: Event) -> list[Notice]:
    """Return a notice of the advice that an event recorded, unless it is what stood before."""
    advice = site.advice
    if (before.period, before.proposals) == (advice.period, advice.proposals):
        return []
    proposals = [site.proposals[number] for number in advice.proposals]
    facts = {
        "event": event.number,
        "period": advice.period,
        "date": str(site.config.calendar.date_of(advice.period)),
        "advice": advice.kind,
        "proposals": [{"id": proposal.id, "out": proposal.out, "in": proposal.into} for proposal in proposals],
        "again": before.period == advice.period,
    }
    return [Notice(NEW_ADVICE, facts)]


def found_trends(connection: sa.Connection, key: int, site: Site) -> list[Notice]:
    """Return a notice of each trend that shows for the first time, or began after the last one told of."""
    policy = site.policy
    if not policy.learns_by_day or not site.workers:
        return []
    readings = readings_of(site, policy, policy_state(connection, key, site), site.situation())
    if readings is None:
        return []
    calendar, better = site.config.calendar, -1.0 if site.config.units.lower_is_better else 1.0
    told, notices, workers = marked(connection, key, FOUND_TREND), [], []
    for worker, person in enumerate(readings.people):
        if person.trend is None:
            continue
        since = date_of_period(calendar, person.trend.since)
        if since.toordinal() <= told.get(worker, 0):
            continue
        facts = {
            "worker": worker,
            "since": str(since),
            "direction": "up" if better * person.trend.change > 0.0 else "down",
            "chance": round(min(person.trend.chance, 0.999), 3),
        }
        notices.append(Notice(FOUND_TREND, facts))
        workers.append(worker)
    mark(connection, key, FOUND_TREND, workers, site.day.toordinal())
    return notices


def overdue_offers(connection: sa.Connection, key: int, site: Site, today: date) -> list[Notice]:
    """Return a notice of each offer that is overdue on a day and was not told of yet."""
    late = [
        (offer, waited)
        for offer in site.open_proposals(*UNDER_WAY)
        if takes_too_long(site, offer, waited := _waited(site, offer, today))
    ]
    told = marked(connection, key, OVERDUE_OFFER, [offer.id for offer, _ in late]) if late else {}
    fresh = [(offer, waited) for offer, waited in late if offer.id not in told]
    mark(connection, key, OVERDUE_OFFER, [offer.id for offer, _ in fresh], today.toordinal())
    return [Notice(OVERDUE_OFFER, _overdue_facts(site, offer, waited)) for offer, waited in fresh]


def _overdue_facts(site: Site, offer: Proposal, waited: int) -> dict[str, Any]:
    return {
        "proposal": offer.id,
        "out": offer.out,
        "in": offer.into,
        "status": offer.status,
        "approved": str(site.config.calendar.date_of(offer.decided_in)),
        "days_waited": waited,
        "usual_days": round(site.mean_delay, 1),
    }


def _waited(site: Site, offer: Proposal, today: date) -> int:
    """Return for how many periods an offer has waited, whether or not output was imported meanwhile."""
    calendar = site.config.calendar
    passed = calendar.periods_between(calendar.date_of(offer.decided_in), today - timedelta(days=1))
    return max(len(passed), site.period - offer.decided_in)


def takes_too_long(site: Site, proposal: Proposal, waited: int) -> bool:
    """Return whether an offer that has waited so many periods is over twice the usual time, and by a week."""
    return proposal.status in UNDER_WAY and waited > max(2.0 * site.mean_delay, site.mean_delay + 5.0)
