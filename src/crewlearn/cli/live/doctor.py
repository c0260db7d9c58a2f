"""`crewlearn doctor`: check a store and the machine around it."""

from pathlib import Path
from typing import Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import plain_errors, print_json

_MARKS = {"ok": "ok", "warning": "WARN", "failure": "FAIL"}


def doctor_command(
    backups: Annotated[
        Path | None, typer.Option(envvar="CREWLEARN_BACKUPS", help="The folder of backups, to check the newest one.")
    ] = None,
    backup_hours: Annotated[float, typer.Option(help="The most hours that the newest backup may be old.")] = 26.0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Check store, versions, permissions, clock, disk, backups, webhooks, jobs and users, with remedies.

    Nothing is changed. The exit status is 0 if all is well, 1 if something fails, and 2 if it could not be checked.
    """
    with plain_errors():
        from crewlearn.advisor.ledger.checkup.findings import OK, WARNING, worst
        from crewlearn.advisor.ledger.checkup.run import check_up
        from crewlearn.advisor.ledger.db.engine import make_engine
        from crewlearn.problem.errors import InvalidInput

        if not backup_hours > 0:
            raise InvalidInput("backup_hours", backup_hours, "must be a number of hours above 0, such as 26")
        engine = make_engine(db)
        try:
            findings = check_up(engine, backups, backup_hours)
        finally:
            engine.dispose()
    status = worst(findings)
    healthy = status == OK or (status == WARNING and not strict)
    if json:
        print_json({"status": status, "healthy": healthy, "findings": [finding.to_json() for finding in findings]})
    else:
        width = max(len(finding.check) for finding in findings)
        for finding in findings:
            print(f"{_MARKS[finding.status]:4}  {finding.check:{width}}  {finding.detail}")
            if finding.remedy:
                print(f"      {'':{width}}  -> {finding.remedy}")
    if not healthy:
        raise typer.Exit(1)
