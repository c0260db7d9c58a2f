"""The loops that the whole suite needs, compiled before its workers start."""

from crewlearn.engine.blocks import loop_kind
from crewlearn.engine.compiled.loops import is_missing_on_disk
from crewlearn.engine.compiled.warming import compile_at_once
from crewlearn.engine.gym.vector import ReplacementVectorEnv
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.instances import benchmark
from support.floors import TOGETHER


def compile_loops() -> None:
    """Compile every loop once, for quiet worlds and for floors, and the vector environment; seconds if it is done.

    Otherwise the workers of the suite, and the processes that tests start, would each compile the same loops at the
    same time. Policies of DR-UCB's family share its loop. A loop that does not compile fails the tests that need it.
    """
    jobs = {}
    for policy in map(make_policy, REGISTRY):
        for problem in (benchmark(5, horizon=1), TOGETHER):
            kind = loop_kind(policy, problem)
            if kind not in jobs and is_missing_on_disk(kind):
                jobs[kind] = (problem, policy)
    compile_at_once(list(jobs.values()))
    ReplacementVectorEnv(1, TOGETHER).reset(seed=1)


if __name__ == "__main__":
    compile_loops()
