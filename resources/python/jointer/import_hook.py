"""Patches modules that are already imported, or that will be imported later."""

from __future__ import annotations

import contextlib
import importlib.abc
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Patches a module that was just executed.
Patch = Callable[[ModuleType], None]


@contextlib.contextmanager
def patched_modules(patches: Mapping[str, Patch]) -> Iterator[None]:
    """Apply ``patches`` to the modules of those names, immediately or when they are imported.
    Patches are not reverted."""
    finder = _Finder(patches)
    for name, patch in patches.items():
        if name in sys.modules:
            patch(sys.modules[name])
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def replace_function(module: ModuleType, name: str, wrap: Callable[[Any], Any]) -> None:
    """Replace a module's function with ``wrap(function)``, in this module and in all modules of the
    same top-level package that imported the function. Does nothing if the module lacks it."""
    original = getattr(module, name, None)
    if not callable(original):
        return
    wrapped = wrap(original)
    package = module.__name__.partition(".")[0] + "."
    for other in list(sys.modules.values()):
        if other is not module and not getattr(other, "__name__", "").startswith(package):
            continue
        held = getattr(other, "__dict__", {})
        for key in [key for key, value in list(held.items()) if value is original]:
            setattr(other, key, wrapped)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules with the other finders, and patches them after they are executed."""

    def __init__(self, patches: Mapping[str, Patch]) -> None:
        self._patches = patches

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        if name not in self._patches:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                return self._with_patch(spec, self._patches[name])
        return None

    @staticmethod
    def _with_patch(spec: ModuleSpec, patch: Patch) -> ModuleSpec:
        execute = getattr(spec.loader, "exec_module", None)
        if execute is not None:

            def execute_and_patch(module: ModuleType) -> None:
                execute(module)
                patch(module)

            spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec
