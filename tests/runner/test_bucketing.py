"""Graphs with bucketed collectives give bitwise equal outputs on every rank."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BIN, CAPTURES, capture_of, expect_eager_outputs, files_of, path_of_ranks

PIPELINES = {
    "autobucketing": "autobucketing_reordering",
    "as_torch": "autobucketing_reordering{torch_compatible=true}",
    "blocks": "transformer_block_bucketing",
    "blocks_in_a_twin_group": "reassign_to_pg,transformer_block_bucketing",
    "greedy": "greedy_bucketing_by_mb{multidtype=true}",
}


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
@pytest.mark.parametrize("pipeline", PIPELINES.values(), ids=PIPELINES)
def test_bucketed_outputs_are_those_of_eager(
    name: str, is_pair: bool, pipeline: str, eager: Callable[[str], str], tmp_path: Path
) -> None:
    base, size = capture_of(name), CAPTURES[name]
    for rank in range(size):
        out = tmp_path / f"done.{rank}.json"
        subprocess.run(
            [BIN / "run_passes", *files_of(base, rank, is_pair), "simple", pipeline, out],
            check=True,
            timeout=600,
            stdout=subprocess.DEVNULL,
        )
    expect_eager_outputs(path_of_ranks(tmp_path, "done", size), name, eager)
