"""`crewlearn reproduce`: the paper's tables and figures, with our numbers next to the printed ones."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.options import ConventionsOption, FreshOption, JsonOption, SeedOption
from crewlearn.cli.output import plain_errors, print_json, print_table, progress_steps

if TYPE_CHECKING:
    from crewlearn.study.outcome import Outcome
    from crewlearn.study.report.page import WrittenReport
    from crewlearn.study.result_cache import ResultCache
    from crewlearn.study.studies import Request


def reproduce_command(
    study: Annotated[list[str] | None, typer.Argument(help="Studies to run; by default the headline.")] = None,
    list_studies: Annotated[bool, typer.Option("--list", help="List the studies and exit.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Run every study and write one report.")] = False,
    runs: Annotated[int | None, typer.Option(help="Simulated runs; by default each study's own number.")] = None,
    seed: SeedOption = 1,
    conventions: ConventionsOption = "as-released",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; by default reports, or no report with --json.")
    ] = None,
    fresh: FreshOption = False,
    json: JsonOption = False,
) -> None:
    """Reproduce the paper's tables and figures, with our numbers next to the printed ones, and write a report."""
    with plain_errors():
        from crewlearn.problem.errors import InvalidInput
        from crewlearn.study.lab import counted
        from crewlearn.study.result_cache import ResultCache
        from crewlearn.study.studies import HEADLINE, STUDIES, Request, StudyRunner, chosen_studies

        if list_studies:
            if json:
                print_json(
                    [{"name": entry.name, "title": entry.title, "item": entry.item} for entry in STUDIES.values()]
                )
            else:
                for entry in STUDIES.values():
                    print(f"{entry.name:<22} {entry.title}\n{'':<22} {entry.item}")
            return
        if every and study:
            raise InvalidInput("study", " ".join(study), "leave the names out with --all, which runs every study")
        folder = out if out is not None or json else Path("reports")
        if folder is not None:
            from crewlearn.study.report.page import check_folder

            check_folder(folder)
        studies = list(STUDIES.values()) if every else chosen_studies(study or [HEADLINE])
        request, kept = Request(conventions, runs, seed), ResultCache(fresh)
        with progress_steps(len(studies)) as (tell, done):
            runner = StudyRunner(request, kept, tell, done)
            outcomes = [runner.run(chosen) for chosen in studies]
        if not json:  # print the requested results before running what only the report needs
            for outcome in outcomes:
                (_print_line if every else _print_outcome)(outcome)
        if folder is not None:
            written = _write(outcomes, request, kept, folder)
    if json:
        documents = [outcome.to_json() for outcome in outcomes]
        print_json(documents[0] if len(documents) == 1 else {"studies": documents})
        return
    if folder is not None:
        figures, tables = counted(written.figures, "figure"), counted(written.tables, "table")
        print(f"Report: {written.page} ({figures}, {tables})")
    if not every:
        print("All studies: crewlearn reproduce --all    Their names: crewlearn reproduce --list")


def _write(outcomes: "list[Outcome]", request: "Request", kept: "ResultCache", folder: Path) -> "WrittenReport":
    """Run the studies under the other conventions and write the report on both."""
    from crewlearn.study.report.page import write_report
    from crewlearn.study.studies import StudyRunner

    with progress_steps(len(outcomes)) as (tell, done):
        runner = StudyRunner(request, kept, tell, done)
        complete = [runner.complete(outcome) for outcome in outcomes]
        tell("writing the report")
        return write_report(complete, folder, kept)


def _print_outcome(outcome: "Outcome") -> None:
    """Print a study's tables and findings."""
    from crewlearn.study.lab import counted
    from crewlearn.study.report.tables import tables_of
    from crewlearn.study.studies import STUDIES

    part, study = outcome.main, STUDIES[outcome.study]
    print(f"{study.title} ({study.item}), {part.conventions}, {counted(part.runs, 'run')}\n")
    for table in tables_of(part):
        print_table(f"{table.title}:", table.columns, table.rows, words=table.words)
    for finding in part.findings:
        print(f"- {finding}")
    print()


def _print_line(outcome: "Outcome") -> None:
    """Print a line on a study: how many of our numbers agree with the printed ones."""
    judged = [number.agrees for number in outcome.main.numbers() if number.agrees is not None]
    verdict = f"{sum(judged)} of {len(judged)} printed numbers met" if judged else "drawn and measured"
    print(f"{outcome.study:<22} {verdict:<32} {outcome.seconds:6.1f} s")
    sys.stdout.flush()
