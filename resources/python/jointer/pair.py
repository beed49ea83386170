"""Links a backward graph to the forward graph whose values it reads, like ``link_pair`` in
core/graph/derive.cpp."""

from __future__ import annotations

import operator
from typing import Any

from torch import Tensor, fx
from torch._functorch._aot_autograd.descriptors import AOTInput, TangentAOTInput

from .errors import CaptureError
from .retarget import captured_target
from .signature import graph_outputs

#: Prefix of the names that torch's partitioner gives to the backward's inputs for states of random
#: generators.
_STATE = "rng_state_output_"


def link_pair(forward: fx.Graph, backward: fx.Graph) -> dict[str, fx.Node]:
    """The forward's output for each value saved for backward, by the backward's placeholder.

    Both have the same name, except for states of random generators, which are matched by order.

    Raises:
        CaptureError: the backward has an input tensor that is neither saved nor a tangent.
    """
    outputs = [each for each in graph_outputs(forward) if isinstance(each, fx.Node)]
    by_name = {node.name: node for node in outputs}
    states = iter([node for node in outputs if _is_saved_state(node)])
    saved: dict[str, fx.Node] = {}
    for node in backward.find_nodes(op="placeholder"):
        source = next(states, None) if node.name.startswith(_STATE) else None
        source = source or by_name.get(node.name)
        if source is not None:
            saved[node.name] = source
        elif isinstance(node.meta.get("val"), Tensor) and not _is_tangent(node):
            raise CaptureError(
                f"node {node.name} is an input of the backward but not an output of the forward: "
                "the two graphs are not a pair"
            )
    return saved


def _is_saved_state(node: fx.Node) -> bool:
    """True if ``node`` is the state that ``run_and_save_rng_state`` returns first."""
    if node.target is not operator.getitem or node.args[1] != 0:
        return False
    source: Any = node.args[0]
    return isinstance(source, fx.Node) and captured_target(source) == "run_and_save_rng_state"


def _is_tangent(node: fx.Node) -> bool:
    """True for a tangent, according to its descriptor or, if it has none, to its name."""
    desc = node.meta.get("desc")
    while hasattr(desc, "base"):  # that of a tensor subclass, for one of its components
        desc = desc.base
    if isinstance(desc, AOTInput):
        return isinstance(desc, TangentAOTInput)
    return node.name.startswith("tangents")
