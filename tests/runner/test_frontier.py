"""Plans of the trade-off curve in the runner: the same bits, and peaks in the order of the curve."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, CAPTURES, bench, capture_of, run_runner, verified

POINTS = 5
BF16 = "llama_tiny_fsdp2_bf16"
OFFLOADS = "llama_tiny_fsdp2_f32"
QUICK = ("attention_mlp_single", "llama_tiny_fsdp2_f32")
# The share of a peak that oneDNN's scratch memory may take: peaks this close may swap places.
SCRATCH = 0.1


def sac(joint: str, *arguments: object) -> dict[str, Any]:
    command = [BIN / "jointer", "sac", joint, "--json", *arguments]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def spread(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Five of the points, from the lowest peak to the shortest step."""
    if len(points) <= POINTS:
        return points
    return [points[round(i * (len(points) - 1) / (POINTS - 1))] for i in range(POINTS)]


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CAPTURES]
)
def test_points_of_the_curve(name: str, tmp_path: Path) -> None:
    base = capture_of(name)
    joints = [
        base.replace("{rank}", str(rank)) + ".joint.json.zst" for rank in range(CAPTURES[name])
    ]
    curve = sac(joints[0], "--pareto")["pareto"]
    figures, offloaded = [], 0
    for point in spread(curve):
        peak = point["peak_bytes"]
        limit = f"{peak}B"
        for rank, joint in enumerate(joints):
            plan = sac(joint, "--budget", limit, "-o", tmp_path / f"{peak}.rank{rank}.json")
            assert plan["peak_bytes"] <= peak
            offloaded += plan["offloaded_count"]
        pair = f"{tmp_path}/{peak}.rank{{rank}}.json"
        against = [f"--inputs={base}.inputs.safetensors", f"--baseline={base}.joint.json.zst"]
        for answer in verified(run_runner(pair, *against, size=CAPTURES[name])):
            assert answer["bitwise"], answer
        code, result = bench(pair, "--profile", "--threads=1", "--iterations=1", "--warmup=0")
        assert code == 0
        predicted, measured = result["predicted"]["peak_bytes"], result["measured"]["peak_bytes"]
        # Kernels may take scratch memory, which is not in the graph and is reported.
        scratch = result["explained"]["scratch_bytes"]
        assert -0.01 * predicted <= measured - predicted <= 0.01 * predicted + scratch
        figures.append((predicted, measured))
    assert len(figures) == POINTS
    if name == OFFLOADS:
        assert offloaded > 0, "no point of the curve offloads"
    apart = SCRATCH if name == BF16 else 0
    for one, other in itertools.permutations(figures, 2):
        if one[0] < other[0] * (1 - apart):
            assert one[1] < other[1]
