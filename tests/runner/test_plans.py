"""All save plans give bitwise equal outputs in the runner, with the predicted peaks."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CAPTURES, bench, capture_of, files_of, output_of, run_runner, verified

POLICIES = ("save", "min_cut", "recompute")
BF16 = "llama_tiny_fsdp2_bf16"
# The share of a peak that oneDNN's scratch memory may take: peaks this close may swap places.
SCRATCH = 0.1
QUICK = ("attention_mlp_single", "llama_tiny_fsdp2_f32")


def names() -> list[Any]:
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CAPTURES]


def make_pair(name: str, policy: str, out: Path, seed: int = 0) -> tuple[str, dict[str, Any]]:
    """Writes one pair per rank; returns their common path, and the estimates of rank 0's plan."""
    said = []
    for rank in range(CAPTURES[name]):
        joint = files_of(capture_of(name), rank, is_pair=False)[0]
        pair = out / f"{policy}{seed}.rank{rank}.json"
        said.append(json.loads(output_of("plan_pairs", joint, pair, policy, seed)))
    return str(out / f"{policy}{seed}.rank{{rank}}.json"), said[0]


def same_bits(name: str, pair: str) -> None:
    base = capture_of(name)
    arguments = [f"--inputs={base}.inputs.safetensors", f"--baseline={base}.joint.json.zst"]
    for answer in verified(run_runner(pair, *arguments, size=CAPTURES[name])):
        assert answer["against"] == "baseline"
        assert answer["bitwise"], answer


@pytest.mark.parametrize("name", names())
def test_peaks_and_bits_of_three_policies(name: str, tmp_path: Path) -> None:
    peaks = {}
    for policy in POLICIES:
        pair, said = make_pair(name, policy, tmp_path)
        assert (said["recomputed"] > 0) == (policy != "save")
        same_bits(name, pair)
        code, result = bench(pair, "--profile", "--threads=1", "--iterations=1", "--warmup=0")
        assert code == 0
        predicted, measured = result["predicted"]["peak_bytes"], result["measured"]["peak_bytes"]
        if name == BF16:
            # oneDNN's products take scratch memory on the CPU, which is not in the graph: it is
            # reported, and is the only excess over the prediction.
            assert -0.01 * predicted <= measured - predicted <= result["explained"]["scratch_bytes"]
        else:
            assert abs(measured - predicted) <= 0.01 * predicted
        peaks[policy] = (predicted, measured)
    told_apart = SCRATCH if name == BF16 else 0
    for one, other in itertools.permutations(peaks.values(), 2):
        if one[0] < other[0] * (1 - told_apart):
            assert one[1] < other[1]
    # If the graph is a single layer, everything is recomputed at the start of the backward.
    assert peaks["recompute"][0] <= peaks["save"][0]
    if name.startswith("llama"):
        assert len({predicted for predicted, _ in peaks.values()}) == len(POLICIES)


@pytest.mark.parametrize("name", names())
def test_offload_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    pair, said = make_pair(name, "offload", tmp_path)
    assert said["offloaded"] > 0
    same_bits(name, pair)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]
)
def test_any_decisions_give_the_same_bits(seed: int, tmp_path: Path) -> None:
    pair, _ = make_pair("attention_mlp_single", "random", tmp_path, seed)
    same_bits("attention_mlp_single", pair)
