"""``inductor_decomposition``: a joint graph in Inductor's own words, as torchtitan's pass of the
name makes it (compiler_toolkit/passes.py).

The graph is traced again on its fake inputs, with the decompositions that Inductor would use, so
what comes after it (tags, partitioners, full Inductor) sees the operators that will run. Which
module, stack and policy a call has is handed on to what it becomes; placeholders and the output
keep their names and all that is known about them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

from .graph_pass import graph_pass


class _Decomposer(fx.Interpreter):
    """Runs the graph while it is traced again; says at which node it cannot go on."""

    def run_node(self, n: fx.Node) -> Any:
        try:
            return super().run_node(n)
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise RuntimeError(f"node {n.name} cannot be traced again: {reason}") from error


@graph_pass(
    stage="joint",
    summary="Operators are decomposed as Inductor does it, before the graph is partitioned.",
)
def inductor_decomposition(
    gm: fx.GraphModule, example_inputs: Sequence[Any] | None = None
) -> fx.GraphModule:
    """Trace ``gm`` again under Inductor's decompositions.

    Args:
        gm: is left as it is.
        example_inputs: fake inputs; those of the placeholders where not given.

    Raises:
        RuntimeError: a node cannot be traced on fake tensors; its message names it.
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
    """``new`` is the same placeholder or output as ``old``, of another graph."""
    new.meta = {**new.meta, **old.meta}
    if new.op == "placeholder":
        new._rename(old.name)
        new.name = new.target = old.name
