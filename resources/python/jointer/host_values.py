"""Computes or checks the values of nodes after a pass.

Nodes that a pass added or changed are run on the fake tensors of their inputs. If the pass set no
value, the result becomes the value. If the node still has the old value, the result replaces it
unless the two agree. A value that the pass set must have the shape and dtype of the result. For
operators that write, that fail on fake tensors, or that are not plain operators, the values that
the pass set stay.
"""

from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from .errors import CaptureError, first_line


class Before:
    """The calls and values of all nodes before a pass ran."""

    def __init__(self, graph: fx.Graph) -> None:
        self._calls = {
            node: (node.target, node.args, node.kwargs, node.meta.get("val"))
            for node in graph.nodes
        }

    def is_called_as(self, node: fx.Node) -> bool:
        """True if the node existed and its call is unchanged."""
        known = self._calls.get(node)
        now = (node.target, node.args, node.kwargs)
        return known is not None and all(a is b for a, b in zip(known[:3], now, strict=True))

    def returned(self, node: fx.Node) -> bool:
        """True if the node still has its old value."""
        known = self._calls.get(node)
        return known is not None and known[3] is node.meta.get("val")


def complete(gm: fx.GraphModule, before: Before) -> None:
    """Compute or check the values, as described at the top of this file.

    Raises:
        CaptureError: a value cannot be computed, or contradicts the operator.
    """
    mode = fake_mode(gm)
    revalued: set[fx.Node] = set()
    for node in gm.graph.nodes:
        is_old = before.returned(node)
        if node.op == "call_function" and not (
            before.is_called_as(node)
            and is_old
            and revalued.isdisjoint(node.all_input_nodes)
        ):
            _complete(node, mode, is_old)
        if not before.returned(node):
            revalued.add(node)


def _complete(node: fx.Node, mode: Any, is_old: bool) -> None:
    if "val" not in node.meta:
        try:
            node.meta["val"] = _run(node, mode)
        except Exception as error:
            reason = first_line(error)
            raise CaptureError(
                f"node {node.name} has no meta['val'], and it cannot be computed: {reason}"
            ) from None
        return
    if not _can_run(node):
        return
    try:
        value = _run(node, mode)
    except Exception:  # an operator without a fake implementation, an invalid value
        return
    said = node.meta["val"]
    if _fit(said, value):
        return
    if not is_old:
        raise CaptureError(
            f"node {node.name}: meta['val'] is {_text(said)}, but {node.target} returns "
            f"{_text(value)}"
        )
    node.meta["val"] = value


def fake_mode(gm: fx.GraphModule) -> Any:
    """The mode of the graph's fake tensors; ``None`` if there are none."""
    for node in gm.graph.nodes:
        for leaf in tree_leaves(node.meta.get("val")):
            if isinstance(leaf, FakeTensor):
                return leaf.fake_mode
    return None


def _can_run(node: fx.Node) -> bool:
    """True if running the node has no effect except its value."""
    if node.target is operator.getitem:
        return True
    return isinstance(node.target, torch._ops.OpOverload) and not node.target._schema.is_mutable


def _run(node: fx.Node, mode: Any) -> Any:
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda each: each.meta.get("val"))
    with mode if mode is not None else nullcontext(), torch.no_grad():
        return node.target(*args, **kwargs)


def _fit(said: Any, value: Any) -> bool:
    """True if both consist of the same tensors. Symbolic sizes match any size."""
    ours, theirs = _tensors(said), _tensors(value)
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.dtype != other.dtype or one.dim() != other.dim():
        return False
    return all(
        a == b
        for a, b in zip(one.shape, other.shape, strict=True)
        if type(a) is int and type(b) is int
    )


def _text(value: Any) -> str:
    texts = [
        f"{str(each.dtype).removeprefix('torch.')}{list(each.shape)}" for each in _tensors(value)
    ]
    return ", ".join(texts) or f"a {type(value).__name__}"
