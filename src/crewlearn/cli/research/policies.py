"""`crewlearn policies`: the registered policies."""

from crewlearn.cli.options import ConventionsOption, JsonOption
from crewlearn.cli.output import plain_errors, print_json


def policies_command(conventions: ConventionsOption = "as-written", json: JsonOption = False) -> None:
    """List the policies, each with a description and its parameters."""
    with plain_errors():
        import dataclasses

        from crewlearn.policies.registry import REGISTRY, make_policy

        built = {name: dataclasses.asdict(make_policy(name, conventions)) for name in REGISTRY}
    if json:
        print_json({name: {"line": REGISTRY[name].line, "parameters": built[name]} for name in built})
        return
    for name, parameters in built.items():
        print(f"{name}\n    {REGISTRY[name].line}")
        if parameters:
            print("    " + ", ".join(f"{key}={value}" for key, value in parameters.items()))
    print("\nParameters go after the name: --policy dr-ucb:gamma=20,radius=log-t")
