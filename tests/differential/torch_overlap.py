"""Runs torch's overlap scheduling on a capture, with our costs in whole nanoseconds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._inductor import comm_analysis
from torch._inductor.fx_passes import bucketing, overlap_scheduling

import jointer as jointer_package
from test_captures import is_collective
from test_simulation import COLL_US, cost_ms, group_size


def cost_ns(node: torch.fx.Node, override: int | None = None) -> float:
    if override is not None:
        return COLL_US * 1e3 if group_size(node) > 1 else 0.0
    return math.floor(cost_ms(node) * 1e6 + 0.5)


class TorchOverlap:
    """torch's scheduler on a capture, and the collectives that it merged."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module = jointer_package.load(path)
        self.wait_of = {
            n.name: next(iter(n.users)).name
            for n in self.module.graph.nodes
            if is_collective(n) and len(n.users) == 1
        }
        self.buckets: set[frozenset[str]] = set()
        merge = bucketing.process_collective_bucket

        def recorded(graph: Any, starts: Any, *args: Any, **kwargs: Any) -> Any:
            if len(starts) > 1:
                self.buckets.add(frozenset(next(iter(n.users)).name for n in starts))
            return merge(graph, starts, *args, **kwargs)

        monkeypatch.setattr(bucketing, "process_collective_bucket", recorded)

    def schedule(self, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        # torch may recompute the values of nodes after a bucket, but not of all their views, which then
        # look like copies.
        costs = {node: cost_ns(node) for node in self.module.graph.nodes}

        def estimate(node: torch.fx.Node, override: int | None = None) -> float:
            if override is not None:
                return cost_ns(node, override)
            if node not in costs:
                costs[node] = cost_ns(node)
            return costs[node]

        s = overlap_scheduling
        monkeypatch.setattr(s, "benchmark_node_with_cache_key", lambda n, c=None: (estimate(n), None))
        monkeypatch.setattr(s, "benchmark_node", lambda n, c=None: estimate(n))
        align = "_align_compute_nodes_runtime_estimations_across_all_distributed_ranks"
        monkeypatch.setattr(s.OverlapScheduler, align, lambda self: None)
        # The default device without --device; torch would query the machine.
        hopper = comm_analysis.NVIDIA_GPU_TYPE.HOPPER
        monkeypatch.setattr(comm_analysis, "get_gpu_type", lambda: hopper)
        self.module = s.schedule_overlap_bucketing(
            self.module, custom_runtime_estimation=estimate, **options
        )
