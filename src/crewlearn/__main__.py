"""`python -m crewlearn` is the `crewlearn` command."""

from crewlearn.cli.main import main

if __name__ == "__main__":
    main()
