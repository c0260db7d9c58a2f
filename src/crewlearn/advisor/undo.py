"""Taking back a slip: what the last answer changed is kept until other facts are recorded, and then put back whole."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crewlearn.advisor import events
from crewlearn.advisor.site import WITHDRAWN, Site, Worker
from crewlearn.problem.errors import InvalidInput

ANSWERS = (events.APPROVED, events.REJECTED, events.OFFER, events.WORKER)
"""What can be taken back: answers, and what was said of one worker."""


def slip(number: int, earlier: Mapping[str, Any], workers: list[Worker], site: Site) -> dict[str, Any]:
    """Give what is kept of an answer, event `number`, that changed `earlier` and these workers into the site."""
    touched = {
        str(number): dict(vars(was))
        for number, (was, now) in enumerate(zip(workers, site.workers, strict=True))
        if was is not now
    }
    return {"number": number, "before": dict(earlier), "workers": touched}


def taken_back(site: Site, number: int) -> Site:
    """Give the site as it was before the answer; proposals that followed from it keep their numbers, withdrawn."""
    kept = site.undo
    if kept is None or kept["number"] != number:
        raise InvalidInput("undo", number, "is not the last answer given; only that can be taken back")
    earlier = Site.from_json({**site.to_json(), **kept["before"], "undo": None})
    for worker, facts in kept["workers"].items():
        earlier.workers[int(worker)] = Worker(**facts)
    for one in site.proposals.values():
        if one.id not in earlier.proposals:
            earlier.proposals[one.id] = replace(one, status=WITHDRAWN)
    return earlier
