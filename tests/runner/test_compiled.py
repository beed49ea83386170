"""Inductor's packages in the native runner: whole graphs, halves of a pair, regions."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CAPTURES, SAMPLES, bench, capture_of


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
def test_compiled_outputs_are_close(name: str, is_pair: bool, tmp_path: Path) -> None:
    base = capture_of(name)
    graph = [base + ".joint.json.zst"]
    if is_pair:
        graph = [base + ".min_cut.fw.json.zst", "--backward=" + base + ".min_cut.bw.json.zst"]
    code, result = bench(
        *graph,
        f"--inputs={base}.inputs.safetensors",
        f"--expected={base}.expected.safetensors",
        "--backend=inductor",
        f"--artifacts={tmp_path}",
        "--iterations=2",
        timeout=600,
    )
    assert code == 0, result
    assert result["verify"]["equal"]
    assert not result["verify"]["bitwise"] or result["verify"]["max_abs_diff"] == 0
    packages = sorted(tmp_path.glob("*.pt2"))
    assert packages
    assert all(package.with_suffix(".json").is_file() for package in packages)


@pytest.mark.slow
def test_regions_run_in_place_of_their_nodes(tmp_path: Path) -> None:
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    code, result = bench(
        sample,
        "--backend=regional",
        "--mark=layers.*.feed_forward::*",
        "--verify",
        f"--artifacts={tmp_path}",
        "--iterations=2",
        timeout=600,
    )
    assert code == 0, result
    assert result["verify"]["equal"]
    assert any("region" in package.name for package in tmp_path.glob("*.pt2"))


def test_regional_without_a_mark_says_how_to_mark() -> None:
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    code, result = bench(sample, "--backend=regional", "--solo=0", "--iterations=1")
    assert code == 4
    assert "--mark" in result["failure"]
