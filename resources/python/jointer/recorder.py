"""Captures the joint graphs that a process compiles, and the graphs that it exports or traces.

A ``Recorder`` wraps AOTAutograd (``torch.compile`` with any backend), the functions that export or
trace graphs on demand (``aot_export_joint_with_descriptors``, ``make_fx``), and torchtitan's
graph_trainer. The recorder counts its captures, and reports the reason if there are none.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from torch import fx
from torch._functorch import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.descriptors import AOTInput, BufferAOTInput, ParamAOTInput
from torch.fx.experimental import proxy_tensor

from . import graph_trainer
from .capture import WarnOnce, expand_path, label, pair_document, stages_document
from .descriptors import name_inputs
from .document import write_document
from .encode import encode_graph, infer_kind
from .hashing import document_hash
from .import_hook import patched_modules
from .state_names import StateNames

#: A parameter or a buffer, as named by Dynamo: ``L['self']._modules['wq']._parameters['weight']``.
_SOURCE = re.compile(r"_(?:modules|parameters|buffers)\['([^']+)'\]")

#: Modules that trace internally, or whose functions are already wrapped.
_INTERNAL = ("torch.", "jointer.", f"{graph_trainer.PACKAGE}.")


class Recorder:
    """Captures graphs as they are made.

    Args:
        path: as in ``capture_pass``; may contain ``{rank}``, ``{kind}`` and ``{n}``.
        pair: also write the pair that a partitioner makes of each joint graph.
        each_pass: also write graph_trainer's training step after each of its passes.
        info: as in ``capture``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        pair: bool,
        info: dict[str, Any],
        each_pass: bool = False,
    ) -> None:
        self.guard = WarnOnce("jointer")
        self.each_pass = each_pass
        #: True while this process is being recorded.
        self.is_active = False
        #: Number of captures written.
        self.written = 0
        self._path = path
        self._pair = pair
        self._info = info
        self._numbers = itertools.count()
        self._compiled = 0
        #: The graph being compiled: the names of its inputs, its joint graph, and the number of the
        #: joint graph.
        self._names: dict[int, AOTInput] = {}
        self._joint: fx.GraphModule | None = None
        self._number = 0
        #: Hashes of exported joint graphs, which appear again when they are compiled.
        self._exported: dict[str, int] = {}
        self._stages: dict[str, Any] | None = None
        self._stages_number: int | None = None

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Record all graphs of this process inside the context."""
        from torch._dynamo.backends import common

        before = functorch_config.joint_custom_pass

        def see_joint(gm: fx.GraphModule, inputs: Any) -> fx.GraphModule:
            gm = gm if before is None else before(gm, inputs)
            self._save_joint(gm)
            return gm

        aot = functools.partial(self._aot, common.aot_module_simplified)
        export = self._export(aot_autograd.aot_export_joint_with_descriptors)
        make_fx = self._make_fx(proxy_tensor.make_fx)
        changes = {"joint_custom_pass": see_joint, "enable_autograd_cache": False}
        was_active, self.is_active = self.is_active, True
        try:
            with (
                functorch_config.patch(changes),
                mock.patch.object(common, "aot_module_simplified", aot),
                mock.patch.object(aot_autograd, "aot_export_joint_with_descriptors", export),
                mock.patch.object(proxy_tensor, "make_fx", make_fx),
                patched_modules(graph_trainer.patches(self)),
            ):
                yield
        finally:
            self.is_active = was_active

    def why_nothing(self) -> str:
        """The reason why no capture was written, in one sentence."""
        if self.guard.reason is not None:
            return f"a graph was made but not captured: {self.guard.reason}"
        if self._compiled:
            if self._compiled == 1:
                return "a graph was compiled, but without a backward"
            return f"{self._compiled} graphs were compiled, none of them with a backward"
        if f"{graph_trainer.PACKAGE}.trainer" in sys.modules:
            return (
                "torchtitan's graph_trainer ended before it traced a step: let it train one, with "
                "--compile.mode aot_fx_trace"
            )
        return (
            "the command compiled and traced nothing: torch.compile, "
            "aot_export_joint_with_descriptors, make_fx and torchtitan's graph_trainer are watched"
        )

    def next_number(self) -> int:
        """The number of the next graph."""
        return next(self._numbers)

    def save_step(
        self, gm: fx.GraphModule, number: int, names: StateNames | None, after: str | None
    ) -> None:
        """Write a flat training step; ``after`` names the last pass that ran on it, if any."""
        with self.guard:
            kind = infer_kind(gm.graph)
            text = os.fspath(self._path)
            path = expand_path(_with_part(text, after) if after else text, kind, number)
            facts = {**self._info, "after": after} if after else self._info
            document = encode_graph(gm, kind=kind, name=label(path), info=facts)
            if names is not None:
                names.describe(document)
            self._write(document, path)

    def save_stages(
        self, stages: list[tuple[str, str, fx.GraphModule]], names: StateNames | None
    ) -> None:
        """Write the graphs of another pipeline stage, together with those of earlier stages."""
        if self._stages_number is None:
            self._stages_number = self.next_number()
        with self.guard:
            path = expand_path(self._path, "stages", self._stages_number)
            added = stages_document(stages, label(path), self._info)
            for entry in added["stages"]:
                if names is not None:
                    names.describe(entry["capture"])
            if self._stages is None:
                self._stages = added
            else:
                self._stages["stages"] += added["stages"]
            self._write(self._stages, path)

    def _write(self, document: dict[str, Any], path: Path) -> None:
        write_document(document, path)
        self.written += 1

    def _export(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``aot_export_joint_with_descriptors`` to capture its results."""

        @functools.wraps(original)
        def aot_export_joint_with_descriptors(*args: Any, **options: Any) -> Any:
            joint = original(*args, **options)
            if self.is_active and not _is_internal(sys._getframe(1)):
                self._save_joint(joint.graph_module, is_export=True)
            return joint

        return aot_export_joint_with_descriptors

    def _make_fx(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``make_fx`` to capture its results if the user's program calls it."""

        @functools.wraps(original)
        def make_fx(*args: Any, **options: Any) -> Callable[..., fx.GraphModule]:
            trace = original(*args, **options)
            if not self.is_active or _is_internal(sys._getframe(1)):
                return trace

            @functools.wraps(trace)
            def trace_and_save(*inputs: Any, **keywords: Any) -> fx.GraphModule:
                gm = trace(*inputs, **keywords)
                if self.is_active and gm.graph.find_nodes(op="placeholder"):
                    self.save_step(gm, self.next_number(), None, None)
                return gm

            return trace_and_save

        return make_fx

    def _aot(self, aot: Callable[..., Any], gm: fx.GraphModule, *args: Any, **options: Any) -> Any:
        """Run AOTAutograd on Dynamo's ``gm``, with a partitioner that records its pair."""
        if partition := options.get("partition_fn"):

            @functools.wraps(partition)
            def see_pair(joint: fx.GraphModule, *rest: Any, **named: Any) -> Any:
                is_seen = joint is self._joint  # not the body of a higher-order operator
                halves = partition(joint, *rest, **named)
                if is_seen and self._pair:
                    self._save_pair(*halves)
                return halves

            options["partition_fn"] = see_pair
        self._compiled += 1
        self._names = _parameter_names(gm)
        try:
            return aot(gm, *args, **options)
        finally:
            self._names, self._joint = {}, None

    def _save_joint(self, gm: fx.GraphModule, is_export: bool = False) -> None:
        with self.guard:
            document = encode_graph(gm, kind="joint", info=self._info)
            known = self._exported.pop(digest := document_hash(document), None)
            self._joint, self._number = gm, self.next_number() if known is None else known
            if known is not None:
                return
            if is_export:
                self._exported[digest] = self._number
            path = expand_path(self._path, "joint", self._number)
            document["name"] = label(path)
            self._describe(document)
            self._write(document, path)

    def _save_pair(self, forward: fx.GraphModule, backward: fx.GraphModule) -> None:
        with self.guard:
            path = expand_path(_with_kind(os.fspath(self._path)), "pair", self._number)
            document = pair_document(forward, backward, label(path), self._info)
            for half in (document["forward"], document["backward"]):
                self._describe(half)
            self._write(document, path)

    def _describe(self, document: dict[str, Any]) -> None:
        """Mark the inputs of ``document`` that are parameters and buffers."""
        for record in document["nodes"]:
            if "desc" in record:
                record["desc"] = name_inputs(record["desc"], self._names)


def _parameter_names(gm: fx.GraphModule) -> dict[int, AOTInput]:
    """The inputs of Dynamo's ``gm`` that are parameters and buffers, with their names."""
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
    """``path`` with ``{kind}``, inserted before its suffix if missing."""
    return path if "{kind}" in path else _with_part(path, "{kind}")


def _with_part(path: str, part: str) -> str:
    """``path`` with another part before its suffix."""
    suffix = ".json.zst" if path.endswith(".json.zst") else Path(path).suffix
    return f"{path.removesuffix(suffix)}.{part}{suffix}"


def _is_internal(frame: FrameType) -> bool:
    """True if ``frame`` belongs to torch, or to a module whose functions are already wrapped."""
    return str(frame.f_globals.get("__name__", "")).startswith(_INTERNAL)
