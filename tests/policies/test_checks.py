"""`check_policy` finds a policy that breaks a rule: one broken policy for each way to break it."""

import math
import pickle
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest

import crewlearn
from crewlearn.policies.checks import PolicyFault, check_policy
from crewlearn.policies.contract import Interview, Pair, Policy, Report, Situation
from crewlearn.policies.explanations import Level, PolicyWait, Reason
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class SoundState:
    """The state of the policies below."""

    asked: int = 0
    workers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sound(Policy[SoundState]):
    """Keeps the contract: every fifth period it replaces the worst mean by the least seen, where it may."""

    state_type: ClassVar[type[SoundState]] = SoundState

    @property
    def name(self) -> str:
        return "sound"

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> SoundState:
        return SoundState()

    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        pairs = self.wanted(situation)
        return pairs, SoundState(state.asked + len(pairs), situation.roster.active)

    def wanted(self, situation: Situation) -> list[Pair]:
        if situation.period % 5 or situation.period >= situation.setting.horizon:
            return []
        busy = {worker for pending in situation.roster.pending for worker in (pending.out, pending.into)}
        means, counts = situation.estimates.means(), situation.estimates.counts
        leavers = [worker for worker in situation.roster.active if situation.may_leave[worker] and worker not in busy]
        entrants = [worker for worker in situation.roster.outside if situation.may_enter[worker] and worker not in busy]
        if not leavers or not entrants or len(situation.roster.pending) >= situation.setting.team:
            return []
        return [
            (
                min(leavers, key=lambda worker: (means[worker], worker)),
                min(entrants, key=lambda worker: (counts[worker], worker)),
            )
        ]

    def reasons(
        self, state: SoundState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        return [Reason(out=out, into=into, leaver=out, optimistic_gain=math.inf) for out, into in pairs]

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        return 1.5

    def waiting(self, state: SoundState, situation: Situation) -> PolicyWait | None:
        return PolicyWait(look_again=situation.period + 1)

    def levels(self, state: SoundState, situation: Situation) -> Sequence[Level] | None:
        return [Level(None, 0.0, 1.0) for _ in range(situation.setting.workers)]


def test_a_sound_policy_passes() -> None:
    check_policy(Sound())
    crewlearn.check_policy(Sound())


class Undecorated(Sound):
    pass


@dataclass(frozen=True)
class Unhashable(Sound):
    weights: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Unpicklable(Sound):
    rule: Callable[[], int] = lambda: 0  # a lambda cannot be pickled


@dataclass(frozen=True, eq=False)
class ComparedByIdentity(Sound):
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


@dataclass(frozen=True)
class NamedLikeASpec(Sound):
    @property
    def name(self) -> str:
        return "sound:gamma=3"


@dataclass(frozen=True)
class NamedByAddress(Sound):
    @property
    def name(self) -> str:
        return f"sound-{id(self)}"


@dataclass(frozen=True)
class GivesUp(Sound):
    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        if situation.period == 7:
            raise RuntimeError("no idea")
        return super().decide(state, situation)


@dataclass(frozen=True)
class FixedPool(Sound):
    """Remembers the number of workers, and fails once some join."""

    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        workers = state.workers or tuple(range(situation.setting.workers))
        assert len(workers) == situation.setting.workers
        return self.wanted(situation), replace(state, workers=workers)


@dataclass(frozen=True)
class FixedTeam(Sound):
    """Remembers the size of the team, and fails once it shrinks."""

    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        return self.wanted(situation), SoundState(situation.setting.team)

    def revise(self, state: SoundState, situation: Situation) -> SoundState:
        if state.asked > situation.setting.team:
            raise ValueError("the team shrank")
        return state


@dataclass(frozen=True)
class Flippant(Sound):
    """Decides by a global random generator."""

    def wanted(self, situation: Situation) -> list[Pair]:
        return super().wanted(situation) if random.random() < 0.5 else []


@dataclass(frozen=True)
class FlippantState(Sound):
    def observe(self, state: SoundState, report: Report) -> SoundState:
        return SoundState(random.randrange(10**9))


@dataclass(frozen=True)
class Secretive(Sound):
    """Keeps memory outside its state."""

    asked: ClassVar[list[int]] = []

    def wanted(self, situation: Situation) -> list[Pair]:
        self.asked.append(situation.period)
        return super().wanted(situation) if len(self.asked) % 7 else []


@dataclass(frozen=True)
class SetOfWorkers(Sound):
    def state_to_json(self, state: SoundState) -> dict[str, Any]:
        return {"asked": state.asked, "workers": set(state.workers)}


@dataclass(frozen=True)
class NotANumber(Sound):
    def state_to_json(self, state: SoundState) -> dict[str, Any]:
        return {"asked": math.nan, "workers": []}


@dataclass(frozen=True)
class UnreadableState(Sound):
    def state_from_json(self, data: Mapping[str, Any]) -> SoundState:
        return SoundState(data["requested"])


@dataclass(frozen=True)
class Forgetful(Sound):
    def state_from_json(self, data: Mapping[str, Any]) -> SoundState:
        return SoundState()


@dataclass
class Extended:
    """A state with a field that its JSON leaves out."""

    asked: int
    seen: int = 0


@dataclass(frozen=True)
class Incomplete(Policy[Extended]):
    """Decides by a field of its state that JSON loses."""

    state_type: ClassVar[type[Extended]] = Extended

    @property
    def name(self) -> str:
        return "incomplete"

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Extended:
        return Extended(0, 3)

    def decide(self, state: Extended, situation: Situation) -> tuple[list[Pair], Extended]:
        return Sound().wanted(situation) if state.seen else [], state

    def state_to_json(self, state: Extended) -> dict[str, Any]:
        return {"asked": state.asked}


@dataclass(frozen=True)
class Meddler(Sound):
    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        situation.estimates.sums[0] += 1.0
        return super().decide(state, situation)


@dataclass(frozen=True)
class MeddlesWhenAsked(Sound):
    def levels(self, state: SoundState, situation: Situation) -> Sequence[Level] | None:
        situation.may_enter[-1] = False
        return None


@dataclass(frozen=True)
class Peeks(Sound):
    """Reads the hidden means if they are there."""

    def wanted(self, situation: Situation) -> list[Pair]:
        pairs = super().wanted(situation)
        if situation.hidden is None:
            return pairs
        return [(out, into) for out, into in pairs if situation.hidden.means[into] > situation.hidden.means[out]]


@dataclass(frozen=True)
class NeedsHidden(Sound):
    def decide(self, state: SoundState, situation: Situation) -> tuple[list[Pair], SoundState]:
        assert situation.hidden is not None
        return super().decide(state, situation)


@dataclass(frozen=True)
class NoState(Sound):
    def decide(self, state: SoundState, situation: Situation) -> Any:
        return self.wanted(situation)


@dataclass(frozen=True)
class ByName(Sound):
    def decide(self, state: SoundState, situation: Situation) -> Any:
        return [("ann", "bo")], state


@dataclass(frozen=True)
class HiresTheActive(Sound):
    def wanted(self, situation: Situation) -> list[Pair]:
        return [(out, out) for out, _ in super().wanted(situation)]


@dataclass(frozen=True)
class AsksTwice(Sound):
    def wanted(self, situation: Situation) -> list[Pair]:
        return super().wanted(situation) * 2


@dataclass(frozen=True)
class IgnoresPins(Sound):
    def wanted(self, situation: Situation) -> list[Pair]:
        return super().wanted(replace(situation, may_leave=situation.may_leave | True))


@dataclass(frozen=True)
class IgnoresBlocks(Sound):
    def wanted(self, situation: Situation) -> list[Pair]:
        return super().wanted(replace(situation, may_enter=situation.may_enter | True))


@dataclass(frozen=True)
class NeverStops(Sound):
    def wanted(self, situation: Situation) -> list[Pair]:
        later = replace(situation.setting, horizon=situation.setting.horizon + 100)
        return super().wanted(replace(situation, setting=later))


@dataclass(frozen=True)
class NeverLetsGo(Sound):
    """Leaves open who makes room, and then names a worker outside the team."""

    def wanted(self, situation: Situation) -> list[Pair]:
        return [(NOBODY, into) for _, into in super().wanted(situation)]

    def assign(self, state: SoundState, situation: Situation, incoming: int) -> int:
        return incoming


@dataclass(frozen=True)
class SellsInterviews(Sound):
    def interview(self, setting: Setting) -> Interview | None:
        return Interview(rho=2.0, fee=1.0)


@dataclass(frozen=True)
class OneReason(Sound):
    def reasons(
        self, state: SoundState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        return [Reason(out=0, into=1)]


@dataclass(frozen=True)
class UnknownLeaver(Sound):
    def reasons(
        self, state: SoundState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        return [Reason(out=out, into=into, leaver=1000) for out, into in pairs]


@dataclass(frozen=True)
class ReasonWithNaN(Sound):
    def reasons(
        self, state: SoundState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        return [Reason(out=out, into=into, gain=math.nan) for out, into in pairs]


@dataclass(frozen=True)
class BoundlessFee(Sound):
    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        return math.inf


@dataclass(frozen=True)
class WaitsInWords(Sound):
    def waiting(self, state: SoundState, situation: Situation) -> Any:
        return "a week"


@dataclass(frozen=True)
class WaitsForAStranger(Sound):
    def waiting(self, state: SoundState, situation: Situation) -> PolicyWait | None:
        return PolicyWait(least_observed=situation.setting.workers, still_needed=1)


@dataclass(frozen=True)
class WaitsLessThanNothing(Sound):
    def waiting(self, state: SoundState, situation: Situation) -> PolicyWait | None:
        return PolicyWait(still_needed=-1)


@dataclass(frozen=True)
class TooFewLevels(Sound):
    def levels(self, state: SoundState, situation: Situation) -> Sequence[Level] | None:
        return [Level(0.5, 0.0, 1.0)]


@dataclass(frozen=True)
class EndlessLevels(Sound):
    def levels(self, state: SoundState, situation: Situation) -> Sequence[Level] | None:
        return [Level(0.5, -math.inf, math.inf) for _ in range(situation.setting.workers)]


@dataclass(frozen=True)
class LevelsUpsideDown(Sound):
    def levels(self, state: SoundState, situation: Situation) -> Sequence[Level] | None:
        return [Level(0.5, 1.0, 0.0) for _ in range(situation.setting.workers)]


BROKEN: list[tuple[type[Policy[Any]], str]] = [
    (Undecorated, "frozen dataclass"),
    (Unhashable, "frozen dataclass"),
    (Unpicklable, "picklable"),
    (ComparedByIdentity, "picklable"),
    (NamedLikeASpec, "name"),
    (NamedByAddress, "name"),
    (GivesUp, "no errors"),
    (FixedPool, "no errors"),
    (FixedTeam, "no errors"),
    (Flippant, "deterministic"),
    (FlippantState, "deterministic"),
    (Secretive, "deterministic"),
    (SetOfWorkers, "state survives JSON"),
    (NotANumber, "state survives JSON"),
    (UnreadableState, "state survives JSON"),
    (Forgetful, "state survives JSON"),
    (Incomplete, "state survives JSON"),
    (Meddler, "facts untouched"),
    (MeddlesWhenAsked, "facts untouched"),
    (Peeks, "no hidden facts"),
    (NeedsHidden, "no hidden facts"),
    (NoState, "legal pairs"),
    (ByName, "legal pairs"),
    (HiresTheActive, "legal pairs"),
    (AsksTwice, "legal pairs"),
    (IgnoresPins, "legal pairs"),
    (IgnoresBlocks, "legal pairs"),
    (NeverStops, "nothing in the last period"),
    (NeverLetsGo, "who makes room"),
    (SellsInterviews, "interview"),
    (OneReason, "reasons"),
    (UnknownLeaver, "reasons"),
    (ReasonWithNaN, "reasons"),
    (BoundlessFee, "break-even"),
    (WaitsInWords, "waiting"),
    (WaitsForAStranger, "waiting"),
    (WaitsLessThanNothing, "waiting"),
    (TooFewLevels, "levels"),
    (EndlessLevels, "levels"),
    (LevelsUpsideDown, "levels"),
]


@pytest.mark.parametrize(("broken", "rule"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_a_broken_policy_is_found(broken: type[Policy[Any]], rule: str) -> None:
    with pytest.raises(PolicyFault) as caught:
        check_policy(broken())
    fault = caught.value
    assert fault.rule == rule, str(fault)
    assert f"breaks the rule '{rule}'" in str(fault)
    played = rule not in ("frozen dataclass", "picklable", "name")
    assert str(fault).startswith(f"policy = '{broken().name if played else broken.__name__}'")
    assert (fault.period > 0) is played
    assert (f"in period {fault.period} of the world" in str(fault)) is played
    assert str(pickle.loads(pickle.dumps(fault))) == str(fault)


def test_something_else_is_no_policy() -> None:
    with pytest.raises(PolicyFault, match=r"derive its class from crewlearn\.Policy"):
        check_policy("dr-ucb")  # type: ignore[arg-type]  # the wrong type is the point


def test_an_oracle_may_use_what_is_hidden() -> None:
    check_policy(make_policy("oracle"))
