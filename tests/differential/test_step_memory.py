"""Compares the peak of captured steps with a count based on operators, which does not use storages.

torchtitan's passes leave storage numbers in a capture that contradict its operators. The shared tool that counts
does not read these numbers. Both results are exact, so they are equal to the byte.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED, output_of, parameter, run_jointer

import jointer as jointer_package

TOOL = SHARED / "tools" / "naive_peak.py"


def steps() -> list[Any]:
    """Flat training steps, before and after passes: the samples, and the shared captures if available."""
    folders = (ROOT / "resources" / "samples", SHARED / "captures" / "torchtitan_0.3")
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.json.zst"))]
    return [parameter(path) for path in paths if "pair" not in path.name]


def counted(path: Path) -> int:
    return json.loads(output_of(sys.executable, TOOL, path))["peak_bytes"]


@pytest.mark.parametrize("path", steps())
def test_the_peak_equals_the_count_by_operators(path: Path) -> None:
    if not TOOL.exists():
        pytest.skip("no shared tool that counts by operators (JOINTER_SHARED)")
    info = run_jointer("info", str(path))
    if info["kind"] != "train_step":
        pytest.skip(f"a {info['kind']} capture frees some inputs early, which the count does not do")
    assert run_jointer("memory", str(path))["peak_bytes"] == counted(path)


@pytest.mark.parametrize("path", steps())
def test_parameters_are_found(path: Path) -> None:
    info = run_jointer("info", str(path))
    if info["kind"] != "train_step":
        pytest.skip(f"a {info['kind']} capture")
    assert info["parameters_bytes"] > 0
    assert info["modules"]


@pytest.mark.parametrize("path", [step for step in steps() if ".traced." in step.id])
def test_remat_lowers_the_peak(path: Path) -> None:
    after = [other for other in path.parent.glob(path.name.split(".traced")[0] + ".after_*.json.zst")]
    assert after
    peak = run_jointer("memory", str(path))["peak_bytes"]
    for other in after:
        assert run_jointer("memory", str(other))["peak_bytes"] < peak


PASSES = (
    "eliminate_dead_code,canonicalize_graph,tag_with_memory_policy,selective_activation_remat,"
    "joint_transformer_block_bucketing_reordering"
)


@pytest.mark.parametrize("path", [step for step in steps() if "traced" in step.id])
def test_results_of_our_passes_load_and_count_the_same(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json.zst"
    reported = run_jointer("apply", str(path), "--passes", PASSES, "-o", str(out))
    assert reported["after"]["peak_bytes"] == run_jointer("memory", str(out))["peak_bytes"] == counted(out)
    nodes = jointer_package.load(out).graph.nodes
    assert len(nodes) == run_jointer("info", str(out))["nodes"]
