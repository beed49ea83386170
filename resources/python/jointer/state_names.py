"""Identifies the parameters, buffers and gradients of a flat training step.

torchtitan's tracer turns a training step into a function of plain tensors, which are described
outside the graph: a ``TracedResult`` lists the module's parameters and buffers (``state_fqns``),
which are the first inputs, and the number of plain values of each tensor
(``input_subclass_layouts``). The other inputs come from the caller. Names are added to the
document; the graph is not changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import FrameType
from typing import Any

import torch
from torch import fx, nn
from torch._functorch._aot_autograd.descriptors import (
    AOTInput,
    AOTOutput,
    BufferAOTInput,
    GradAOTOutput,
    ParamAOTInput,
    PlainAOTOutput,
    SubclassGetAttrAOTInput,
)

from .descriptors import encode_descriptor

_TRACED = frozenset({"gm", "state_fqns", "input_subclass_layouts", "output_subclass_layouts"})


@dataclass(frozen=True)
class StateNames:
    """Descriptors of a step's inputs, by placeholder name, and of its outputs in order;
    ``None`` for an output that is not a tensor (the mesh of a distributed tensor)."""

    inputs: Mapping[str, AOTInput]
    outputs: tuple[AOTOutput | None, ...] | None = None

    def describe(self, document: dict[str, Any]) -> None:
        """Add the descriptors to nodes of ``document`` that have none."""
        for record in document["nodes"]:
            if record["op"] == "placeholder" and record["name"] in self.inputs:
                record.setdefault("desc", encode_descriptor(self.inputs[record["name"]]))
            elif record["op"] == "output" and self.outputs is not None:
                if len(_results(record)) == len(self.outputs):
                    record.setdefault("desc", encode_descriptor(self.outputs))


def state_names(traced: Any, module: nn.Module | None = None) -> StateNames | None:
    """The names in a ``TracedResult``; ``None`` if the first inputs of its graph are not its state.

    Args:
        traced: the result of torchtitan's ``minimal_fx_tracer``.
        module: the traced module, by which parameters are distinguished from buffers; if it is not
            given, states with a gradient count as parameters.
    """
    placeholders = traced.gm.graph.find_nodes(op="placeholder")
    inputs = list(_unwrapped(placeholders, traced.input_subclass_layouts, len(traced.state_fqns)))
    if len(inputs) != len(traced.state_fqns):
        return None
    results = _flat_results(traced.gm)
    outputs = list(_unwrapped(results, traced.output_subclass_layouts, traced.num_flat_outputs))
    known = None if module is None else dict(module.named_parameters(remove_duplicate=False))
    if known is None:
        gradients = {each[0].meta["val"].shape for each in outputs[1:] if _is_tensor(each)}
        count = len(outputs) - 1 if gradients else 0
        parameters = list(traced.state_fqns[:count])
        trained = parameters
    else:
        parameters = [name for name in traced.state_fqns if name in known]
        trained = [name for name in parameters if known[name].requires_grad]
    named: dict[str, AOTInput] = {}
    values: dict[str, tuple[AOTInput, fx.Node]] = {}
    for name, parts in zip(traced.state_fqns, inputs, strict=True):
        base = ParamAOTInput(name) if name in parameters else BufferAOTInput(name)
        tensors = [each for each in parts if isinstance(each.meta.get("val"), torch.Tensor)]
        for position, each in enumerate(tensors):
            alone = len(tensors) == 1
            named[each.name] = base if alone else SubclassGetAttrAOTInput(base, str(position))
            values.setdefault(name, (base, each))
    return StateNames(named, _gradients(outputs, [values.get(name) for name in trained]))


def reachable_names(gm: fx.GraphModule) -> StateNames | None:
    """The names for the flat training step that a pass receives. They come from a ``TracedResult``
    in the frames of the active calls that has as many inputs as ``gm``."""
    traced, modules = None, []
    for value in _locals(sys._getframe(1)):
        if traced is None and _is_traced(value):
            traced = value
        elif isinstance(value, nn.Module) and not isinstance(value, fx.GraphModule):
            modules.append(value)
    if traced is None:
        return None
    if len(gm.graph.find_nodes(op="placeholder")) != len(
        traced.gm.graph.find_nodes(op="placeholder")
    ):
        return None
    for module in modules:
        names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
        names += [name for name, _ in module.named_buffers(remove_duplicate=False)]
        if names == list(traced.state_fqns):
            return state_names(traced, module)
    return state_names(traced)


def _locals(frame: FrameType | None) -> Iterator[Any]:
    """The local variables of the active calls, innermost first."""
    while frame is not None:
        for value in list(frame.f_locals.values()):
            yield value
            held = getattr(value, "__dict__", None)
            if isinstance(held, dict) and "_traced_step" in held:
                yield held["_traced_step"]
        frame = frame.f_back


def _is_traced(value: Any) -> bool:
    if isinstance(value, type) or not is_dataclass(value):
        return False
    return _TRACED <= {each.name for each in fields(value)}


def _unwrapped(values: list[Any], layouts: Mapping[int, Any], count: int) -> Iterator[list[Any]]:
    """The plain values of each of the first ``count`` tensors, while enough values remain."""
    start = 0
    for index in range(count):
        width = layouts[index].num_tensors if index in layouts else 1
        if start + width > len(values):
            return
        yield values[start : start + width]
        start += width


def _gradients(
    outputs: list[list[Any]], trained: list[tuple[AOTInput, fx.Node] | None]
) -> tuple[AOTOutput | None, ...] | None:
    """Descriptors of a step's plain outputs if these are a loss and a gradient for each of
    ``trained``, in order; otherwise ``None``."""
    if len(outputs) != 1 + len(trained) or not trained:
        return None
    # With tensor parallelism, a distributed loss consists of a tensor and its mesh.
    if sum(_is_tensor([each]) for each in outputs[0]) != 1:
        return None
    found: list[AOTOutput | None] = [
        PlainAOTOutput(0) if _is_tensor([each]) else None for each in outputs[0]
    ]
    for parts, entry in zip(outputs[1:], trained, strict=True):
        tensors = [each for each in parts if _is_tensor([each])]
        if entry is None or len(tensors) != 1:
            return None
        if tensors[0].meta["val"].shape != entry[1].meta["val"].shape:
            return None
        for each in parts:
            found.append(GradAOTOutput(entry[0]) if each is tensors[0] else None)
    return tuple(found)


def _is_tensor(parts: list[Any]) -> bool:
    first = parts[0] if parts else None
    return isinstance(first, fx.Node) and isinstance(first.meta.get("val"), torch.Tensor)


def _flat_results(gm: fx.GraphModule) -> list[Any]:
    results = gm.graph.output_node().args[0]
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _results(record: Mapping[str, Any]) -> list[Any]:
    """The values in the record of an output."""
    (results,) = record["args"]
    if isinstance(results, dict) and "tuple" in results:
        return results["tuple"]
    return results if isinstance(results, list) else [results]
