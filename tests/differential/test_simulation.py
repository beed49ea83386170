"""With the estimator `simple` and one communication stream, our timeline equals a plain model: compute runs in
order, collectives run one after the other, and waits stall.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_iter

from test_captures import is_collective, registry_flops, values

COLL_US, COLL_GBS, TFLOPS, MEM_GBS = 20.0, 200.0, 500.0, 2500.0


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_iter(value) if isinstance(leaf, torch.Tensor)]


def size(value: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tensors(value))


def storages(value: Any) -> set[int]:
    return {t.untyped_storage()._cdata for t in tensors(value)}


def group_size(node: torch.fx.Node) -> int:
    names = [argument.name for argument in node.target._schema.arguments]
    bound = dict(zip(names, node.args)) | node.kwargs
    return torch.distributed.distributed_c10d._get_group_size_by_name(bound["group_name"])


def is_wait(node: torch.fx.Node) -> bool:
    return node.target is torch.ops._c10d_functional.wait_tensor.default


def cost_ms(node: torch.fx.Node) -> float:
    out = node.meta.get("val")
    if node.op != "call_function" or is_wait(node) or not tensors(out):
        return 0.0
    if "getitem" in str(node.target):
        return 0.0
    if is_collective(node):
        bytes_moved = max(size(values(node.args[0])), size(out))
        return COLL_US / 1e3 + bytes_moved / (COLL_GBS * 1e6) if group_size(node) > 1 else 0.0
    if flops := registry_flops(node):
        return flops / (TFLOPS * 1e9)
    inputs = [each.meta.get("val") for each in node.all_input_nodes]
    mutable = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
    if storages(out) <= storages(inputs) and not mutable:
        return 0.0
    return (size(inputs) + size(out)) / (MEM_GBS * 1e6)


def test_plain_model(path: Path, module: torch.fx.GraphModule, jointer: Any) -> None:
    clock = stream = exposed = compute = 0.0
    end: dict[torch.fx.Node, float] = {}
    for node in module.graph.nodes:
        ms = cost_ms(node)
        if is_collective(node):
            stream = end[node] = max(clock, stream) + ms
        elif is_wait(node) and node.args[0] in end:
            exposed += max(0.0, end[node.args[0]] - clock)
            clock = max(clock, end[node.args[0]])
        else:
            clock += ms
            compute += ms
    exposed += max(0.0, stream - clock)
    step = max(clock, stream)
    answer = jointer("overlap", path, "--estimator", "simple", "--one-stream")
    # Each node is rounded to a nanosecond.
    slack = len(module.graph.nodes) * 1e-6
    assert math.isclose(answer["step_ms"], step, abs_tol=slack)
    assert math.isclose(answer["compute_ms"], compute, abs_tol=slack)
    assert math.isclose(answer["exposed_ms"], exposed, abs_tol=slack)
    assert answer["collective_count"] == len(end)
