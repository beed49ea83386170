"""Compares passes with those of torchtitan's graph_trainer.

torchtitan traces a step, and the step is captured after each of its passes. Our pass runs on the capture before a
pass and must leave the same graph as the capture after it: the same nodes in the same order, with the same calls.
New nodes may have different numbers in their names, since torch continues after the numbers of erased nodes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torchtitan_steps import around, assert_same, run_pass, tracer

from jointer.document import read_document

# Small models: torchtitan takes some seconds for each.
STEPS = {
    "llama_dp4": "--dp 4",
    "llama_dp4_full": "--dp 4 --policy full",
    "llama_dp4_eager": "--dp 4 --policy eager",
    "llama_dp2_tp2": "--dp 2 --tp 2 --agrs",
    "llama_dense": "--dp 4 --cross-entropy --dense",
    "llama_dense_full": "--dp 2 --cross-entropy --dense --policy full",
    "llama_dense_eager": "--dp 8 --cross-entropy --dense --policy eager --agrs",
    "llama_dense_hsdp": "--dp 2 --fsdp-dr 2 --cross-entropy --dense",
    "deepseek_dense": (
        "--module deepseek_v3 --config graph_trainer_deepseek_v3_debugmodel --dp 4 --ep 2 --device cuda "
        "--seq 512 --batch 4 --cross-entropy --dense"
    ),
    "qwen3_dense": (
        "--module qwen3 --config graph_trainer_qwen3_debugmodel --dp 2 --fsdp-dr 2 --device cuda --seq 512 "
        "--cross-entropy --dense --policy eager"
    ),
}
DENSE = [name for name in STEPS if "dense" in name]
BUCKETING = "joint_transformer_block_bucketing_reordering"
REGIONS = "schedule_fsdp_comms_to_dense_regions"
PACKING = "bucketing._pre_bucket_all_gather.default"


pytestmark = pytest.mark.slow  # traces each step


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return tracer(STEPS, tmp_path_factory)


def print_times(folder: Path, step: str, name: str, ours: dict[str, Any], capsys: Any) -> float:
    """Prints the times; returns how many times faster ours is than torchtitan."""
    theirs = json.loads((folder / f"{step}.times.json").read_text())[f"{name}_pass"] * 1e3
    mine = ours["cpu_ns"] / 1e6
    with capsys.disabled():
        print(f"\n{step} {name}: torchtitan {theirs:.1f} ms, ours {mine:.2f} ms, {theirs / mine:.0f} times")
    return theirs / mine


@pytest.mark.parametrize("step", STEPS)
def test_block_buckets(step: str, traced: Any, tmp_path: Path, capsys: Any) -> None:
    folder = traced(step)
    before, after = around(folder, step, BUCKETING)
    ours = run_pass(before, BUCKETING, tmp_path / "out.json")
    graph = read_document(tmp_path / "out.json")
    assert any(node["target"] == PACKING for node in graph["nodes"])
    assert_same(read_document(before), graph, read_document(after))
    starts = {d["node"] for d in ours["decisions"] if d["action"] in ("merged", "alone", "kept")}
    collectives = {
        node["name"]
        for node in read_document(before)["nodes"]
        if re.search(r"_c10d_functional\.(all_|reduce_scatter)", node["target"])
    }
    assert collectives <= starts
    print_times(folder, step, BUCKETING, ours, capsys)


@pytest.mark.parametrize("step", DENSE)
def test_dense_regions(step: str, traced: Any, tmp_path: Path, capsys: Any) -> None:
    folder = traced(step)
    before, after = around(folder, step, REGIONS)
    theirs = read_document(after)
    # Upstream's earlier pass stores the block of a bucket in the metadata; ours adds it to the graph as well.
    bucketed, _ = around(folder, step, BUCKETING)
    pipeline = f"{BUCKETING},{REGIONS}{{strict=true}}"
    ours = run_pass(bucketed, pipeline, tmp_path / "out.json")
    assert ours["moved"] > 0
    assert_same(read_document(bucketed), read_document(tmp_path / "out.json"), theirs)
    print_times(folder, step, REGIONS, ours, capsys)
    # Without that mark, it is found from the graph.
    run_pass(before, f"{REGIONS}{{strict=true}}", tmp_path / "found.json")
    assert_same(theirs, read_document(tmp_path / "found.json"), theirs)
