"""What programs are told of a site, as plain data: one form, for the command line and the web alike.

Workers go by the firm's own ids, null for nobody or somebody erased, which a proposal's `place` tells apart; money and
output are in people's units.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.cycle import cycle_of
from crewlearn.advisor.events import ADVISED, Event, Row
from crewlearn.advisor.explain import Member, explain, is_overdue, members, place_kind, sentence, what_changed
from crewlearn.advisor.facts import facts
from crewlearn.advisor.gain import Gain
from crewlearn.advisor.identities import People
from crewlearn.advisor.site import PROPOSED, Proposal, Site

if TYPE_CHECKING:  # asking for advice need not load what reads files and checks records
    from crewlearn.advisor.imports import Done
    from crewlearn.advisor.rehearsal import Checked
    from crewlearn.advisor.verify import Verified


def advice(name: str, site: Site, people: People) -> dict[str, Any]:
    """Describe the advice for the coming period."""
    proposals = site.open_proposals(PROPOSED)
    return {
        **_when(name, site, people),
        "kind": "propose" if proposals else "wait",
        "proposals": [proposal(site, people, one) for one in proposals],
        "waiting": cycle_of(site, people),
        "held_back": len(site.held_back),
        "changed": what_changed(site, people) or None,
    }


def status(name: str, site: Site, people: People, gain: Gain, listed: Iterable[Member] | None = None) -> dict[str, Any]:
    """Describe the team, the pool, what is under way, and money so far."""
    return {
        **_when(name, site, people),
        "stations": site.config.team,
        "filled": site.config.team - site.roster.empty,
        "earned": site.earned,
        "fees": site.fees,
        "mean_delay": site.mean_delay,
        "gain": vars(gain),
        "cycle": cycle_of(site, people),
        "proposals": [
            {**proposal(site, people, one), "overdue": is_overdue(site, one)} for one in site.open_proposals()
        ],
        "workers": [worker(site, people, one) for one in (members(site, people) if listed is None else listed)],
    }


def _when(name: str, site: Site, people: People) -> dict[str, Any]:
    return {
        "site": name,
        "period": site.period,
        "date": str(site.config.calendar.date_of(site.period)),
        "sentence": sentence(site, people),
    }


def settings(config: SiteConfig) -> dict[str, Any]:
    """Describe a site's settings, without the name of the policy's random stream, which says nothing to people."""
    return {name: value for name, value in config.to_json().items() if name != "stream_key"}


def worker(site: Site, people: People, member: Member) -> dict[str, Any]:
    """Describe a worker: where they stand, and what is thought of them."""
    return {
        "worker_id": people.ids.get(member.number),
        "name": people.names.get(member.number),
        "station": None if member.station is None else member.station + 1,
        "status": site.workers[member.number].status,
        "days": member.estimate.days,
        "estimate": member.estimate.mean,
        "low": member.estimate.low,
        "high": member.estimate.high,
        "note": member.note,
    }


def proposal(site: Site, people: People, one: Proposal) -> dict[str, Any]:
    """Describe a proposal; what spoke for it is as it was then."""
    said = facts(site, one)
    return {
        "id": one.id,
        "status": one.status,
        "period": one.period,
        "date": str(site.config.calendar.date_of(one.period)),
        "out": people.ids.get(one.makes_room),
        "place": place_kind(one),
        "in": people.ids.get(one.into),
        "fee": said.fee,
        "reason": one.reason or None,
        "why": said.to_json(),
    }


def explanation(site: Site, people: People, one: Proposal) -> dict[str, Any]:
    """Describe a proposal with why it was made, as it was then."""
    return {**proposal(site, people, one), "explanation": explain(site, people, one)}


def verified(found: "Verified") -> dict[str, Any]:
    """Describe what a check of the record found."""
    return {**vars(found), "faults": list(found.faults), "sound": found.sound}


def site_line(name: str, version: int, site: Site, people: People) -> dict[str, Any]:
    """Describe a site in a line."""
    return {
        "site": name,
        "version": version,
        "advice": sentence(site, people),
        "period": site.period,
        "date": str(site.config.calendar.date_of(site.period)),
        "stations": site.config.team,
        "filled": site.config.team - site.roster.empty,
        "proposals": len(site.open_proposals(PROPOSED)),
    }


def worker_in_full(site: Site, people: People, member: Member) -> dict[str, Any]:
    """Describe a worker with everything that was said of them."""
    one, calendar = site.workers[member.number], site.config.calendar
    return {
        **worker(site, people, member),
        "pinned": one.pinned,
        "fee": one.fee,
        "prior_n": one.prior_n,
        "prior_mean": site.prior_mean_of(member.number),
        "interview": one.interview,
        "since": str(calendar.date_of(one.since)) if one.since else None,
        "not_before": str(calendar.date_of(one.barred_until)) if one.barred_until > site.period else None,
        "recorded_to": str(calendar.date_of(one.recorded_to)) if one.recorded_to else None,
    }


def output(site: Site, people: People, number: int, row: Row) -> dict[str, Any]:
    """Describe a row of output that an event brought."""
    return {
        "date": str(site.config.calendar.date_of(row.period)),
        "period": row.period,
        "worker_id": people.ids.get(row.worker),
        "units": row.units,
        "hours": row.hours,
        "attendance": row.attendance,
        "event": number,
    }


def event(one: Event) -> dict[str, Any]:
    """Describe an event, without the policy's memory, which only programs read and the export has."""
    told = {name: value for name, value in one.payload.items() if one.type != ADVISED or name not in _MEMORY}
    return {**vars(one), "payload": told}


_MEMORY = ("memory", "after")


def recorded(done: "Done", said: str) -> dict[str, Any]:
    """Describe what an import put on record, and the advice that stands now."""
    return {**vars(done), "warnings": list(done.warnings), "advice": said}


def checked(found: "Checked") -> dict[str, Any]:
    """Describe what importing a file would do."""
    done = {**vars(found.done), "warnings": list(found.done.warnings)}
    return {
        "sound": found.sound,
        "columns": dict(found.columns),
        "ignored": list(found.ignored),
        "rows": found.rows,
        **done,
        "errors": [vars(error) for error in found.errors],
        "total_errors": found.total,
    }
