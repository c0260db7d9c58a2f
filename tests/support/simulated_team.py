"""A site whose team changes by advice and otherwise, with the truth of every day."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial

from crewlearn.advisor.advice import commands, team
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.recording.guard import UnusualOutput
from crewlearn.advisor.files.recording.team_inference import GAP
from crewlearn.advisor.ledger.site import PROPOSED, UNDER_WAY
from crewlearn.advisor.ledger.team.recording import TeamRow
from crewlearn.advisor.ledger.team.stints import Stint
from support.lives import Life

REST = GAP + 2
"""Days for which somebody who was there stays away, so that output tells that they had left."""


@dataclass
class Floor:
    """A floor of stations: the truth by day, people who are away, and changes not entered yet.

    `inferred` says whether imports take the team from the output; else every change outside advice is entered, late.
    """

    life: Life
    rng: random.Random
    inferred: bool
    workers: int
    team: list[str]
    day: date
    truth: dict[date, frozenset[str]] = field(default_factory=dict)
    last_seen: dict[str, int] = field(default_factory=dict)
    absent: dict[str, int] = field(default_factory=dict)
    sits_in: dict[str, int] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    came: dict[str, int] = field(default_factory=dict)
    unsent: list[OutputRow] = field(default_factory=list)
    late: list[tuple[int, str, str, date]] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    outside: int = 0
    changes: int = 0
    worked: int = 0

    def play(self, days: int, *, quiet: int = 0) -> None:
        """Play so many working days; nothing changes in the last `quiet` ones."""
        for count in range(days):
            self.day += timedelta(days=1)
            while self.day.weekday() == 6 or (self.day.weekday() == 5 and self.rng.random() < 0.8):
                self.day += timedelta(days=1)
            calm = count >= days - quiet
            self._offers(calm)
            if not calm and self.rng.random() < 0.12:
                self._change_outside()
            self._work(calm)
            if calm or self.rng.random() < 0.8:
                self._send()
            self._enter(everything=calm)
            if not calm:
                self._answer()

    def _free(self) -> list[str]:
        """Return who could come: away long enough, and not expected."""
        site = self.life.site
        expected = {site.proposals[number].into for number in self.due}
        return [
            f"w{n}"
            for n in range(self.workers)
            if f"w{n}" not in self.team and self.last_seen.get(f"w{n}", -99) < self.worked - REST and n not in expected
        ]

    def _settled(self) -> list[str]:
        """Return those of the team who were there on the last day, and not for the first time.

        Where the team is inferred, they came long ago: output does not tell a stay of a few days from sitting in.
        """
        least = REST if self.inferred else 1
        return [
            worker
            for worker in self.team
            if worker not in self.absent
            and worker not in self.fresh
            and self.last_seen.get(worker) == self.worked - 1
            and self.came.get(worker, -REST) <= self.worked - least
        ]

    def _change_outside(self) -> None:
        free, leavers = self._free(), self._settled()
        if not free or not leavers:
            return
        leaver, newcomer = self.rng.choice(leavers), self.rng.choice(free)
        self.team[self.team.index(leaver)] = newcomer
        self.fresh.add(newcomer)
        self.came[newcomer] = self.worked
        self.changes += 1
        self.outside += 1
        if not self.inferred or self.rng.random() < 0.3:
            self.late.append((self.worked + self.rng.randrange(0, 6), leaver, newcomer, self.day))

    def _enter(self, *, everything: bool) -> None:
        """Enter changes outside advice, in any order: some as a swap, some as leaving and coming, some as a file."""
        now = [entry for entry in self.late if everything or entry[0] <= self.worked]
        self.late = [entry for entry in self.late if entry not in now]
        store = self.life.store
        for due, leaver, newcomer, on in sorted(now, key=lambda entry: entry[3]):
            held = {stint.worker: stint.station for stint in self._held(on)}
            out, into = int(leaver[1:]), int(newcomer[1:])
            if into in held:  # known from the output
                continue
            if out not in held and len(held) == len(self.team):  # the leaver's own first day is not entered yet
                assert not everything
                self.late.append((due + 1, leaver, newcomer, on))
                continue
            if out not in held:  # the output told that they left
                team.add_to_team(store, "s", newcomer, "ann", on=on)
                continue
            station = held[out] + 1
            way = self.rng.randrange(3)
            if way == 0:
                team.add_to_team(store, "s", newcomer, "ann", station=station, on=on)
            elif way == 1:
                team.remove_from_team(store, "s", leaver, "ann", on=on)
                team.add_to_team(store, "s", newcomer, "ann", station=station, on=on)
            else:
                last = next((row for row in self._later(station - 1, on)), None)
                end = None if last is None else last - timedelta(days=1)
                team.record_stints(store, "s", [TeamRow(newcomer, on, end, station)], "ann")

    def _later(self, station: int, on: date) -> list[date]:
        """Return the first days of those who came to a station later."""
        date_of = self.life.site.config.calendar.date_of
        return sorted(
            date_of(stint.since) for stint in self.life.stints if stint.station == station and date_of(stint.since) > on
        )

    def _held(self, day: date) -> Sequence[Stint]:
        date_of = self.life.site.config.calendar.date_of
        return [
            stint
            for stint in self.life.stints
            if date_of(stint.since) <= day and (stint.until is None or day < date_of(stint.until))
        ]

    def recorded(self, day: date) -> frozenset[str]:
        """Return who held a station on a day, as far as is on record."""
        return frozenset(f"w{stint.worker}" for stint in self._held(day))

    def _work(self, calm: bool) -> None:
        """Let the team work; some are absent for a day or two, and somebody may sit in for them."""
        self.truth[self.day] = frozenset(self.team)
        for worker in list(self.absent):
            self.absent[worker] -= 1
            if self.absent[worker] < 0:
                del self.absent[worker]
        for worker in list(self.sits_in):
            self.sits_in[worker] -= 1
            if self.sits_in[worker] < 0:
                del self.sits_in[worker]
        if not calm and self.rng.random() < 0.2:
            there = self._settled()
            if there:
                days = self.rng.randrange(GAP)
                self.absent[self.rng.choice(there)] = days
                free = self._free()
                if free and self.rng.random() < 0.5:
                    self.sits_in[self.rng.choice(free)] = days
        present = [worker for worker in self.team if worker not in self.absent] + list(self.sits_in)
        for worker in present:
            made = min(1.0, max(0.0, self.rng.gauss(0.3 + 0.05 * int(worker[1:]), 0.05)))
            self.unsent.append(OutputRow(2, self.day, None, worker, made, None, "worked"))
            self.last_seen[worker] = self.worked
        self.fresh = {worker for worker in self.fresh if worker not in present}
        self.worked += 1

    def _send(self) -> None:
        """Send what was made; what the guard holds back is true all the same, and confirmed."""
        send = partial(import_output, self.life.store, "s", self.unsent, b"x", "ann", team_from_output=self.inferred)
        try:
            send()
        except UnusualOutput:
            send(accept_unusual=True)
        self.unsent = []

    def _answer(self) -> None:
        site = self.life.site
        team_now = {int(worker[1:]) for worker in self.team}
        free = {int(worker[1:]) for worker in self._free()}
        for proposal in site.open_proposals(PROPOSED)[:1]:
            fits = (proposal.out in team_now or proposal.out == -1) and proposal.into in free
            if fits and self.rng.random() < 0.8:
                commands.approve(self.life.store, "s", proposal.id, "ann")
                self.due[proposal.id] = self.worked + self.rng.randrange(0, 4)
            else:
                commands.reject(self.life.store, "s", proposal.id, "ann")

    def _offers(self, calm: bool) -> None:
        for number in [number for number, when in self.due.items() if calm or when <= self.worked]:
            del self.due[number]
            proposal = self.life.site.proposals[number]
            assert proposal.status in UNDER_WAY
            into, out = f"w{proposal.into}", f"w{proposal.out}"
            on_record = self.life.site.config.calendar.is_regular(self.day)
            if self.unsent or self.late or calm or out not in self._settled() or not on_record:
                commands.record_offer(self.life.store, "s", number, "cancelled", "ann")
                continue
            if self.life.site.config.calendar.date_of(self.life.site.period) != self.day:
                commands.record_offer(self.life.store, "s", number, "cancelled", "ann")
                continue
            commands.record_offer(self.life.store, "s", number, "started", "ann", on=self.day)
            self.team[self.team.index(out)] = into
            self.fresh.add(into)
            self.came[into] = self.worked
            self.changes += 1
