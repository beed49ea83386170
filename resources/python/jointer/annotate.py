"""Records the module and the source line of each node for models traced without Dynamo.

Dynamo records both itself. ``aot_export_joint_with_descriptors`` and ``make_fx`` on a plain module
do so only inside ``annotate(model)``.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.fx import traceback as fx_traceback
from torch.overrides import TorchFunctionMode

#: Code whose frames are not part of the model.
_INTERNAL = (str(Path(torch.__file__).parent), str(Path(__file__).parent))


@contextlib.contextmanager
def annotate(model: nn.Module, root: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Record module stacks and stack traces for nodes traced from ``model`` inside the context.

    The stack trace of a node ends at the torch function that made the node. A backward node has the
    trace of its forward node; for a ``torch.autograd.Function``, the trace that leads to its
    module.

    Args:
        model: the model, whose submodules' paths form the module stacks.
        root: source files are named relative to this folder; default: absolute paths.
    """
    notes = _Notes(_depth(), root)
    with contextlib.ExitStack() as stack:
        for path, module in model.named_modules():
            if path:
                enter, leave = notes.hooks(path, type(module))
                stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
                hook = module.register_forward_hook(leave, always_call=True)
                stack.callback(hook.remove)
        stack.enter_context(fx_traceback.preserve_node_meta())
        # In anomaly mode, autograd nodes record the lines of their forward.
        stack.enter_context(torch.autograd.set_detect_anomaly(True, check_nan=False))
        stack.enter_context(notes)
        yield


class _Notes(TorchFunctionMode):
    """Maintains the metadata that torch puts on new nodes: the module stack and the lines."""

    def __init__(self, depth: int, root: str | os.PathLike[str] | None) -> None:
        super().__init__()
        self._outside = depth
        self._root = None if root is None else os.path.abspath(root)
        self._modules: dict[str, tuple[str, type]] = {}
        self._lines: list[str | None] = []

    def hooks(self, path: str, kind: type) -> tuple[Callable[..., None], Callable[..., None]]:
        """Forward hooks that push and pop the module at ``path``."""

        def enter(module: nn.Module, args: Any) -> None:
            self._modules[path] = (path, kind)
            self._lines.append(fx_traceback.current_meta.get("stack_trace"))
            self._note(self._trace())

        def leave(module: nn.Module, args: Any, output: Any) -> None:
            del self._modules[path]
            self._note(self._lines.pop())

        return enter, leave

    def _note(self, lines: str | None) -> None:
        fx_traceback.current_meta["nn_module_stack"] = dict(self._modules)
        _set_lines(lines)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        before = fx_traceback.current_meta.get("stack_trace")
        _set_lines(self._trace() or before)
        try:
            return function(*args, **(kwargs or {}))
        finally:
            _set_lines(before)

    def _trace(self) -> str:
        """The lines of the model that are executing, outermost first."""
        frames = []
        frame, depth = sys._getframe(1), _depth() - 1
        while frame is not None and depth > self._outside:
            code = frame.f_code
            if not code.co_filename.startswith(_INTERNAL):
                line = linecache.getline(code.co_filename, frame.f_lineno).strip()
                where = f'  File "{self._name(code.co_filename)}", line {frame.f_lineno}'
                frames.append(f"{where}, in {code.co_name}\n    {line}\n")
            frame, depth = frame.f_back, depth - 1
        return "".join(reversed(frames))

    def _name(self, filename: str) -> str:
        return filename if self._root is None else os.path.relpath(filename, self._root)


def _set_lines(lines: str | None) -> None:
    if lines:
        fx_traceback.current_meta["stack_trace"] = lines
    else:
        fx_traceback.current_meta.pop("stack_trace", None)


def _depth() -> int:
    """The caller's stack depth."""
    depth, frame = 0, sys._getframe(1)
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
