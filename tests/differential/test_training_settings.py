"""The settings that stand for a pipeline in training: torch and torchtitan have them."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

ONLY_TORCH = ("2.15",)

PIPELINES = (
    "fsdp_reshard_after_fwd,min_cut_partition{region_budget=part}",
    "fsdp_reshard_after_fwd{reshard=false},knapsack_budget{budget=0.4,solver=greedy}",
    "knapsack_budget{budget=0.4,solver=sliding_hirschberg}",
    "knapsack_budget{budget=0.4,solver=knee_point}",
    "reorder_for_peak_memory{size_threshold_for_succ_based_strategy=1024},raise_comms,sink_waits",
    "reorder_compute_for_overlap,reorder_communication_preserving_peak_memory{"
    "reorder_iterative_use_runtime_estimations=true,reorder_iterative_extra_comm_comp_overlap=2,"
    "reorder_iterative_peak_memory_budget=0.02,reorder_iterative_group_with_collectives=true,"
    "reorder_iterative_unsafe_collectives_reorder=true,reorder_iterative_debug_limit_to_reorder=3,"
    "reorder_sink_runtime_estimations_comm_mult=3,reorder_sink_runtime_estimations_non_comm_mult=2}",
    "sink_waits_iterative{sink_iterative_use_runtime_estimations=true,"
    "sink_iterative_extra_comm_comp_overlap=2,sink_iterative_peak_memory_budget=0.02,"
    "sink_waits_iterative_swap_with_collectives=true,sink_waits_iterative_debug_limit_to_sink=3}",
    "greedy_bucketing_by_mb{bucket_cap_mb=500,multidtype=true}",
    "autobucketing_reordering{collective_bucketing=false,max_in_flight_gb=2,max_compute_pre_fetch=50,"
    "max_coll_distance=50,compute_overlap_multipler=1.5,max_memory_increase_gb=2,"
    "max_memory_increase_ratio=0.1,bucket_exposed_first=true,bucket_only_internode_comms=true,"
    "bucket_mode=custom_ops,prioritize_bucketing_during_scheduling=false,"
    "pre_bucketing_fsdp_collectives=false,pre_bucketing_fsdp_collectives_bucket_cap_mb=100}",
    "transformer_block_bucketing",
)


def lines(jointer: Any, pipeline: str) -> tuple[list[str], list[str]]:
    """The options and the lines of Python; none of the steps lacks a setting."""
    text = jointer("passes", "--passes", pipeline)["settings"]
    assert "# Without a setting" not in text, text
    kept = [line for line in text.splitlines() if not line.startswith("#")]
    options = [line for line in kept if line.startswith("--")]
    return options, [line for line in kept if line not in options]


def test_torch_has_the_settings(jointer: Any) -> None:
    """An assignment to an unknown setting raises an exception."""
    code = ["import torch._inductor.comms"]
    for pipeline in PIPELINES:
        _, python = lines(jointer, pipeline)
        assert python
        code += python
    code += ["for name in torch._inductor.config.reorder_for_compute_comm_overlap_passes:",
             "    getattr(torch._inductor.comms, name)",
             "print(torch._functorch.config.activation_memory_budget)"]
    done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0.4"


def test_torchtitan_has_the_options(jointer: Any) -> None:
    configs = pytest.importorskip("torchtitan.config.configs")
    graph_trainer = pytest.importorskip(
        "torchtitan.experiments.graph_trainer.configs", exc_type=ImportError)
    sections = {"parallelism": configs.ParallelismConfig,
                "compile": graph_trainer.GraphTrainerCompileConfig}
    found = set()
    for pipeline in PIPELINES:
        words = " ".join(lines(jointer, pipeline)[0]).split()
        for word in words:
            if word.startswith("--"):
                section, _, name = word.removeprefix("--").partition(".")
                assert name in {each.name for each in dataclasses.fields(sections[section])}, word
                found.add(word)
    assert found == {"--parallelism.fsdp_reshard_after_forward", "--compile.mode", "--compile.passes"}
