"""``inductor_decomposition``: decomposes a joint graph as Inductor does, like torchtitan's pass of
that name (compiler_toolkit/passes.py).

The graph is retraced on its fake inputs with Inductor's decompositions, so that later passes (tags,
partitioners, full Inductor) see the operators that will run. The results of a decomposition inherit
the module, stack trace and policy of the call. The names and metadata of placeholders and the
output stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

from .errors import first_line
from .graph_pass import graph_pass


class _Decomposer(fx.Interpreter):
    """Runs the graph while it is retraced. Errors name the node."""

    def run_node(self, n: fx.Node) -> Any:
        try:
            return super().run_node(n)
        except Exception as error:
            reason = first_line(error)
            raise RuntimeError(f"node {n.name} cannot be retraced: {reason}") from error


@graph_pass(
    stage="joint",
    summary="Decomposes operators as Inductor does, before the graph is partitioned.",
)
def inductor_decomposition(
    gm: fx.GraphModule, example_inputs: Sequence[Any] | None = None
) -> fx.GraphModule:
    """Retrace ``gm`` with Inductor's decompositions.

    Args:
        gm: the graph, which is not modified.
        example_inputs: fake inputs; default: those of the placeholders.

    Raises:
        RuntimeError: a node cannot be traced on fake tensors; the message names the node.
    """
    from torch._inductor.decomposition import select_decomp_table

    placeholders = gm.graph.find_nodes(op="placeholder")
    values = list(example_inputs or (node.meta["val"] for node in placeholders))
    mode = next((each.fake_mode for each in values if isinstance(each, FakeTensor)), None)
    decomposer = _Decomposer(gm)
    with mode or contextlib.nullcontext(), torch.no_grad(), fx.traceback.preserve_node_meta():
        traced = make_fx(decomposer.run, decomposition_table=select_decomp_table())(*values)
    graph = traced.graph
    for old, new in zip(placeholders, graph.find_nodes(op="placeholder"), strict=True):
        _take_over(old, new)
    _take_over(gm.graph.output_node(), graph.output_node())
    return traced


def _take_over(old: fx.Node, new: fx.Node) -> None:
    """Copy the identity of the placeholder or output ``old`` to ``new``, in another graph."""
    new.meta = {**new.meta, **old.meta}
    if new.op == "placeholder":
        new._rename(old.name)
        new.name = new.target = old.name
