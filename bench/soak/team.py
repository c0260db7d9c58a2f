"""Play 100 months of a changing team, entered late and inferred, and compare the record with the truth."""

import os
import subprocess
import sys

MONTHS = "100"


def main() -> None:
    """Run the test of the team's record over many months."""
    os.environ.setdefault("CREWLEARN_TEAM_MONTHS", MONTHS)
    command = [sys.executable, "-m", "pytest", "-n", "0", "tests/advisor/ledger/team/test_true_team.py"]
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
