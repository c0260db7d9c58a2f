"""Playing the cells of a sweep that its file does not have yet."""

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from crewlearn.engine.blocks import BlockResult
from crewlearn.engine.local import load_loops
from crewlearn.engine.results import Collector, PolicyResult, SimulationResult
from crewlearn.engine.scale_out.player import Player, choose_player
from crewlearn.engine.sweep.cells import Cell
from crewlearn.engine.sweep.files import append_record, locked_results, read_results, write_runs
from crewlearn.engine.sweep.result import Sweep


def run_sweep(
    cells: Sequence[Cell],
    path: Path | str,
    *,
    engine: str = "local",
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Sweep:
    """Play the cells that the file does not have, appending each to it as soon as it is finished.

    All cells are played in one stream of blocks, which keeps threads, processes and clusters busy even if cells are
    small. `engine` and `threads` are as in `simulate`. Each cell is synced to disk before the next one finishes, so an
    interrupted sweep can be resumed by running it again. The numbers of every run are kept beside the file. Cells whose
    code cannot be identified completely are always played. Where people or days change, keep-team and the oracle are
    played once for the cells of a problem, as `captured` needs them. `progress` is called with the number of runs just
    finished or skipped; theirs do not count.
    """
    path, player = Path(path), choose_player(engine, threads)  # checked before the file is made
    report = progress or (lambda runs: None)
    with locked_results(path) as file:
        known = read_results(path, file)
        skipped = [cell for cell in cells if cell.identity.gap is None and cell.key in known]
        reused = {cell.key for cell in skipped}
        to_do = list({cell.key: cell for cell in cells if cell.key not in reused}.values())
        report(sum(cell.runs for cell in cells) - sum(cell.runs for cell in to_do))
        if to_do:
            with closing(_played(to_do, engine, player, report)) as played:
                for cell, result in played:
                    write_runs(path, cell.key, result)
                    known[cell.key] = cell.record(result)
                    append_record(file, known[cell.key])
    gaps = {cell.policy.name: cell.identity.gap for cell in cells if cell.identity.gap is not None}
    return Sweep(tuple(known[cell.key] for cell in cells), len(skipped), gaps, tuple(cells), path)


def _played(
    to_do: Sequence[Cell], engine: str, player: Player, report: Callable[[int], None]
) -> Generator[tuple[Cell, SimulationResult], None, None]:
    """Yield cells with their results as soon as they are finished."""
    groups = [_Group.of(list(cells)) for _, cells in itertools.groupby(to_do, key=lambda cell: cell.worlds)]
    to_play = [cell for group in groups for cell in group.to_play()]
    _load_all_loops(engine, to_play)
    with closing(player([block for cell in to_play for block in cell.blocks(player)], None)) as results:
        for group in groups:
            yield from group.results(results, report)


@dataclass(frozen=True)
class _Group:
    """Cells in the same worlds, and the ends of their scale, by name."""

    cells: list[Cell]
    ends: dict[str, Cell]

    @classmethod
    def of(cls, cells: list[Cell]) -> "_Group":
        return cls(cells, cells[0].ends())

    def to_play(self) -> list[Cell]:
        """Return what is to be played: the ends of the scale, then the cells that are not one of them."""
        return [*self.ends.values(), *(cell for cell in self.cells if self._end_of(cell) is None)]

    def results(
        self, stream: Iterator[tuple[BlockResult, float]], report: Callable[[int], None]
    ) -> Iterator[tuple[Cell, SimulationResult]]:
        """Collect the group from the stream and yield its cells with their results."""
        ends = {name: _collect(end, stream, lambda runs: report(0)) for name, end in self.ends.items()}
        for cell in self.cells:
            end = self._end_of(cell)
            yield cell, cell.result(_collect(cell, stream, report) if end is None else ends[end], ends)
            if end is not None:
                report(cell.runs)

    def _end_of(self, cell: Cell) -> str | None:
        """Return the name of the end of the scale that a cell is, if it is one."""
        return next((name for name, end in self.ends.items() if cell.policy == end.policy), None)


def _load_all_loops(engine: str, cells: Sequence[Cell]) -> None:
    """Load the loops of all cells; problems that change are played by other loops than those that do not."""
    for changes in (False, True):
        alike = [cell for cell in cells if cell.problem.changes == changes]
        if alike:
            load_loops(engine, alike[0].problem, [cell.policy for cell in alike], alike[0].seed)


def _collect(cell: Cell, results: Iterator[tuple[BlockResult, float]], report: Callable[[int], None]) -> PolicyResult:
    """Collect a cell's blocks from the stream."""
    collector = Collector(cell.policy, cell.runs, cell.at, cell.problem.horizon)
    while collector.taken < cell.runs:
        result, seconds = next(results)
        collector.add(result, seconds)
        report(len(result.regret))
    return collector.result()
