"""Passes on the order of kernels compared with torch's own functions on the scheduler nodes of the same capture: the
order after each pass, the table, the peak, and torch's estimates of times, by which the passes decide."""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED, TORCH, of_this_torch, output_of, parameter

RAISE, SINK = "reorder_communication_preserving_peak_memory", "sink_waits_iterative"
TIMES = {RAISE: {"reorder_iterative_use_runtime_estimations": True}, SINK: {"sink_iterative_use_runtime_estimations": True}}
BUDGETS = {RAISE: "reorder_iterative_peak_memory_budget", SINK: "sink_iterative_peak_memory_budget"}
UNSAFE = {RAISE: "reorder_iterative_unsafe_collectives_reorder", SINK: "sink_waits_iterative_unsafe_collectives_reorder"}
LIMITS = {RAISE: "reorder_iterative_debug_limit_to_reorder", SINK: "sink_waits_iterative_debug_limit_to_sink"}

CHAINS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "sink_waits": [("sink_waits", {})],
    "raise_comms": [("raise_comms", {})],
    "reorder_compute_for_overlap": [("reorder_compute_for_overlap", {})],
    "raise": [(RAISE, {})],
    "sink": [(SINK, {})],
    "recommended": [(RAISE, {}), (SINK, {}), (RAISE, {})],
    "recommended_with_times": [(RAISE, TIMES[RAISE]), (SINK, TIMES[SINK]), (RAISE, TIMES[RAISE])],
    "after_lists": [("raise_comms", {}), ("sink_waits", {}), (RAISE, {}), (SINK, {})],
    "no_growth": [(SINK, {BUDGETS[SINK]: 0.0}), (RAISE, {BUDGETS[RAISE]: 0.0})],
    "any_growth": [(SINK, {BUDGETS[SINK]: 1e6}), (RAISE, {BUDGETS[RAISE]: 1e6})],
    "in_order": [(RAISE, {UNSAFE[RAISE]: False}), (SINK, {UNSAFE[SINK]: False})],
    "collectives_move_along": [
        (RAISE, {"reorder_iterative_group_with_collectives": True, BUDGETS[RAISE]: 1e6}),
        (SINK, {"sink_waits_iterative_swap_with_collectives": True, BUDGETS[SINK]: 1e6}),
    ],
    "collectives_move_along_with_times": [
        (RAISE, {**TIMES[RAISE], "reorder_iterative_group_with_collectives": True, BUDGETS[RAISE]: 1e6,
                 "reorder_iterative_extra_comm_comp_overlap": 5.0}),
        (SINK, {**TIMES[SINK], "sink_waits_iterative_swap_with_collectives": True, BUDGETS[SINK]: 1e6,
                "sink_iterative_extra_comm_comp_overlap": 5.0}),
    ],
    "some": [(RAISE, {LIMITS[RAISE]: 3}), (SINK, {LIMITS[SINK]: 3})],
    "other_times": [
        (RAISE, {**TIMES[RAISE], "reorder_sink_runtime_estimations_comm_mult": 1.0,
                 "reorder_sink_runtime_estimations_non_comm_mult": 3.0}),
        ("reorder_compute_for_overlap", {}),
    ],
}


def captures() -> list[Any]:
    names = ["llama3_debug_tp2_fsdp2.min_cut.fw", "llama3_debug_tp2_fsdp2.min_cut.bw", "llama3_debug_fsdp4.joint"]
    there = sorted(
        path for path in (SHARED / "captures").glob("*.json.zst")
        if "debug" in path.name and not path.name.endswith(".min_cut.json.zst")
    )
    return [parameter(path, path.name.removesuffix(".json.zst") not in names) for path in there]


@functools.lru_cache(maxsize=2)
def torchs(capture: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("torch_kernel_order.py")
    reported = output_of(sys.executable, script, of_this_torch(capture), json.dumps(list(CHAINS.values())))
    answer: dict[str, Any] = json.loads(reported)
    answer["chains"] = dict(zip(CHAINS, answer["chains"], strict=True))
    return answer


def pipeline(chain: list[tuple[str, dict[str, Any]]]) -> str:
    def step(name: str, options: dict[str, Any]) -> str:
        return f"{name}{{{','.join(f'{key}={json.dumps(value)}' for key, value in options.items())}}}"

    return ",".join(step(*each) for each in chain)


def limit(text: str) -> tuple[str, str | None]:
    """Our word for torch's limiting factor, and the kernel that it names."""
    words = [
        (r"None$", "none"), (r"unexposed by runtime", "hidden"), (r"collective ordering", "collective_order"),
        (r"data dependency detected\s+candidate:(\w+)", "data_dependency"),
        (r"candidate has compute .* group contains waits", "waits_exposed"),
        (r"candidate has compute .* group contains collectives", "group_exposed"),
        (r"candidate (\w+) is collective", "candidate_exposed"), (r"candidate is wait", "candidate_exposed"),
        (r"peak memory new", "memory"), (r"candidate contains_async_collective (\w+)", "collective_ahead"),
    ]
    for pattern, word in words:
        if found := re.match(pattern, text):
            return word, found[1] if found.groups() else None
    raise AssertionError(f"an unknown limiting factor: {text}")


@pytest.mark.parametrize("capture", captures())
@pytest.mark.parametrize("chain", CHAINS)
def test_order_and_table_are_torchs(chain: str, capture: Path, jointer: Callable[..., Any]) -> None:
    theirs = torchs(capture)
    version = ".".join(map(str, TORCH))
    ours = jointer("kernels", of_this_torch(capture), "--source", "predicted", "--torch", version,
                   "--passes", pipeline(CHAINS[chain]))
    times = {each["name"]: each["ms"] for each in theirs["kernels"]}
    assert {each["name"]: each["ms"] for each in ours["kernels"]} == pytest.approx(times, rel=1e-6, abs=1e-12)
    expected = theirs["chains"][chain]
    for mine, other in zip(ours["passes"], expected["passes"], strict=True):
        if mine["pass"] in (RAISE, SINK):
            for a, b in zip(mine["moves"], other["moves"], strict=True):
                same_row(a, b)
        assert mine["order"] == other["order"]
        assert mine["peak_after_bytes"] == other["peak_after_bytes"]
    assert [each["name"] for each in ours["kernels"]] == expected["order"]
    assert ours["peak_bytes"] == expected["peak_bytes"]


def same_row(mine: dict[str, Any], other: dict[str, Any]) -> None:
    word, at = limit(other["limiting_factor"])
    assert (mine["kernel"], mine["moves"], mine["grouped"]) == (other["kernel"], other["moves"], other["grouped"])
    assert mine["limit"] == word and (at is None or mine["limit_at"] == at)
    assert (mine["overlapping"], mine["until"]) == (other["overlapping"], other["until"])
    for key in ("communication_ms", "compute_ms", "initial_exposed_ms", "final_exposed_ms", "improvement_ms"):
        assert mine[key] == pytest.approx(other[key], rel=1e-6, abs=1e-9), key
