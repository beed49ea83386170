"""Saved sets under torch's activation_memory_budget: the captures, partitioned by torch and by
``jointer sac --budget``. Captures with unbacked sizes are left out: torch's partitioner asks for
real symbols, which a capture has no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT, SHARED
from jointer.document import read_document
from jointer.load import load_document
from torch._functorch import config, partitioners

BUDGETS = (0.0, 0.2, 0.5, 0.8, 1.0)
SOLVERS = {"dp": "dp", "greedy": "greedy", "sliding_hirschberg": "dp_knapsack_sliding_hirschberg"}
FORWARD_OUTPUTS = {
    "PlainAOTOutput",
    "InputMutationAOTOutput",
    "IntermediateBaseAOTOutput",
    "MetadataMutationAOTOutput",
    "PhiloxUpdatedForwardOffsetAOTOutput",
    "ForwardTokenAOTOutput",
}


def captures() -> list[Any]:
    found = [ROOT / "resources" / "samples" / "llama_debug_tp2_fsdp2.joint.json.zst"]
    if (SHARED / "captures").is_dir():
        names = ("llama3_debug_tp2_fsdp2.joint", "llama3_debug_tp2_fsdp2_graph_sac.joint",
                 "llama3_debug_fsdp4.joint", "llama3_8b_tp2_fsdp2.joint", "llama3_8b_tp2_fsdp2_graph_sac.joint")  # fmt: skip
        found += [SHARED / "captures" / f"{name}.json.zst" for name in names]
    return [
        pytest.param(
            path,
            id=path.name.removesuffix(".json.zst"),
            marks=[pytest.mark.slow] if "8b" in path.name else [],
        )
        for path in found
    ]


def base_type(desc: Any) -> str | None:
    while isinstance(desc, dict) and desc["type"].startswith("Subclass"):
        desc = desc.get("base")
    return desc["type"] if isinstance(desc, dict) else None


@pytest.fixture(params=captures(), scope="module")
def capture(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def no_groups_left() -> Iterator[None]:
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def saved_by_torch(path: Path, **settings: Any) -> tuple[list[str], list[str]]:
    """Names of activations in the order of the forward's outputs, and what is taken from tuples
    among them, which torch hands over as they are. The graph is loaded anew: partitioning changes
    it."""
    document = read_document(path)
    module = load_document(document, None, path)
    nodes = list(module.graph.nodes)
    records = {record["name"]: record for record in document["nodes"]}
    descs = document["nodes"][-1].get("desc") or ()
    forward_outputs = max(i + 1 for i, desc in enumerate(descs) if base_type(desc) in FORWARD_OUTPUTS)
    primals = [node for node in nodes if partitioners._is_primal(node)]
    static = [
        i for i, node in enumerate(primals) if base_type(records[node.name].get("desc")) in ("ParamAOTInput", "BufferAOTInput")
    ]
    partitioners.get_cuda_generator_meta_val = lambda _: torch.Generator()
    taken = {
        node.name: [user.name for user in node.users if "getitem" in str(user.target)] for node in nodes
    }
    mode = next(
        value.fake_mode for node in nodes if hasattr(value := node.meta.get("val"), "fake_mode")
    )
    with mode, config.patch(**settings):
        forward, _ = partitioners.min_cut_rematerialization_partition(
            module, None, num_fwd_outputs=forward_outputs, static_lifetime_input_indices=static
        )
    saved = forward.graph.output_node().args[0][forward_outputs:]
    tensors, elements = [], []
    for node in saved:
        if isinstance(node.meta.get("val"), (list, tuple)):
            elements += taken[node.name]
        elif node.op != "placeholder" and isinstance(node.meta.get("val"), torch.Tensor):
            tensors.append(node.name)
    return tensors, elements


def assert_same(answer: Any, expected: tuple[list[str], list[str]]) -> None:
    tensors, elements = expected
    assert [row["node"] for row in answer["saved"] if row["node"] not in elements] == tensors


@pytest.mark.usefixtures("no_groups_left")
@pytest.mark.parametrize("budget", BUDGETS)
def test_same_saved_sets(capture: Path, budget: float, jointer: Callable[..., Any]) -> None:
    expected = saved_by_torch(capture, activation_memory_budget=budget)
    answer = jointer("sac", capture, "--budget", budget)
    assert_same(answer, expected)


@pytest.mark.usefixtures("no_groups_left")
@pytest.mark.parametrize("solver", ["greedy", "sliding_hirschberg"])
def test_same_saved_sets_of_other_solvers(
    capture: Path, solver: str, jointer: Callable[..., Any]
) -> None:
    try:
        expected = saved_by_torch(
            capture, activation_memory_budget=0.5, activation_memory_budget_solver=SOLVERS[solver]
        )
    except ZeroDivisionError:
        pytest.skip("torch divides by the weight of an item of no bytes")
    answer = jointer("sac", capture, "--budget", 0.5, "--solver", solver)
    assert_same(answer, expected)
