"""Sets policy tags on a traced joint graph. The partitioner respects these tags."""

from __future__ import annotations

import operator

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

aten, c10d = torch.ops.aten, torch.ops._c10d_functional

#: A separate region, so that gathered parameters are never saved at the borders of other
#: checkpointed regions.
RESHARD_REGION = 100000

#: Operators that selective checkpointing saves, in addition to every second matrix product.
SAVED = frozenset(
    {
        aten._scaled_dot_product_flash_attention.default,
        aten._scaled_dot_product_efficient_attention.default,
        aten._scaled_dot_product_cudnn_attention.default,
        aten._scaled_dot_product_flash_attention_for_cpu.default,
        c10d.reduce_scatter_tensor.default,
        aten.max.default,
    }
)


def reshard_after_forward(graph: fx.Graph) -> int:
    """Make the backward gather parameters again instead of saving the gathered parameters.

    Tags the all-gather of every parameter and its wait ``MUST_RECOMPUTE``. A parameter is a
    placeholder that reaches the all-gather through nodes with a single input. Returns the
    number of tagged all-gathers.
    """
    count = 0
    for wait in graph.find_nodes(op="call_function", target=c10d.wait_tensor.default):
        start = wait.args[0]
        if start.target is not c10d.all_gather_into_tensor.default or not _is_parameter(start):
            continue
        for node in (start, wait):
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
            node.meta["ac_graph_id"] = RESHARD_REGION
        count += 1
    return count


def selective_checkpoint(graph: fx.Graph) -> int:
    """Tag the forward for selective activation checkpointing.

    Attention, reduce-scatters, ``max`` and every second matrix product are saved, the rest may be
    recomputed. Returns the number of nodes that must be saved.
    """
    products = saved = 0
    last = graph.output_node().all_input_nodes[0]
    for node in graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            keep = node.target in SAVED
            if node.target is aten.mm.default:
                products += 1
                keep = products % 2 == 1
            policy = CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE
            node.meta["recompute"], node.meta["ac_graph_id"] = policy, 0
            saved += keep
        if node is last:
            break
    return saved


def _is_parameter(node: fx.Node) -> bool:
    while node.op != "placeholder":
        if len(node.all_input_nodes) != 1:
            return False
        (node,) = node.all_input_nodes
    return node.name.startswith("primals")
