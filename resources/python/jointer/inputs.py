"""Inputs of a graph, generated from a seed or read from a file.

The native runner generates the same values, bit for bit. Each placeholder has a separate generator
on the device of its tensor, seeded with ``seed * 1000003 + FNV-1a(name) + rank * 7919`` (modulo
2^64, with 32-bit FNV-1a), so that an edited graph, or a pair, gets the same inputs as the original.
The value, generated contiguously and then laid out as in the capture, is:

=========================  =====================================================================
parameter, buffer          ``randn(shape) * 0.02`` in float32, cast to the dtype
other real numbers         ``randn(shape)`` in float32, cast to the dtype (tangents too)
complex numbers            ``polar(1, rand(shape) * 2 pi)`` in float32, cast to the dtype
bool, uint8                ``randint(0, 2)``
other integers             ``randint(0, rows)`` if the placeholder indexes an embedding of ``rows``
                           rows, directly or through views, casts, copies, joins and collectives;
                           else zeros
=========================  =====================================================================

Along a dimension of stride 0, as made by ``expand``, all elements are equal to the first. Sizes and
other numbers are those in the capture; random generators are seeded in the same way.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch._functorch._aot_autograd.descriptors import BufferAOTInput, ParamAOTInput

from .aliasing import is_getitem, is_view
from .errors import CaptureError
from .execute import is_collective, is_wait
from .retarget import moved
from .signature import graph_outputs

_RANK_STEP, _SEED_STEP, _SEEDS = 7919, 1_000_003, 1 << 64

#: Operators other than views and collectives that return all or some of the indices they read.
_SAME_INDICES = frozenset(
    {
        "aten::_to_copy",
        "aten::_unsafe_view",
        "aten::cat",
        "aten::clone",
        "aten::split",
        "prims::convert_element_type",
    }
)


def make_inputs(
    nodes: Iterable[fx.Node],
    device: torch.device,
    *,
    seed: int,
    rank: int,
    given: Mapping[str, Tensor] | None = None,
    before_each: Callable[[fx.Node], None] = lambda node: None,
) -> dict[str, Any]:
    """Values for placeholders by name.

    Args:
        nodes: placeholders.
        device: the device of the graph.
        seed: see above.
        rank: see above.
        given: values from a file, which take precedence; unknown names are ignored.
        before_each: called with each placeholder before its value is made.

    Raises:
        CaptureError: a given value does not fit its placeholder.
    """
    nodes = list(nodes)
    scaled = {node for graph in {n.graph for n in nodes} for node in _state(graph)}
    base = seed * _SEED_STEP + rank * _RANK_STEP
    result: dict[str, Any] = {}
    for node in nodes:
        before_each(node)
        value = node.meta.get("val")
        target = moved(value.device, device) if isinstance(value, Tensor) else device
        generator = torch.Generator(target).manual_seed((base + _fnv1a(node.name)) % _SEEDS)
        if not isinstance(value, Tensor):
            result[node.name] = generator if isinstance(value, torch.Generator) else value
            continue
        if given is not None:
            if node.name not in given:
                raise CaptureError(f"the given inputs (--inputs) contain no tensor {node.name}")
            made = _checked(node, given[node.name], value)
        else:
            made = _made(node, value, generator, node in scaled)
        result[node.name] = _laid_out(made, value, target)
    return result


def _fnv1a(text: str) -> int:
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % (1 << 32)
    return value


def _checked(node: fx.Node, tensor: Tensor, value: Tensor) -> Tensor:
    if tensor.shape != value.shape or tensor.dtype != value.dtype:
        raise CaptureError(
            f"input {node.name}: {tensor.dtype} {list(tensor.shape)} in the file, but "
            f"{value.dtype} {list(value.shape)} in the graph"
        )
    # NaN differs from itself, so compare only values that repeat.
    distinct = _without_repeats(tensor, value.stride())
    if distinct.shape != tensor.shape and not distinct.expand_as(tensor).equal(tensor):
        raise CaptureError(
            f"input {node.name} repeats its elements along dimensions of stride 0, but the given "
            "elements differ"
        )
    return tensor


def _made(node: fx.Node, value: Tensor, generator: torch.Generator, is_scaled: bool) -> Tensor:
    shape, dtype, device = tuple(value.shape), value.dtype, generator.device
    if dtype.is_complex:
        angles = torch.rand(shape, generator=generator, device=device) * (2 * math.pi)
        return torch.polar(torch.ones(shape, device=device), angles).to(dtype)
    if dtype.is_floating_point:
        made = torch.randn(shape, generator=generator, device=device)
        return (made * 0.02 if is_scaled else made).to(dtype)
    high = 2 if dtype in (torch.bool, torch.uint8) else _rows(node) or 1
    return torch.randint(0, high, shape, generator=generator, device=device).to(dtype)


def _rows(node: fx.Node) -> int | None:
    """Number of rows of the embedding that ``node`` indexes, or ``None``."""
    seen, todo = {node}, [node]
    while todo:
        each = todo.pop()
        for user in each.users:
            name = getattr(getattr(user.target, "_schema", None), "name", "")
            if name == "aten::embedding" and user.args[1] is each:
                return int(user.args[0].meta["val"].shape[0])
            if user not in seen and (name in _SAME_INDICES or _passes_on(user)):
                seen.add(user)
                todo.append(user)
    return None


def _passes_on(node: fx.Node) -> bool:
    """True for views, elements of lists, collectives and waits."""
    return is_view(node.target) or is_getitem(node) or is_collective(node) or is_wait(node)


def _laid_out(made: Tensor, value: Tensor, device: torch.device) -> Tensor:
    if made.stride() == value.stride():
        return made.to(device)
    laid = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)
    _without_repeats(laid, value.stride()).copy_(_without_repeats(made, value.stride()))
    return laid


def _without_repeats(tensor: Tensor, strides: Sequence[int]) -> Tensor:
    for dimension, stride in enumerate(strides):
        if stride == 0:
            tensor = tensor.narrow(dimension, 0, min(tensor.shape[dimension], 1))
    return tensor


def _state(graph: fx.Graph) -> list[fx.Node]:
    """The placeholders of parameters and buffers.

    These are determined by descriptors. In a graph without descriptors, they are the primals that
    have a gradient.
    """
    placeholders = graph.find_nodes(op="placeholder")
    if any("desc" in node.meta for node in placeholders):
        return [node for node in placeholders if _is_state(node.meta.get("desc"))]
    primals = [node for node in placeholders if node.name.startswith("primals")]
    gradients = graph_outputs(graph)[-len(primals) :] if primals else []
    if len(primals) == len(placeholders) or len(gradients) < len(primals):
        return []
    return [node for node, grad in zip(primals, gradients, strict=True) if grad is not None]


def _is_state(desc: Any) -> bool:
    while dataclasses.is_dataclass(desc):
        if isinstance(desc, (ParamAOTInput, BufferAOTInput)):
            return True
        desc = getattr(desc, "base", None)
    return False
