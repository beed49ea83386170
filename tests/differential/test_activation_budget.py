"""Compares torch's partitions of captures under activation_memory_budget with those of ``jointer sac --budget``."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch_partition
from conftest import BIN, ROOT, SHARED, TORCH, of_this_torch, parameter
from jointer.document import read_document, write_document

BUDGETS = (0.0, 0.2, 0.5, 0.8, 1.0)
#: The annotation of torch.autograd.graph.region_activation_memory_budget on nodes.
REGION = "_region_activation_memory_budget"
SOLVERS = {"dp": "dp", "greedy": "greedy", "sliding_hirschberg": "dp_knapsack_sliding_hirschberg"}


def captures() -> list[Any]:
    found = [ROOT / "resources" / "samples" / "llama_debug_tp2_fsdp2.joint.json.zst"]
    if (SHARED / "captures").is_dir():
        names = ("llama3_debug_tp2_fsdp2", "llama3_debug_tp2_fsdp2_graph_sac", "llama3_debug_fsdp4",
                 "deepseek_v3_debug_tp2_fsdp2_ep2", "llama3_8b_tp2_fsdp2", "llama3_8b_tp2_fsdp2_graph_sac",
                 "deepseek_v3_671b_tp8_fsdp32_ep32")  # fmt: skip
        found += [SHARED / "captures" / f"{name}.joint.json.zst" for name in names]
    # These two are slow under budgets, with several cuts each.
    return [parameter(path, path.name.startswith(("llama3_8b", "deepseek_v3_671b"))) for path in found]


@pytest.fixture(params=captures(), scope="module")
def capture(request: pytest.FixtureRequest) -> Path:
    return of_this_torch(request.param)


def assert_same(answer: Any, expected: torch_partition.Halves) -> None:
    """Compares activations in the order of the forward's outputs. Only our partitioner saves elements of tuples."""
    others = expected.symbols | expected.inputs
    ours = [row["node"] for row in answer["saved"] if row["node"] not in expected.elements]
    assert ours == [name for name in expected.saved if name not in others and name not in expected.tuples]


@pytest.mark.parametrize("budget", BUDGETS)
def test_same_saved_sets(capture: Path, budget: float, jointer: Callable[..., Any]) -> None:
    expected = torch_partition.partition(read_document(capture), capture, activation_memory_budget=budget)
    answer = jointer("sac", capture, "--budget", budget)
    assert_same(answer, expected)


@pytest.mark.parametrize("solver", ["greedy", "sliding_hirschberg"])
def test_same_saved_sets_of_other_solvers(
    capture: Path, solver: str, jointer: Callable[..., Any]
) -> None:
    try:
        expected = torch_partition.partition(
            read_document(capture),
            capture,
            activation_memory_budget=0.5,
            activation_memory_budget_solver=SOLVERS[solver],
        )
    except ZeroDivisionError:
        pytest.skip("torch divides by the weight of an item of 0 bytes")
    answer = jointer("sac", capture, "--budget", 0.5, "--solver", solver)
    assert_same(answer, expected)


def saved_values(path: Path, regions: str, results: int, out: Path) -> list[str]:
    """Values that the forward of min_cut_partition returns in addition to its results."""
    step = f"min_cut_partition{{region_budget={regions}}}"
    subprocess.run(
        [str(BIN / "run_passes"), str(path), "-", "simple", step, str(out)], check=True, stdout=subprocess.DEVNULL
    )
    (returned,) = read_document(out)["forward"]["nodes"][-1]["args"]
    return [value["n"] for value in returned["tuple"][results:]]


@pytest.mark.skipif(TORCH < (2, 15), reason="regions with budgets exist since torch 2.15")
@pytest.mark.parametrize("regions", ["whole", "part"])
@pytest.mark.parametrize("budget", [0.2, 0.5])
def test_same_saved_sets_of_regions(capture: Path, budget: float, regions: str, tmp_path: Path) -> None:
    document = read_document(capture)
    calls = [record for record in document["nodes"] if record["op"] == "call_function"]
    for record in calls if regions == "whole" else calls[: len(calls) // 3]:
        record["custom"] = {**(record.get("custom") or {}), REGION: budget}
    annotated = tmp_path / "annotated.json"
    write_document(document, annotated)
    whole = {"activation_memory_budget_require_full_coverage": regions == "whole"}
    expected = torch_partition.partition(document, capture, **whole)
    saved = saved_values(annotated, regions, expected.results, tmp_path / "pair.json")
    others = expected.symbols | expected.inputs
    assert_same({"saved": [{"node": name} for name in saved if name not in others]}, expected)
    unasked = saved_values(annotated, "ignore", expected.results, tmp_path / "unasked.json")
    assert (saved == unasked) == ("graph_sac" in capture.name), "tags of every call leave a budget nothing to decide"
