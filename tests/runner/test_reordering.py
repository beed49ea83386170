"""Reordered graphs give bitwise equal outputs on every rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CAPTURES, capture_of, expect_eager_outputs, files_of, output_of, path_of_ranks

PASSES = [
    "raise_comms",
    "sink_waits",
    "reorder_compute_for_overlap",
    "reorder_communication_preserving_peak_memory",
    "sink_waits_iterative{sink_waits_iterative_swap_with_collectives=true}",
    "reorder_for_peak_memory",
    "reorder_compute_and_comm_for_overlap{passes=[reorder_communication_preserving_peak_memory,"
    "sink_waits_iterative,reorder_communication_preserving_peak_memory]}",
]
UNCHANGED = ["decide_global_ordering_of_comms", "enforce_comm_ordering_for_fsdp"]
# The passes that move the most, on the captures where they do; --run-slow has every pass on every
# capture.
QUICK = {
    ("llama_tiny_fsdp2_f32", True, PASSES[-1]),
    ("llama_tiny_fsdp2_f32", False, PASSES[2]),
    ("llama_tiny_tp2_f32", True, PASSES[5]),
}


def reordered(name: str, is_pair: bool, pipeline: str, folder: Path) -> tuple[str, int]:
    """The common path of all ranks' captures after a pipeline, and the number of moved nodes."""
    moved = 0
    for rank in range(CAPTURES[name]):
        files = files_of(capture_of(name), rank, is_pair)
        moved = int(output_of("pass_pipeline", pipeline, *files, folder / f"done.{rank}.json"))
    return path_of_ranks(folder, "done", CAPTURES[name]), moved


def cases() -> list[object]:
    return [
        pytest.param(name, is_pair, pipeline, marks=[] if (name, is_pair, pipeline) in QUICK else [pytest.mark.slow])
        for name in CAPTURES
        for is_pair in (False, True)
        for pipeline in PASSES
    ]


@pytest.mark.parametrize("name, is_pair, pipeline", cases())
def test_outputs_are_those_of_eager(
    name: str, is_pair: bool, pipeline: str, eager: Callable[[str], str], tmp_path: Path
) -> None:
    graph, moved = reordered(name, is_pair, pipeline, tmp_path)
    if CAPTURES[name] > 1 and pipeline != "reorder_for_peak_memory":
        assert moved > 0
    expect_eager_outputs(graph, name, eager)


@pytest.mark.parametrize("pipeline", UNCHANGED)
def test_passes_that_only_report_move_nothing(pipeline: str, tmp_path: Path) -> None:
    capture_of("llama_tiny_fsdp2_f32")
    assert reordered("llama_tiny_fsdp2_f32", False, pipeline, tmp_path)[1] == 0
