"""The `crewlearn` command."""

import io
import sys

import typer

from crewlearn.cli import (
    advise,
    bounds,
    files,
    leaderboard,
    ledger,
    plan,
    policies,
    reproduce,
    serve,
    simulate,
    site,
    sweep,
    users,
)

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
app.add_typer(site.app, name="site")
app.add_typer(files.workers, name="workers")
app.add_typer(files.output, name="output")
app.command("advise")(advise.advise_command)
app.command("status")(advise.status_command)
app.command("explain")(advise.explain_command)
app.command("approve")(advise.approve_command)
app.command("reject")(advise.reject_command)
app.command("offer")(advise.offer_command)
app.command("undo")(advise.undo_command)
app.command("plan")(plan.plan_command)
app.command("demo")(plan.demo_command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(ledger.store_app, name="store")
app.add_typer(users.app, name="users")
app.command("serve")(serve.serve_command)


def main() -> None:
    """Run the command line; where the terminal lacks a letter, another stands in for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
