"""The `crewlearn` command."""

import io
import sys

import typer

from crewlearn.cli import bounds, leaderboard, policies, reproduce, simulate, sweep

app = typer.Typer(
    help="Learn whom to keep and whom to replace in a contingent workforce.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("reproduce")(reproduce.reproduce_command)
app.command("simulate")(simulate.simulate_command)
app.command("sweep")(sweep.sweep_command)
app.command("leaderboard")(leaderboard.leaderboard_command)
app.command("policies")(policies.policies_command)
app.command("bounds")(bounds.bounds_command)


def main() -> None:
    """Run the command line; where the terminal lacks a letter, another stands in for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
