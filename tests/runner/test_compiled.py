"""Runs Inductor's packages in the native runner: whole graphs, halves of a pair, regions."""

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


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["inductor", "regional"])
def test_a_compiled_block_is_measured_as_one(backend: str) -> None:
    """A block's time and memory are not attributed to one of its nodes, such as the wait that happens to be last."""
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    mark = ["--mark=layers.*.feed_forward::*"] if backend == "regional" else []
    code, result = bench(sample, "--solo=0", f"--backend={backend}", *mark, "--profile", "--iterations=2",
                         timeout=600)
    assert code == 0, result
    (rank,) = result["ranks"]
    blocks = rank["blocks"]
    assert [block["name"] for block in blocks] == (
        ["joint"] if backend == "inductor" else [f"region {i + 1}" for i in range(len(blocks))])
    replaced = {position for block in blocks for position in block["positions"]}
    assert sum(len(block["positions"]) for block in blocks) == len(replaced)
    measured = {key: rank.get(key, {}).get("position", []) for key in ("nodes", "scratch")}  # omitted if empty
    assert not replaced & set(measured["nodes"] + measured["scratch"])
    for block in blocks:
        assert 0 <= block["start_ns"] < block["end_ns"]
        assert block["own_ns"] > 0
        assert 0 < block["peak_bytes"] <= rank["peak_bytes"]
        # Its memory over time, which is not flat.
        times, allocated = block["memory"]["ns"], block["memory"]["bytes"]
        assert times[0] == 0 and times == sorted(times)
        assert times[-1] == pytest.approx(block["end_ns"] - block["start_ns"], abs=1)
        assert max(allocated) <= block["peak_bytes"] and min(allocated) < max(allocated)
    # The memory of all calls, as for interpreted ones; within a block, its peak.
    assert len(rank["memory_profile"]) == len(bench(sample, "--solo=0", "--profile", "--iterations=1")[1][
        "ranks"][0]["memory_profile"])
    assert {block["peak_bytes"] for block in blocks} <= set(rank["memory_profile"])
    explained = result["explained"]
    assert sorted(block["name"] for block in explained["blocks"]) == sorted(block["name"] for block in blocks)
    if backend == "inductor":
        assert measured == {"nodes": [], "scratch": []}
        assert explained["scratch_bytes"] == 0 and explained["operators"] == []


def test_regional_without_a_mark_says_how_to_mark() -> None:
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    code, result = bench(sample, "--backend=regional", "--solo=0", "--iterations=1")
    assert code == 4
    assert "--mark" in result["failure"]
