"""The `crewlearn` command."""

import errno
import io
import os
import sys
from typing import Annotated

import typer

from crewlearn import __version__
from crewlearn.cli.live import (
    advise,
    backtest,
    doctor,
    files,
    imports,
    ledger,
    pilot,
    plan,
    serve,
    site,
    team,
    users,
    webhooks,
)
from crewlearn.cli.research import bounds, leaderboard, limit, policies, reproduce, simulate, sweep

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def print_version(wanted: bool) -> None:
    """Print the version and exit, before any command is parsed."""
    if wanted:
        print(f"crewlearn {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn whom to keep and whom to replace in a contingent workforce."""


app.command("reproduce")(reproduce.reproduce_command)
app.command("simulate")(simulate.simulate_command)
app.command("sweep")(sweep.sweep_command)
app.command("leaderboard")(leaderboard.leaderboard_command)
app.command("policies")(policies.policies_command)
app.command("bounds")(bounds.bounds_command)
app.command("limit")(limit.limit_command)
app.add_typer(site.app, name="site")
app.add_typer(files.workers, name="workers")
files.output.command("list")(imports.list_command)
files.output.command("undo")(imports.undo_command)
app.add_typer(files.output, name="output")
app.command("team")(team.team_command)
app.command("advise")(advise.advise_command)
app.command("status")(advise.status_command)
app.command("explain")(advise.explain_command)
app.command("approve")(advise.approve_command)
app.command("reject")(advise.reject_command)
app.command("offer")(advise.offer_command)
app.command("undo")(advise.undo_command)
app.command("plan")(plan.plan_command)
app.command("backtest")(backtest.backtest_command)
app.add_typer(pilot.app, name="pilot")
app.command("demo")(plan.demo_command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(ledger.store_app, name="store")
app.add_typer(users.app, name="users")
app.add_typer(webhooks.app, name="webhook")
app.command("serve")(serve.serve_command)
app.command("doctor")(doctor.doctor_command)


def main() -> None:
    """Run the command line, replacing characters that the terminal cannot print."""
    _check_arguments(sys.argv[1:])
    _import_from_current_folder(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        print("crewlearn: the disk is full, so the output is not whole; free some space and try again", file=sys.stderr)
        sys.exit(1)


def _check_arguments(arguments: list[str]) -> None:
    """Refuse arguments that are not text in this locale: nothing that is stored or printed could name them."""
    for argument in arguments:
        if not argument.isascii() and any("\ud800" <= character <= "\udfff" for character in argument):
            shown = ascii(argument)
            print(f"crewlearn: the argument {shown} is not text in this locale; set LC_ALL=C.UTF-8", file=sys.stderr)
            sys.exit(2)


def _import_from_current_folder(arguments: list[str]) -> None:
    """Let `--policy module:Class` name a module in the current folder, except for `serve`.

    The folder comes last in the path, so that a file in it never hides an installed module.
    """
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if command != "serve":
        sys.path.append("")
