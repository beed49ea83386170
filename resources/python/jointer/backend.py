"""Captures graphs that a process compiles, exports or traces.

``capturing`` intercepts AOTAutograd: every joint graph is captured just before it is partitioned,
for any backend. It also captures what is exported or traced without ``torch.compile``. ``backend``
captures the joint graphs of a single ``torch.compile``. Neither changes the results.
While either is active, AOTAutograd's cache is disabled, since with cached results no graph is made.
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
    """A ``torch.compile`` backend that captures each joint graph, then compiles it with ``inner``.

    Args:
        path: as in ``capture_pass``: may contain ``{rank}``, ``{kind}`` and ``{n}``.
        inner: a backend, or its name. ``"eager"`` traces only for the capture and runs the
            model unchanged.
        pair: also write the pair that the partitioner makes of each joint graph; if ``path`` lacks
            ``{kind}``, it is inserted before the suffix.
        info: as in ``capture``.

    Graphs without a backward have no joint graph and are not captured. Errors while capturing are
    reported once, as a warning.
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
    """Capture the joint graphs that this process compiles inside the context, and the graphs that
    it exports or traces with ``aot_export_joint_with_descriptors``, ``make_fx``, or torchtitan's
    graph_trainer.

    ``path``, ``pair`` and ``info`` are as in ``backend``. All backends that use AOTAutograd work
    unchanged; ``torch.compile(backend="eager")`` is traced only for the capture. With
    ``each_pass``, graph_trainer's training step is also captured after each of its passes. The
    value of the context counts the captures, and gives the reason if there are none.
    """
    from torch._dynamo.backends import registry

    recorder = Recorder(path, pair, info, each_pass)
    eager = _traced_aside(_lookup("eager"), recorder.guard)
    with recorder.active(), mock.patch.dict(registry._COMPILER_FNS, {"eager": eager}):
        yield recorder


def _lookup(inner: str | Compiler) -> Compiler:
    """The ``torch.compile`` backend of that name."""
    # Imported late: importing Dynamo takes as long as importing torch, and it is not needed for
    # loading captures.
    from torch._dynamo.backends.registry import lookup_backend

    return lookup_backend(inner)


def _traced_aside(compile_inner: Compiler, guard: WarnOnce) -> Compiler:
    """A backend that makes a joint graph only to capture it, and then discards the graph."""

    def trace_and_compile(
        gm: fx.GraphModule, example_inputs: Sequence[Any], **options: Any
    ) -> Callable[..., Any]:
        with guard:
            _lookup("aot_eager")(gm, example_inputs)
        return compile_inner(gm, example_inputs, **options)

    return trace_and_compile
