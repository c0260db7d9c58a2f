"""Policies that rank people by interview scores need one for everybody: said in the firm's own ids."""

from crewlearn.advisor.advice import not_interviewed
from crewlearn.advisor.text import some_of
from crewlearn.advisor.writing import Writing
from crewlearn.problem.errors import InvalidInput


def check_interviews(work: Writing) -> None:
    """Refuse, before advice is derived, what would have a policy begin without the scores that it goes by."""
    site = work.site
    if site.memory is not None or not site.workers or site.policy.interview(site.setting()) is None:
        return
    without = set(not_interviewed(site))
    if without:
        ids = sorted(external for external, number in work.identities().items() if number in without)
        missing = "the one that is" if len(without) == 1 else f"the {len(without)} that are"
        remedy = f"needs an interview score for everybody; import {missing} missing ({some_of(ids)})"
        raise InvalidInput("policy", site.config.policy, remedy)
