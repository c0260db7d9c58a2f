"""`check_policy`: play a policy in small worlds and check every answer against the contract.

Each call is made three times: on a state restored from JSON, on another restored state by an unpickled twin of the
policy, and on the state itself. All three must agree. Unless the policy is an oracle, its twin is also shown the hidden
facts, which must make no difference.
"""

import io
import json
import math
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from crewlearn.beliefs.estimates import record
from crewlearn.policies.contract import Interview, Pair, Policy, Report, Situation, read_only
from crewlearn.policies.explanations import Level, PolicyWait, Reason
from crewlearn.policies.small_worlds import FLOOR, KEY, LIVE, LIVE_EVENTS, PATIENCE, QUIET, SmallWorld
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem
from crewlearn.problem.transitions import LEGAL, completion_fault

REPEATS = 20
"""How often a call is repeated when answers differ, to distinguish randomness from other causes."""

WRITING = ("read-only", "'mappingproxy' object does not support item")
"""Words of the errors that writing to read-only facts raises."""


class PolicyFault(InvalidInput):
    """A policy breaks a rule of the contract, in a period of a small world (0: before any is played)."""

    def __init__(self, policy: str, rule: str, where: str, period: int, problem: str, remedy: str) -> None:
        place = f" in period {period} of the world '{where}'" if period else ""
        super().__init__("policy", policy, f"breaks the rule '{rule}'{place}: {problem}; {remedy}")
        self.rule, self.period = rule, period
        self._parts = (policy, rule, where, period, problem, remedy)

    def __reduce__(self) -> tuple[type[InvalidInput], Any]:
        """Rebuild the error from its parts when unpickled in another process."""
        return PolicyFault, self._parts


def check_policy(policy: Policy[Any], problems: Iterable[Problem] = ()) -> None:
    """Check that a policy keeps the contract; raise `PolicyFault` at the first rule that it breaks.

    The policy is played in several small worlds, on a floor where people are absent, quit and decline, at a live site
    where facts change (unless it is an oracle), and in the given `problems`. The rules are:

    - "frozen dataclass", "picklable" and "name", before anything is played;
    - "no errors": no method raises;
    - "deterministic": the same state and situation give the same answer, without memory outside the state;
    - "state survives JSON": a state restored from JSON gives the same answers as the state itself;
    - "facts untouched": no method changes its arguments;
    - "no hidden facts": only a policy marked `oracle` uses hidden facts;
    - "legal pairs", "nothing in the last period" and "who makes room", for `decide` and `assign`;
    - "nobody is waited for in vain": a policy that fills empty stations fills those of people who quit, too;
    - "interview", "reasons", "break-even", "waiting" and "levels": what the optional methods return.

    >>> from crewlearn.policies.baselines import KeepTeam
    >>> check_policy(KeepTeam())
    """
    twin = _check_identity(policy)
    given = {f"problem {number}": problem for number, problem in enumerate(problems, start=1)}
    fills = False
    for where, problem in {**QUIET, **given}.items():
        play = _Play(policy, twin, where, problem, live=False)
        play.run(problem.horizon - problem.warmup, {})
        fills = fills or (where in QUIET and play.filled)
    patience = PATIENCE if fills else FLOOR.horizon
    _Play(policy, twin, "floor", FLOOR, live=False, patience=patience).run(FLOOR.horizon - FLOOR.warmup, {})
    if not policy.oracle:
        _Play(policy, twin, "live site", LIVE, live=True).run(LIVE.horizon + 5, LIVE_EVENTS)


def _check_identity(policy: Policy[Any]) -> Policy[Any]:
    """Check the policy's class, pickling and name before it is played; return an unpickled copy."""
    kind = type(policy).__name__

    def fault(rule: str, problem: str, remedy: str) -> PolicyFault:
        return PolicyFault(kind, rule, "", 0, problem, remedy)

    if not isinstance(policy, Policy):
        raise fault("frozen dataclass", f"{policy!r} is not a Policy", "derive its class from crewlearn.Policy")
    parameters = vars(type(policy)).get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        raise fault("frozen dataclass", "its class is not one", "decorate the class with @dataclass(frozen=True)")
    try:
        hash(policy)
    except TypeError as error:
        raise fault("frozen dataclass", f"{error}", "keep lists, dicts and arrays out of its fields") from error
    try:
        twin = _through_pickle(policy)
    except Exception as error:  # a field of a user's own type may raise anything
        raise fault("picklable", f"{error}", "keep only plain data in its fields") from error
    if twin != policy or hash(twin) != hash(policy):
        raise fault("picklable", "an unpickled copy differs", "compare and hash the policy by its fields alone")
    name = policy.name
    if not isinstance(name, str) or not name or set(name) & set(":, \n\t"):
        raise fault("name", f"it is {name!r}", "return a short text without colons, commas or spaces")
    if twin.name != name:
        raise fault("name", f"it changes from {name!r} to {twin.name!r}", "make it depend on the fields alone")
    return twin


def _through_pickle(policy: Policy[Any]) -> Policy[Any]:
    """Pickle and unpickle a policy; its class is passed by reference, since it may be defined in a notebook."""
    kind, data = type(policy), io.BytesIO()

    class ByReference(pickle.Pickler):
        def persistent_id(self, item: Any) -> str | None:
            return "class" if item is kind else None

    class Resolved(pickle.Unpickler):
        def persistent_load(self, _: Any) -> Any:
            return kind

    ByReference(data).dump(policy)
    data.seek(0)
    twin: Policy[Any] = Resolved(data).load()
    return twin


class _Play:
    """A policy in a small world; if `live`, its requests may be rejected and declined.

    `filled` says whether it has asked for somebody to fill an empty station. It must not leave one empty for longer
    than `patience` periods.
    """

    def __init__(
        self,
        policy: Policy[Any],
        twin: Policy[Any],
        where: str,
        problem: Problem,
        live: bool,
        patience: int | None = None,
    ) -> None:
        self.policy, self.twin, self.where, self.live, self.patience = policy, twin, where, live, patience
        self.world, self.requests, self.vacant = SmallWorld(problem), 0, 0
        self.filled = False
        self.state: Any = None

    def run(self, periods: int, events: Mapping[int, Callable[[SmallWorld], None]]) -> None:
        """Play `periods` periods; each event happens at the start of its period."""
        world = self.world
        self._start()
        for world.period in range(1, periods + 1):
            if world.period in events:
                events[world.period](world)
                self.state = self._agreed("revise", self.situation())
            elif world.begin():
                self.state = self._agreed("revise", self.situation())
            pairs = self._decide()
            self._check_vacancy(pairs)
            if pairs or world.period % 8 == 1:
                self._check_explanations(pairs)
            for pair in pairs:
                self._request(pair)
            for pending in world.roster.elapsed(world.period):
                self._arrive(pending.out, pending.into, pending.since)
            self._work()

    def situation(self) -> Situation:
        """Return the current situation, with hidden facts if the policy is an oracle."""
        return self.world.situation(hidden=self.policy.oracle)

    def _fault(self, rule: str, problem: str, remedy: str) -> PolicyFault:
        return PolicyFault(self.policy.name, rule, self.where, self.world.period, problem, remedy)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        offer, scores = self._call(self.policy, "interview", self.world.setting), None
        if offer is not None:
            if not isinstance(offer, Interview) or not abs(offer.rho) <= 1.0 or not 0.0 <= offer.fee < math.inf:
                raise self._fault("interview", f"interview returned {offer!r}", "return an Interview(rho, fee) or None")
            scores = read_only(self.world.scores(offer.rho))
        self.state = self._agreed("start", self.situation(), KEY, scores, from_state=False)

    def _decide(self) -> list[Pair]:
        pairs, self.state = self._agreed("decide", self.situation())
        self._check_pairs(pairs)
        return [(int(out), int(into)) for out, into in pairs]

    def _agreed(self, method: str, *arguments: Any, from_state: bool = True) -> Any:
        """Call a method on the state restored from JSON, by the twin, and on the state itself; all must agree."""
        facts, saved = self.world.facts(), self._saved(self.state) if from_state else ""

        def answer(policy: Policy[Any], restore: bool, *given: Any) -> tuple[Any, str]:
            state = [self._restored(saved) if restore else self.state] if from_state else []
            result = self._call(policy, method, *state, *given)
            return result, self._described(method, result)

        peeking = [self._peeking(argument) for argument in arguments]
        _, restored = answer(self.policy, True, *arguments)
        _, shown_all = answer(self.twin, True, *peeking)
        result, direct = answer(self.policy, False, *arguments)
        if self.world.facts() != facts:
            raise self._fault("facts untouched", f"{method} changed its arguments", "copy arrays before changing them")
        if shown_all == restored == direct:
            return result
        if any(answer(self.twin, True, *arguments)[1] != restored for _ in range(REPEATS)):
            raise self._fault(
                "deterministic",
                f"{method} answered differently when called again",
                "draw random numbers from the stream key, and keep all memory in the state",
            )
        if shown_all != restored:
            raise self._fault(
                "no hidden facts", f"{method} uses situation.hidden", "do not use it, or let `oracle` return True"
            )
        raise self._fault(
            "state survives JSON",
            f"{method} answered differently on a state restored from JSON",
            "keep all memory in the state's fields, and fix state_to_json or state_from_json",
        )

    def _peeking(self, argument: Any) -> Any:
        return self.world.situation(hidden=True) if isinstance(argument, Situation) else argument

    def _call(self, policy: Policy[Any], method: str, *arguments: Any) -> Any:
        try:
            return getattr(policy, method)(*arguments)
        except Exception as error:  # any exception is the policy's fault
            if isinstance(error, (ValueError, TypeError)) and any(words in str(error) for words in WRITING):
                raise self._fault(
                    "facts untouched", f"{method} changes its arguments: {error!r}", "copy arrays before changing them"
                ) from error
            if not policy.oracle and any(isinstance(item, Situation) and item.hidden is None for item in arguments):
                try:
                    getattr(policy, method)(*(self._peeking(argument) for argument in arguments))
                except Exception:  # hidden facts do not help, so the first error is reported below
                    pass
                else:
                    raise self._fault(
                        "no hidden facts", f"{method} needs situation.hidden", "let `oracle` return True"
                    ) from error
            raise self._fault(
                "no errors", f"{method} raised {error!r}", "fix it; pools and teams may change between calls"
            ) from error

    def _described(self, method: str, result: Any) -> str:
        """Return an answer as text for comparison."""
        if method == "decide":
            try:
                pairs, after = result
            except (TypeError, ValueError):
                raise self._fault(
                    "legal pairs", f"decide returned {result!r}", "return the pairs and the new state"
                ) from None
            return f"{pairs} {self._saved(after)}"
        return self._saved(result) if method in ("start", "observe", "revise") else repr(result)

    def _saved(self, state: Any) -> str:
        try:
            return json.dumps(self.policy.state_to_json(state), allow_nan=False)
        except Exception as error:  # state_to_json may raise anything
            raise self._fault(
                "state survives JSON", f"it cannot be written: {error}", "keep only finite plain data in the state"
            ) from error

    def _restored(self, saved: str) -> Any:
        try:
            state = self.policy.state_from_json(json.loads(saved))
        except Exception as error:  # state_from_json may raise anything
            raise self._fault(
                "state survives JSON", f"it cannot be restored: {error}", "set `state_type`, or fix state_from_json"
            ) from error
        if self._saved(state) != saved:
            raise self._fault("state survives JSON", "it is restored wrongly", "fix state_to_json and state_from_json")
        return state

    # -- answers -----------------------------------------------------------------------------------------------------

    def _check_pairs(self, pairs: Any) -> None:
        try:
            listed = [(out.__index__(), into.__index__()) for out, into in pairs]
        except (TypeError, ValueError, AttributeError):
            raise self._fault(
                "legal pairs", f"decide returned {pairs!r}", "return a list of (out, in), both worker numbers"
            ) from None
        if listed and self.world.period >= self.world.setting.horizon > 1:
            raise self._fault(
                "nothing in the last period",
                f"decide returned {listed} with horizon {self.world.setting.horizon}",
                "return no pairs from period T on, when no replacement can earn its fee",
            )
        scratch = self.world.roster.copy()
        for out, into in listed:
            try:
                scratch.initiate(out, into, self.world.period)
            except InvalidInput as error:
                request = f"decide returned {(out, into)} with {list(scratch.stations)} at the stations"
                raise self._fault("legal pairs", request, error.remedy) from error
            if not self.world.may_enter[into]:
                raise self._fault("legal pairs", f"worker {into} may not enter", "respect situation.may_enter")
            if out != NOBODY and not self.world.may_leave[out]:
                raise self._fault("legal pairs", f"worker {out} may not leave", "respect situation.may_leave")

    def _check_vacancy(self, pairs: Sequence[Pair]) -> None:
        """Count the periods in which a station is empty that nobody is to fill; too many are a fault."""
        vacant = self.world.vacant()
        asked = any(out == NOBODY for out, _ in pairs)
        self.filled = self.filled or (vacant and asked)
        self.vacant = self.vacant + 1 if vacant and not asked else 0
        if self.patience is not None and self.vacant > self.patience:
            raise self._fault(
                "nobody is waited for in vain",
                f"a station has been empty for {self.vacant} periods, though the policy fills empty stations elsewhere",
                "do not wait for the output of people who are absent or have left; see may_enter and the stations",
            )

    def _check_explanations(self, pairs: Sequence[Pair]) -> None:
        self._check_reasons(pairs)
        self._check_waiting(self._explained("waiting", self.situation()))
        self._check_levels(self._explained("levels", self.situation()))

    def _explained(self, method: str, *arguments: Any) -> Any:
        saved, answer = self._saved(self.state), self._agreed(method, *arguments)
        if self._saved(self.state) != saved:
            raise self._fault(method, f"{method} changed the state", "change only a copy of it")
        return answer

    def _check_reasons(self, pairs: Sequence[Pair]) -> None:
        reasons = self._explained("reasons", self.situation(), pairs, [self.world.setting.cost] * len(pairs))
        if reasons is None:
            return
        remedy = "return one Reason for each pair, in their order, or None"
        if not _are(Reason, reasons) or [(reason.out, reason.into) for reason in reasons] != list(pairs):
            raise self._fault("reasons", f"reasons returned {reasons!r} for the pairs {pairs}", remedy)
        for reason in reasons:
            if reason.leaver is not None and not NOBODY <= reason.leaver < self.world.setting.workers:
                raise self._fault("reasons", f"the leaver is {reason.leaver!r}", "name a worker or -1")
            try:
                text = json.dumps(reason.to_json())
            except (TypeError, ValueError) as error:
                raise self._fault("reasons", f"not valid JSON: {error}", "use plain data in its fields") from error
            if "NaN" in text:
                raise self._fault("reasons", f"one has a NaN: {text}", "use None for unknown values")
            fee = self._call(self.policy, "break_even", self.situation(), reason)
            if fee is not None and not _finite(fee):
                raise self._fault("break-even", f"break_even returned {fee!r}", "return a finite fee or None")

    def _check_waiting(self, waiting: Any) -> None:
        if waiting is None:
            return
        if not isinstance(waiting, PolicyWait):
            raise self._fault("waiting", f"waiting returned {waiting!r}", "return a PolicyWait or None")
        least = {"cycle": 0, "least_observed": NOBODY, "still_needed": 0, "look_again": 0}
        for name, lowest in least.items():
            value = getattr(waiting, name)
            if value is not None and (type(value) is not int or value < lowest):
                raise self._fault("waiting", f"{name} is {value!r}", f"use a whole number of at least {lowest}")
        if waiting.least_observed is not None and waiting.least_observed >= self.world.setting.workers:
            raise self._fault("waiting", f"least_observed is {waiting.least_observed}", "name one of the workers")
        if waiting.phase is not None and not isinstance(waiting.phase, str):
            raise self._fault("waiting", f"phase is {waiting.phase!r}", "use a string")

    def _check_levels(self, levels: Any) -> None:
        if levels is None:
            return
        workers = self.world.setting.workers
        if not _are(Level, levels) or len(levels) != workers:
            raise self._fault("levels", f"levels returned {levels!r}", f"return a Level for each of {workers} workers")
        for worker, level in enumerate(levels):
            numbers = [level.low, level.high, *(number for number in (level.mean, level.sd) if number is not None)]
            if not all(_finite(number) for number in numbers):
                raise self._fault("levels", f"worker {worker} has {level}", "use finite numbers")
            ordered = level.low <= level.high and (level.mean is None or level.low <= level.mean <= level.high)
            if not ordered or (level.sd is not None and level.sd < 0.0):
                raise self._fault("levels", f"worker {worker} has {level}", "keep low <= mean <= high and sd >= 0")

    # -- the world ---------------------------------------------------------------------------------------------------

    def _request(self, pair: Pair) -> None:
        """Initiate a requested pair; at a live site, one in four is rejected and two in four take two periods."""
        self.requests += 1
        turn = self.requests % 4 if self.live else 0
        if turn == 1:
            self.world.failed.append(pair)
            return
        delay = self.world.delay(pair) if turn == 0 else 2
        self.world.roster.initiate(*pair, self.world.period, due=self.world.period + delay)

    def _arrive(self, out: int, into: int, since: int) -> None:
        """Let an incoming worker start or decline; at a live site, every third declines."""
        roster = self.world.roster
        if self.world.declined(since, into) or (self.live and (roster.completed + roster.failed) % 3 == 2):
            self.world.failed.append(roster.fail(into))
            return
        leaver = self._agreed("assign", self.situation(), into) if out == NOBODY else out
        if leaver == NOBODY and completion_fault(roster.arrays, 0, NOBODY) != LEGAL:
            self.world.failed.append(roster.fail(into))  # nobody makes room, so the hire lapses
            return
        try:
            self.world.completed.append(roster.complete(into, leaver))
        except (InvalidInput, TypeError) as error:
            remedy = error.remedy if isinstance(error, InvalidInput) else "return a worker number or -1"
            raise self._fault("who makes room", f"assign returned {leaver!r} for {into}", remedy) from error

    def _work(self) -> None:
        output = self.world.work()
        for worker, amount in output.items():
            record(self.world.estimates, worker, amount)
        report = Report(self.world.period, output, tuple(self.world.completed), tuple(self.world.failed))
        self.state = self._agreed("observe", report)
        self.world.completed, self.world.failed = [], []


def _are(kind: type[Any], answers: Any) -> bool:
    """Return whether an answer is a sequence of instances of a class."""
    return isinstance(answers, Sequence) and all(isinstance(answer, kind) for answer in answers)


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and math.isfinite(value)
