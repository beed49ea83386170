"""Pairs made by our partitioners run, and give outputs that are bitwise equal to the joint graph's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CAPTURES, SAMPLES, capture_of, expect_eager_outputs, output_of, run_runner, verified


def partitioned(joint: str, partitioner: str, tags: str, ranks: int, folder: Path) -> str:
    """The pair's path, with ``{rank}`` if each rank has its own."""
    out = str(folder / ("pair.{rank}.json" if "{rank}" in joint else "pair.json"))
    for rank in range(ranks if "{rank}" in joint else 1):
        paths = [text.replace("{rank}", str(rank)) for text in (joint, out)]
        options = ["--ignore-tags"] if tags == "no_tags" else []
        output_of("partition_pair", paths[0], partitioner, *options, paths[1])
    return out


@pytest.mark.parametrize("tags", ["tags", "no_tags"])
@pytest.mark.parametrize("partitioner", ["min_cut", "default"])
@pytest.mark.parametrize("name", CAPTURES)
def test_outputs_are_those_of_eager(
    name: str, partitioner: str, tags: str, eager: Callable[[str], str], tmp_path: Path
) -> None:
    joint = capture_of(name) + ".joint.json.zst"
    expect_eager_outputs(partitioned(joint, partitioner, tags, CAPTURES[name], tmp_path), name, eager)


@pytest.mark.parametrize("partitioner", ["min_cut", "default"])
@pytest.mark.parametrize("sample", ["llama_debug_fsdp2", "llama_debug_tp2"])
def test_samples_give_the_joint_graphs_outputs(sample: str, partitioner: str, tmp_path: Path) -> None:
    joint = SAMPLES / f"{sample}.joint.json.zst"
    pair = partitioned(str(joint), partitioner, "tags", 2, tmp_path)
    for answer in verified(run_runner(pair, f"--baseline={joint}", size=2)):
        assert answer["bitwise"], answer
