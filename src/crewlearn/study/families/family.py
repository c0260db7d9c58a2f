"""What a family of instances is: a name, a story and labelled settings."""

from dataclasses import dataclass

from crewlearn.problem.model import Problem


@dataclass(frozen=True)
class Family:
    """A family of instances: problems with labels, the base first.

    >>> from crewlearn.study.families import FAMILIES
    >>> FAMILIES["big-pool"].problem().setting
    Setting(workers=500, team=50, horizon=730, cost=5.0, mean_delay=3.0)
    """

    name: str
    story: str
    settings: tuple[tuple[str, Problem], ...]

    def problem(self) -> Problem:
        """Return the base setting."""
        return self.settings[0][1]
