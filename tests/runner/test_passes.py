"""`jointer bench --passes`: passes that keep numerics leave outputs equal bit for bit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from conftest import BIN, CAPTURES, bench, capture_of

CLEAN_UP = (
    "eliminate_dead_code{drop_asserts=true},canonicalize_graph,deduplicate_fsdp_unshard_chains,"
    "replace_view_copy_with_view"
)
PIPELINES = [
    CLEAN_UP,
    f"apply_sac,fsdp_reshard_after_fwd,{CLEAN_UP},min_cut_partition",
    f"tag_with_memory_policy{{policy=full}},default_partition,{CLEAN_UP}",
    "knapsack_budget{budget=0.3,solver=greedy}",
]


def passes() -> list[dict[str, Any]]:
    """All that there are, as `jointer passes` lists them."""
    told = subprocess.run([str(BIN / "jointer"), "passes", "--json"], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)["passes"]


def run(name: str, pipeline: str, expected: str) -> dict[str, Any]:
    base = capture_of(name)
    code, result = bench(
        f"{base}.joint.json.zst", f"--inputs={base}.inputs.safetensors", f"--expected={expected}",
        "--passes", pipeline, "--threads=1", "--iterations=1", "--warmup=0",
    )  # fmt: skip
    assert code == 0, result
    assert result["pipeline"] == pipeline
    return result["verify"]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", CAPTURES)
def test_outputs_are_those_of_eager(name: str, pipeline: str, eager: Callable[[str], str]) -> None:
    answer = run(name, pipeline, eager(name))
    assert answer["bitwise"] and answer["compared"] >= 15, answer


@pytest.mark.slow
@pytest.mark.parametrize("partition", ["", ",min_cut_partition"])
@pytest.mark.parametrize("name", CAPTURES)
def test_every_pass_that_keeps_numerics(name: str, partition: str, eager: Callable[[str], str]) -> None:
    for each in passes():
        if not each["keeps_numerics"] or each["stage"] in ("partition", "compile"):
            continue
        # What takes flat training steps alone, and what wants a group to be named.
        if each["name"] in ("apply_cpu_offload", "selective_activation_remat", "reassign_to_pg"):
            continue
        tags = each["stage"] == "joint"
        pipeline = f"{each['name']}{partition}" if tags or not partition else f"{partition[1:]},{each['name']}"
        if not tags and each["name"] == "fsdp_reshard_after_fwd" and partition:
            pipeline = f"{each['name']}{partition}"
        answer = run(name, pipeline, eager(name))
        assert answer["bitwise"], (each["name"], answer)
