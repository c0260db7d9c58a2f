"""Policies that rank people by interview scores need one for everybody: said in the firm's own ids."""

from crewlearn.advisor.store import Writing
from crewlearn.problem.errors import InvalidInput

_SHOWN = 5


def check_interviews(work: Writing) -> None:
    """Refuse, before advice is derived, what would have a policy begin without the scores that it goes by."""
    site = work.site
    if site.memory is not None or not site.workers or site.policy.interview(site.setting()) is None:
        return
    without = {number for number, worker in enumerate(site.workers) if worker.interview is None}
    ids = [external for external, number in work.identities().items() if number in without]
    if without:
        shown = ", ".join(sorted(ids)[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
        remedy = f"needs an interview score for everybody; import the {len(without)} that are missing ({shown})"
        raise InvalidInput("policy", site.config.policy, remedy)
