"""Captures of what ``torch.compile`` compiles.

``capturing`` watches AOTAutograd: every joint graph leaves a capture just before it is
partitioned, whatever backend asked for it. ``backend`` is that for a single ``torch.compile``.
Neither changes what is computed; while they are active AOTAutograd's cache is off, since a cached
result was never a graph here.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from torch import fx
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.descriptors import AOTInput, BufferAOTInput, ParamAOTInput

from .capture import WarnOnce, expand_path, label, pair_document
from .descriptors import name_inputs
from .document import write_document
from .encode import encode_graph

Compiler = Callable[..., Callable[..., Any]]

#: A parameter or a buffer in Dynamo's words: ``L['self']._modules['wq']._parameters['weight']``.
_SOURCE = re.compile(r"_(?:modules|parameters|buffers)\['([^']+)'\]")


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
    recorder = _Recorder(path, pair, info)
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
def capturing(path: str | os.PathLike[str], *, pair: bool = False, **info: Any) -> Iterator[None]:
    """Capture every joint graph that is compiled in this process meanwhile.

    Takes ``path``, ``pair`` and ``info`` as ``backend`` does, and any backend that uses
    AOTAutograd as it is; ``torch.compile(backend="eager")`` is traced for the capture alone.
    """
    from torch._dynamo.backends import registry

    recorder = _Recorder(path, pair, info)
    eager = _traced_aside(_lookup("eager"), recorder.guard)
    with recorder.active(), mock.patch.dict(registry._COMPILER_FNS, {"eager": eager}):
        yield


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


class _Recorder:
    """Writes joint graphs, and their pairs, as they pass by."""

    def __init__(self, path: str | os.PathLike[str], pair: bool, info: dict[str, Any]) -> None:
        self.guard = WarnOnce("jointer")
        self._path = path
        self._pair = pair
        self._info = info
        self._numbers = itertools.count()
        #: The graph being compiled: its inputs' names, its joint graph, that one's number.
        self._names: dict[int, AOTInput] = {}
        self._joint: fx.GraphModule | None = None
        self._number = 0

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """See every joint graph of this process meanwhile."""
        from torch._dynamo.backends import common

        before = functorch_config.joint_custom_pass

        def see_joint(gm: fx.GraphModule, inputs: Any) -> fx.GraphModule:
            gm = gm if before is None else before(gm, inputs)
            self._save_joint(gm)
            return gm

        aot = functools.partial(self._aot, common.aot_module_simplified)
        changes = {"joint_custom_pass": see_joint, "enable_autograd_cache": False}
        with (
            functorch_config.patch(changes),
            mock.patch.object(common, "aot_module_simplified", aot),
        ):
            yield

    def _aot(self, aot: Callable[..., Any], gm: fx.GraphModule, *args: Any, **options: Any) -> Any:
        """AOTAutograd on Dynamo's ``gm``, with a partitioner that shows what it made."""
        if partition := options.get("partition_fn"):

            @functools.wraps(partition)
            def see_pair(joint: fx.GraphModule, *rest: Any, **named: Any) -> Any:
                is_seen = joint is self._joint  # rather than a higher-order operator's body
                halves = partition(joint, *rest, **named)
                if is_seen and self._pair:
                    self._save_pair(*halves)
                return halves

            options["partition_fn"] = see_pair
        self._names = _parameter_names(gm)
        try:
            return aot(gm, *args, **options)
        finally:
            self._names, self._joint = {}, None

    def _save_joint(self, gm: fx.GraphModule) -> None:
        self._joint, self._number = gm, next(self._numbers)
        with self.guard:
            path = expand_path(self._path, "joint", self._number)
            document = encode_graph(gm, kind="joint", name=label(path), info=self._info)
            self._describe(document)
            write_document(document, path)

    def _save_pair(self, forward: fx.GraphModule, backward: fx.GraphModule) -> None:
        with self.guard:
            path = expand_path(_with_kind(os.fspath(self._path)), "pair", self._number)
            document = pair_document(forward, backward, label(path), self._info)
            for half in (document["forward"], document["backward"]):
                self._describe(half)
            write_document(document, path)

    def _describe(self, document: dict[str, Any]) -> None:
        """Say which inputs of ``document`` are parameters and buffers."""
        for record in document["nodes"]:
            if "desc" in record:
                record["desc"] = name_inputs(record["desc"], self._names)


def _parameter_names(gm: fx.GraphModule) -> dict[int, AOTInput]:
    """Which of the inputs of Dynamo's ``gm`` are parameters and buffers, and which ones."""
    names: dict[int, AOTInput] = {}
    for index, node in enumerate(gm.graph.find_nodes(op="placeholder")):
        source = getattr(node, "_dynamo_source", None)
        text = str(getattr(source, "name", ""))
        path = ".".join(_SOURCE.findall(text))
        if re.search(r"_parameters\['[^']+'\]$", text):
            names[index] = ParamAOTInput(path)
        elif re.search(r"_buffers\['[^']+'\]$", text):
            names[index] = BufferAOTInput(path)
    return names


def _with_kind(path: str) -> str:
    """``path`` with a place for the kind, before its suffix where it has none."""
    if "{kind}" in path:
        return path
    suffix = ".json.zst" if path.endswith(".json.zst") else Path(path).suffix
    return f"{path.removesuffix(suffix)}.{{kind}}{suffix}"
