"""Registration of the environments with Gymnasium, as soon as a program has imported both packages.

Gymnasium looks for nobody's environments by itself, and `import crewlearn` must not load it.
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

GYMNASIUM = "gymnasium"

REPLACEMENT_ID = "crewlearn/Replacement-v0"
ID = "crewlearn/DelayedReplacement-v0"

_HOME = "crewlearn.engine.gym"


def register_environments() -> None:
    """Register the environments now if Gymnasium is imported already, else as soon as it is."""
    module = sys.modules.get(GYMNASIUM)
    if module is not None and hasattr(module, "register"):
        _register(module)
    elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterGymnasium())


def _register(gymnasium: Any) -> None:
    if ID not in gymnasium.registry:
        gymnasium.register(id=ID, entry_point=f"{_HOME}:DelayedReplacement")
    if REPLACEMENT_ID not in gymnasium.registry:
        vector = f"{_HOME}:ReplacementVectorEnv"
        gymnasium.register(id=REPLACEMENT_ID, entry_point=f"{_HOME}:ReplacementEnv", vector_entry_point=vector)


class _AfterGymnasium:
    """Finds Gymnasium as the other finders do, and lets its import end with the registration."""

    def __init__(self) -> None:
        self.searching = False

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of Gymnasium; of no other module."""
        if name != GYMNASIUM or self.searching:
            return None
        self.searching = True
        try:
            found = (finder.find_spec(name, path, target) for finder in sys.meta_path if hasattr(finder, "find_spec"))
            spec = next((spec for spec in found if spec is not None), None)
        finally:
            self.searching = False
        if spec is not None and spec.loader is not None:
            self._extend(spec.loader)
        return spec

    def _extend(self, loader: Any) -> None:
        execute = loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _register(module)

        loader.exec_module = execute_and_register
