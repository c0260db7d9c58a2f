"""JSON documents about a site, shared by the command line and the web.

Workers appear by the firm's ids, null for nobody or an erased worker, which a proposal's `place` tells apart. Money and
output are in the site's units.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crewlearn.advisor.advice.candidates import Candidate
from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.advice.limits import limits_of
from crewlearn.advisor.advice.readings import PersonLearned, SiteLearned
from crewlearn.advisor.evidence.track_record import AS_PREDICTED, BETTER, WORSE, Outcome, TrackRecord
from crewlearn.advisor.ledger.events import KINDS, REQUEST, LedgerEntry
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.settings.config import BUDGETS, SiteConfig
from crewlearn.advisor.ledger.site import PROPOSED, Proposal, Site
from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.advisor.wording.candidates import candidate_documents
from crewlearn.advisor.wording.explain import Member, explain, is_overdue, members, sentence, what_changed
from crewlearn.advisor.wording.learned import person_notes
from crewlearn.advisor.wording.names import place_kind
from crewlearn.advisor.wording.waiting import cycle_of

if TYPE_CHECKING:  # advice does not need these modules at run time
    from crewlearn.advisor.files.dry_run import DryRun
    from crewlearn.advisor.files.errors.grouping import ErrorGroup
    from crewlearn.advisor.files.recording.import_result import ImportResult
    from crewlearn.advisor.ledger.verify import Verified


CandidatesOf = Mapping[int, Sequence[Candidate]]
"""The candidates for open proposals, by their number."""

NOT_LISTED: CandidatesOf = {}


def advice(name: str, site: Site, people: People, candidates: CandidatesOf = NOT_LISTED) -> dict[str, Any]:
    """Describe the advice for the coming period."""
    proposals = site.open_proposals(PROPOSED)
    return {
        **_when(name, site, people),
        "kind": "propose" if proposals else "wait",
        "proposals": [proposal(site, people, listed, candidates) for listed in proposals],
        "waiting": cycle_of(site, people),
        "held_back": len(site.held_back),
        "changed": what_changed(site, people) or None,
    }


def status(
    name: str,
    site: Site,
    people: People,
    record: TrackRecord,
    listed: Iterable[Member] | None = None,
    learned: SiteLearned | None = None,
) -> dict[str, Any]:
    """Describe the team, the pool, replacements under way, money so far, and what the policy has learned."""
    return {
        **_when(name, site, people),
        "stations": site.config.team,
        "filled": site.config.team - site.roster.empty,
        "earned": site.earned,
        "fees": site.fees,
        "mean_delay": site.mean_delay,
        **({"limits": limits(site)} if any(getattr(site.config, name) is not None for name in BUDGETS) else {}),
        "gain": vars(record.gain),
        "track_record": track_record(site, people, record),
        "cycle": cycle_of(site, people),
        "proposals": [
            {**proposal(site, people, pending), "overdue": is_overdue(site, pending)}
            for pending in site.open_proposals()
        ],
        "workers": [worker(site, people, member) for member in (members(site, people) if listed is None else listed)],
        **({} if learned is None else {"learned": site_learned(learned)}),
    }


def track_record(site: Site, people: People, record: TrackRecord) -> dict[str, Any]:
    """Describe what the replacements so far have brought."""
    return {
        "replacements": len(record.outcomes),
        "ahead": record.ahead,
        "better": record.count(BETTER),
        "as_predicted": record.count(AS_PREDICTED),
        "worse": record.count(WORSE),
        "chance_paid": record.paid,
        "results": [_outcome(site, people, outcome) for outcome in record.outcomes],
    }


def _outcome(site: Site, people: People, outcome: Outcome) -> dict[str, Any]:
    even_in = outcome.even_in
    return {
        "proposal": outcome.proposal.id,
        "out": people.ids.get(outcome.proposal.makes_room),
        "in": people.ids.get(outcome.proposal.into),
        "days": outcome.days,
        "gain": vars(outcome.gain),
        "chance_paid": outcome.paid,
        "predicted": None if outcome.predicted is None else vars(outcome.predicted),
        "verdict": outcome.verdict,
        "breaks_even": None if even_in is None else str(site.config.calendar.date_of(even_in)),
    }


def limits(site: Site) -> list[dict[str, Any]]:
    """Describe the limits on replacements and fees, and how much of each is used."""
    return [{**vars(limit), "left": limit.left} for limit in limits_of(site)]


def site_learned(learned: SiteLearned) -> dict[str, Any]:
    """Describe what the policy has learned about newcomers and days."""
    return {
        "ramp": None if learned.ramp is None else vars(learned.ramp),
        "ramp_days": learned.ramp_days,
        "unusual_days": [{**vars(day), "date": str(day.date)} for day in learned.unusual_days],
    }


def _when(name: str, site: Site, people: People) -> dict[str, Any]:
    return {
        "site": name,
        "period": site.period,
        "date": str(site.config.calendar.date_of(site.period)),
        "sentence": sentence(site, people),
    }


def settings(config: SiteConfig) -> dict[str, Any]:
    """Describe a site's settings, without the key of the policy's random stream and the days that were opened."""
    plain = {name: value for name, value in config.to_json().items() if name != "stream_key"}
    return {**plain, "calendar": config.calendar.regular_json()}


def worker(site: Site, people: People, member: Member) -> dict[str, Any]:
    """Describe a worker: station, status and estimate."""
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
        **({} if member.learned is None else {"learned": person_learned(member.learned)}),
    }


def person_learned(person: PersonLearned) -> dict[str, Any]:
    """Describe what the policy has learned about a worker."""
    return {
        "level": vars(person.level),
        "output_now": person.output,
        "ramp_up": None if person.ramp_up is None else vars(person.ramp_up),
        "trend": None if person.trend is None else person.trend.to_json(),
        "notes": list(person_notes(person)),
    }


def proposal(site: Site, people: People, described: Proposal, candidates: CandidatesOf = NOT_LISTED) -> dict[str, Any]:
    """Describe a proposal with its reasons at the time, and with who could come in instead, if that is listed."""
    reasons = facts(site, described)
    listed = candidates.get(described.id)
    return {
        "id": described.id,
        "status": described.status,
        "period": described.period,
        "date": str(site.config.calendar.date_of(described.period)),
        "out": people.ids.get(described.makes_room),
        "place": place_kind(described),
        "in": people.ids.get(described.into),
        "fee": reasons.fee,
        "reason": described.reason or None,
        "why": reasons.to_json(),
        **_first_approval(site, people, described),
        **({} if listed is None else {"candidates": candidate_documents(people, listed)}),
    }


def _first_approval(site: Site, people: People, described: Proposal) -> dict[str, Any]:
    """Describe the first of the two approvals that a proposal waits for; nothing where there is none."""
    first = site.first_approval_of(described.id)
    if first is None:
        return {}
    pair = {"out": people.ids.get(first.out), "in": people.ids.get(first.into)}
    return {"first_approval": {"by": first.by, "at": first.at, **pair}}


def explanation(
    site: Site, people: People, described: Proposal, candidates: CandidatesOf = NOT_LISTED
) -> dict[str, Any]:
    """Describe a proposal with its explanation at the time."""
    lines = explain(site, people, described, candidates.get(described.id, ()))
    return {**proposal(site, people, described, candidates), "explanation": lines}


def verified(result: "Verified") -> dict[str, Any]:
    """Describe the result of a check of the record; notes, checkpoints and what was not checked if there are any."""
    some = {"notes": list(result.notes), "unchecked": result.unchecked, "checkpoints": result.checkpoints}
    plain = {name: value for name, value in vars(result).items() if name not in some}
    given = {name: value for name, value in some.items() if value}
    return {**plain, "faults": list(result.faults), "sound": result.sound, **given}


def site_line(name: str, version: int, site: Site, people: People) -> dict[str, Any]:
    """Describe a site in a list."""
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
    """Describe a worker with everything on record about them."""
    known, calendar = site.workers[member.number], site.config.calendar
    return {
        **worker(site, people, member),
        "pinned": site.is_pinned(member.number),
        "protection": _remark(site.protection_of(member.number)),
        "block": _remark(site.block_on(member.number)),
        "notes": [_remark(note) for note in site.notes_on(member.number)],
        "fee": known.fee,
        "prior_n": known.prior_n,
        "prior_mean": site.prior_mean_of(member.number),
        "interview": known.interview,
        "since": str(calendar.date_of(known.since)) if known.since else None,
        "not_before": _not_before(site, member.number),
        "recorded_to": str(calendar.date_of(known.recorded_to)) if known.recorded_to else None,
    }


def _not_before(site: Site, number: int) -> str | None:
    """Return the day before which a worker is not proposed, by an answer or a block with an end."""
    barred, block = site.workers[number].barred_until, site.block_on(number)
    days = [site.config.calendar.date_of(barred)] if barred > site.period else []
    if block is not None and block.until is not None:
        days.append(block.until)
    return str(max(days)) if days else None


def _remark(remark: Remark | None) -> dict[str, Any] | None:
    if remark is None:
        return None
    until = None if remark.until is None else str(remark.until)
    return {"text": remark.text, "by": remark.by, "at": remark.at, "until": until}


def event(entry: LedgerEntry) -> dict[str, Any]:
    """Describe an event without its internal data, such as the policy's memory; the export has all of it."""
    kind = KINDS.get(entry.type)
    internal = {REQUEST} if kind is None else {REQUEST, *kind.internal}
    return {**vars(entry), "payload": {name: value for name, value in entry.payload.items() if name not in internal}}


def recorded(done: "ImportResult", words: str) -> dict[str, Any]:
    """Describe the result of an import, and the current advice."""
    return {**done.to_json(), "advice": words}


def checked(result: "DryRun") -> dict[str, Any]:
    """Describe what importing a file would do."""
    return {
        "sound": result.sound,
        "columns": dict(result.columns),
        "ignored": list(result.ignored),
        "rows": result.rows,
        **result.result.to_json(),
        **({"reading": list(result.reading)} if result.reading else {}),
        "errors": [vars(error) for error in result.errors],
        "total_errors": result.total,
        **({"causes": [error_group(group) for group in result.groups]} if result.groups else {}),
    }


def error_group(group: "ErrorGroup") -> dict[str, Any]:
    """Describe the errors of one cause."""
    return {
        "count": group.count,
        "sentence": group.sentence,
        "action": group.action,
        "examples": [vars(example) for example in group.examples],
    }
