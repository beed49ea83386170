"""Adapts a graph to the calling convention of compiled code, which has only tensors.

Graphs may also have numbers as inputs and outputs, and may return ``None`` or the same tensor
twice. A package returns each tensor only once. Numbers in the capture are compiled in; numbers
known only at run time (unbacked symbols) are passed as zero-dimensional int64 tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx

from . import symbols
from .errors import CaptureError

#: How a package's value represents a value of the graph.
TENSOR, INTEGER = "tensor", "integer"


class UnfitNode(CaptureError):
    """A package cannot have this node's value as an input or output."""

    def __init__(self, node: fx.Node, what: str) -> None:
        super().__init__(f"{what} cannot be compiled; use the interpret backend")
        self.node = node.name


@dataclass
class Signature:
    """The inputs and outputs of a graph after ``adapt``."""

    #: Placeholders by name, in the package's order, with the kind of their value.
    inputs: list[tuple[str, str]] = field(default_factory=list)
    #: For each output of the graph, its index among the package's outputs, or ``None``.
    outputs: list[int | None] = field(default_factory=list)
    #: For each output of the package, the name of its node and the kind of its value.
    results: list[tuple[str, str]] = field(default_factory=list)
    #: Outputs that are plain numbers, by index among the graph's outputs.
    constants: dict[int, Any] = field(default_factory=dict)


def adapt(gm: fx.GraphModule, unbacked: symbols.Unbacked) -> Signature:
    """Rewrite ``gm`` in place to accept and return only tensors.

    Args:
        gm: a graph returned by ``load``.
        unbacked: recognizes expressions known only at run time.

    Raises:
        UnfitNode: a package cannot have an input or output of this graph.
    """
    signature = Signature()
    _adapt_inputs(gm.graph, signature, unbacked)
    _adapt_outputs(gm.graph, signature)
    return signature


def _adapt_inputs(
    graph: fx.Graph, signature: Signature, unbacked: symbols.Unbacked
) -> None:
    for node in list(graph.find_nodes(op="placeholder")):
        value = node.meta.get("val")
        if isinstance(value, Tensor):
            signature.inputs.append((node.name, TENSOR))
        elif symbols.is_symbolic(value) and unbacked(symbols.expression(value)):
            signature.inputs.append((node.name, INTEGER))
            with graph.inserting_after(node):
                number = graph.call_function(torch.ops.aten._local_scalar_dense.default, (node,))
            number.meta["val"] = value
            node.replace_all_uses_with(number, delete_user_cb=lambda user, new=number: user != new)
        elif value is None or isinstance(value, (bool, int, float)):
            _replace_by_constant(node, _plain(value))
        elif not node.users:
            graph.erase_node(node)
        else:
            raise UnfitNode(node, f"an input that is a {type(value).__name__}")


def _plain(value: Any) -> Any:
    """A number without its expression."""
    if isinstance(value, bool) or value is None:
        return value
    return float(value) if isinstance(value, float) else int(value)


def _replace_by_constant(node: fx.Node, value: Any) -> None:
    def replace(each: fx.Node) -> Any:
        return value if each is node else each

    for user in list(node.users):
        user.args = fx.map_arg(user.args, replace)
        user.kwargs = fx.map_arg(user.kwargs, replace)
    node.graph.erase_node(node)


def graph_outputs(graph: fx.Graph) -> list[Any]:
    """The graph's outputs as one list."""
    (returned,) = graph.output_node().args
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


def _adapt_outputs(graph: fx.Graph, signature: Signature) -> None:
    end = graph.output_node()
    places: dict[fx.Node, int] = {}
    results: list[fx.Node] = []
    for index, each in enumerate(graph_outputs(graph)):
        if not isinstance(each, fx.Node):
            if each is not None:
                signature.constants[index] = _plain(each)
            signature.outputs.append(None)
            continue
        if each not in places:
            value = each.meta.get("val")
            if not isinstance(value, (Tensor, int)) or isinstance(value, bool):
                raise UnfitNode(each, f"an output that is a {type(value).__name__}")
            kind = TENSOR if isinstance(value, Tensor) else INTEGER
            places[each] = len(results)
            results.append(each if kind == TENSOR else _as_tensor(graph, each, end))
            signature.results.append((each.name, kind))
        signature.outputs.append(places[each])
    end.args = (tuple(results),)


def _as_tensor(graph: fx.Graph, number: fx.Node, end: fx.Node) -> fx.Node:
    with graph.inserting_before(end):
        return graph.call_function(
            torch.ops.aten.scalar_tensor.default, (number,), {"dtype": torch.int64}
        )
