"""The module of a node as a path, as shown in the window and matched by selectors.

A module stack lists ``(path, class)``, outermost first. Paths are Python expressions as printed by
Dynamo (``L['self'].layers.0.attention``), which are shortened to ``layers.0.attention``. A frame
that is not a module path, such as SimpleFSDP's parametrization, becomes a child of the previous
frame, named after the parameter and the class:
``layers.0.attention.wq.weight (ReplicateComputation)``. C++ does the same
(core/graph/module_tree.cpp).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from torch import fx

_SELF = "L['self']"
_MODULES = re.compile(r"_modules\['(.*?)'\]\.?")
_SEGMENT = re.compile(r"([^.]*)\.?")
_ODD = frozenset("()[]' <>")
_PARAMETER = re.compile(r"\['(.*?)'\]")


def module_path(node: fx.Node) -> str:
    """The path of the innermost module that called ``node``; empty if unknown."""
    for key in ("nn_module_stack", "fwd_nn_module_stack"):
        stack = node.meta.get(key)
        if rows := _rows(stack) if isinstance(stack, Mapping) else ():
            return _path(rows)
    # In flat training steps, the name of the module is in `custom` instead.
    custom = node.meta.get("custom")
    name = custom.get("module_fqn") if isinstance(custom, Mapping) else None
    return name if isinstance(name, str) else ""


def _rows(stack: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(path), kind.__qualname__ if isinstance(kind, type) else str(kind))
        for path, kind in stack.values()
        if path
    )


@functools.lru_cache(maxsize=4096)
def _path(rows: tuple[tuple[str, str], ...]) -> str:
    at = ""
    for frame, kind in rows:
        path = _shortened(frame)
        if path or frame == _SELF:
            at = path
            continue
        kind = kind.rpartition(".")[2]
        parameters = _PARAMETER.findall(frame[frame.rfind("['") :]) if "['" in frame else []
        segment = f"{parameters[0]} ({kind})" if parameters and parameters[0] else kind
        at = f"{at}.{segment}" if at else segment
    return at


def _shortened(frame: str) -> str:
    """The path of a module from the root; empty if it is not a module."""
    frame = frame.removeprefix(_SELF).removeprefix(".")
    segments: list[str] = []
    while frame:
        # Dynamo also prints modules as L['self']._modules['layers']._modules['0'].
        found = _MODULES.match(frame)
        if found is None:
            if frame.startswith("_modules['"):
                return ""
            found = _SEGMENT.match(frame)
            if _ODD.intersection(found[1]):
                return ""
        segments.append(found[1])
        frame = frame[found.end() :]
    return ".".join(segments)
