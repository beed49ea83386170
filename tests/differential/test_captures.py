"""On every capture, the memory profile, FLOPs, collective times and hash equal torch's."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import zstandard
from conftest import TORCH
from torch._inductor import comm_analysis
from torch._inductor.fx_passes import memory_estimator
from torch.utils._pytree import tree_map_only
from torch.utils.flop_counter import flop_registry

import jointer as jointer_package


def document(path: Path) -> Any:
    return json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()))


def values(tree: Any) -> Any:
    return tree_map_only(torch.fx.Node, lambda node: node.meta.get("val"), tree)


def registry_flops(node: torch.fx.Node) -> int:
    # Since torch 2.13 the registry also has higher-order operators.
    formula = flop_registry.get(getattr(node.target, "overloadpacket", None)) or flop_registry.get(node.target)
    if formula is None:
        return 0
    return int(formula(*values(node.args), **values(node.kwargs), out_val=node.meta["val"]))


def is_collective(node: torch.fx.Node) -> bool:
    return (
        isinstance(node.target, torch._ops.OpOverload)
        and node.target.namespace == "_c10d_functional"
        and "wait_tensor" not in node.target.name()
    )


def test_memory_profile(path: Path, module: torch.fx.GraphModule, jointer: Any) -> None:
    expected = memory_estimator.build_memory_profile(module.graph, memory_estimator._is_releasable)
    answer = jointer("memory", path, "--torch-compatible", "--profile")
    assert answer["profile"] == expected
    assert answer["peak_bytes"] == max(expected)
    assert answer["peak_index"] == expected.index(max(expected))


def test_flops(path: Path, module: torch.fx.GraphModule, jointer: Any) -> None:
    expected = sum(registry_flops(node) for node in module.graph.nodes)
    flops = jointer("info", path)["flops"]
    assert flops["torch_registry"] == expected
    assert flops["total"] >= expected
    assert flops["forward"] + flops["backward"] == flops["total"]


def test_collective_times(
    path: Path, module: torch.fx.GraphModule, jointer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        comm_analysis, "get_gpu_type", lambda: comm_analysis.NVIDIA_GPU_TYPE.HOPPER
    )
    starts = [node for node in module.graph.nodes if is_collective(node)]
    expected = [comm_analysis.estimate_nccl_collective_runtime_from_fx_node(node) for node in starts]
    estimator = "torch-2.11" if TORCH < (2, 13) else "torch-2.15"
    rows = jointer("overlap", path, "--estimator", estimator, "--device", "h100")["collectives"]
    assert [row["node"] for row in rows] == [node.name for node in starts]
    # The simulation counts nanoseconds.
    assert all(math.isclose(row["ms"], ms, abs_tol=1e-6) for row, ms in zip(rows, expected))


def test_hash(path: Path, module: torch.fx.GraphModule, jointer: Any) -> None:
    computed = jointer("info", path)["hash"]
    assert computed == jointer_package.document_hash(document(path))
    assert computed == jointer_package.graph_hash(module)
