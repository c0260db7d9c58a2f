"""`crewlearn policies`: the policies known here."""

import sys
from typing import Any

from crewlearn.cli.options import ConventionsOption, JsonOption
from crewlearn.cli.output import plain_errors, print_json


def policies_command(conventions: ConventionsOption = "as-written", json: JsonOption = False) -> None:
    """List the policies, each with a description and its parameters; those of other installed packages come last."""
    with plain_errors():
        import dataclasses

        from crewlearn.policies.installed import package_of
        from crewlearn.policies.registry import REGISTRY, known_policies, line_of, make_policy
        from crewlearn.problem.errors import InvalidInput

        listed: dict[str, dict[str, Any]] = {}
        refused: list[InvalidInput] = []
        for name in known_policies():
            try:
                parameters = dataclasses.asdict(make_policy(name, conventions))
                package = {} if name in REGISTRY else {"package": package_of(name)}
                listed[name] = {"line": line_of(name), "parameters": parameters, **package}
            except InvalidInput as error:
                refused.append(error)
    if json:
        print_json(listed)
    else:
        for name, about in listed.items():
            print(f"{name}\n    {about['line']}" + (f" ({about['package']})" if "package" in about else ""))
            if about["parameters"]:
                print("    " + ", ".join(f"{key}={value}" for key, value in about["parameters"].items()))
        print("\nParameters go after the name: --policy dr-ucb:gamma=20,radius=log-t")
    for fault in refused:
        print(f"crewlearn: refused: {fault}", file=sys.stderr)
