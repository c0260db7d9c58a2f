"""Kill every command at every statement on both databases; `make test` has each command on one of them."""

import os
import subprocess
import sys


def main() -> None:
    """Run the test of crashes with every pair of a command and a database."""
    environment = {**os.environ, "CREWLEARN_EVERY_KILL": "1"}
    command = [sys.executable, "-m", "pytest", "-n", "2", "tests/advisor/ledger/test_crash.py"]
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
