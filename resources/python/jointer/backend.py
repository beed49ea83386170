"""Captures of what ``torch.compile`` compiles.

``capturing`` watches AOTAutograd: every joint graph leaves a capture just before it is
partitioned, whatever backend asked for it. ``backend`` is that for a single ``torch.compile``.
Neither changes what is computed; while they are active AOTAutograd's cache is off, since a cached
result was never a graph here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from torch import fx

from .capture import WarnOnce
from .recorder import Recorder

Compiler = Callable[..., Callable[..., Any]]


def backend(
    path: str | os.PathLike[str],
    inner: str | Compiler = "aot_eager",
    *,
    pair: bool = False,
    **info: Any,
) -> Compiler:
    """A ``torch.compile`` backend that captures each joint graph and goes on with ``inner``.

    Args:
        path: as in ``capture_pass``: may hold ``{rank}``, ``{kind}`` and ``{n}``.
        inner: a backend's name, or a backend. ``"eager"`` traces for the capture alone and runs
            the model as it is.
        pair: also write what the partitioner makes of each joint graph; ``path`` without
            ``{kind}`` gets it before its suffix.
        info: as in ``capture``.

    Graphs without a backward have no joint graph and leave no capture. What goes wrong while
    capturing is a warning, given once.
    """
    recorder = Recorder(path, pair, info)
    compile_inner = _lookup(inner)
    if inner == "eager":
        compile_inner = _traced_aside(compile_inner, recorder.guard)

    def compile_and_capture(
        gm: fx.GraphModule, example_inputs: Sequence[Any], **options: Any
    ) -> Callable[..., Any]:
        with recorder.active():
            return compile_inner(gm, example_inputs, **options)

    return compile_and_capture


@contextlib.contextmanager
def capturing(
    path: str | os.PathLike[str], *, pair: bool = False, each_pass: bool = False, **info: Any
) -> Iterator[Recorder]:
    """Capture every joint graph that is compiled in this process meanwhile, and every graph that
    the program exports or traces: by ``aot_export_joint_with_descriptors``, ``make_fx``, or
    torchtitan's graph_trainer.

    Takes ``path``, ``pair`` and ``info`` as ``backend`` does, and any backend that uses
    AOTAutograd as it is; ``torch.compile(backend="eager")`` is traced for the capture alone.
    ``each_pass`` also captures graph_trainer's step after each of its passes. The value counts
    what was written and says why that was nothing.
    """
    from torch._dynamo.backends import registry

    recorder = Recorder(path, pair, info, each_pass)
    eager = _traced_aside(_lookup("eager"), recorder.guard)
    with recorder.active(), mock.patch.dict(registry._COMPILER_FNS, {"eager": eager}):
        yield recorder


def _lookup(inner: str | Compiler) -> Compiler:
    """The ``torch.compile`` backend of that name."""
    # Dynamo takes as long to import as torch: who only loads captures does not wait for it.
    from torch._dynamo.backends.registry import lookup_backend

    return lookup_backend(inner)


def _traced_aside(compile_inner: Compiler, guard: WarnOnce) -> Compiler:
    """A backend that makes a joint graph for whoever watches, then does without it."""

    def trace_and_compile(
        gm: fx.GraphModule, example_inputs: Sequence[Any], **options: Any
    ) -> Callable[..., Any]:
        with guard:
            _lookup("aot_eager")(gm, example_inputs)
        return compile_inner(gm, example_inputs, **options)

    return trace_and_compile
