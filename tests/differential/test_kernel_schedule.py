"""Our scheduler of kernels compared with Inductor's, stage by stage: both get the ops of the reference, so that our
lowering has no influence. Does not depend on the installed torch: each reference states its version."""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import SHARED, output_of

REFERENCES = SHARED / "reference" / "kernels"
ORDERS = ("topological_sort_lpmf", "topological_sort_bfs", "topological_sort_dfs")
# Inductor's reasons, in the order of `Refusal` in core/kernels/kernels.h.
REASONS = (
    "node1 must go before node2", "node1 is nop", "node1 is extern but not a triton kernel",
    "device mismatch (%s vs %s)",
    "no shared data", "exceeds max fusion", "Fusion will increase peak memory", "score_fusion_memory_threshold",
    "Nodes are too far away. Fusing them may increase peak memory.", "memory deps did not match",
    "intermediate nodes between node1 & node2", "numel/rnumel mismatch (non-reduce) (%s, %s), (%s, %s)",
    "numel/rnumel mismatch (reduce) (%s, %s), (%s, %s)", "nodes numel incompatibility",
    "nodes numel/rnumel incompatibility", "Split scan cannot fuse with reductions",
    "sub-parent epilogue planning failed", "will create cycle", "tiling mismatch (%s, %s, %s)",
    "foreach do not have same length", "template epilogue not satisfied",
    # On the CPU, Inductor states no reasons.
    "loops differ on the CPU", "too large on the CPU",
)


def cases() -> list[Any]:
    found = sorted(REFERENCES.rglob("*.kernels.json.zst"))
    names = [str(each.relative_to(REFERENCES)).removesuffix(".kernels.json.zst") for each in found]
    return [pytest.param(each, id=name) for each, name in zip(found, names)]


def ops_of(name: str) -> tuple[str, ...]:
    return tuple(name.split("_"))


@pytest.fixture(name="answers", params=cases(), scope="module")
def compared(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    path: Path = request.param
    theirs = json.loads(zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read())
    return json.loads(output_of("kernel_schedule", path)), theirs


def test_same_order_before_fusion(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    assert ours["first_order"] == [row["name"] for row in theirs["pre_fusion"]]


def test_same_kernels(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    expected = {frozenset(row["ops"]): row["kind"] for row in theirs["nodes"]}
    found = {frozenset(ops_of(row["name"])): row["kind"] for row in ours["kernels"]}
    assert found == expected


def test_same_order_after_fusion(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    assert ours["fused_order"] == theirs["order_before_reorder"]


def test_same_order_for_memory(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    memory = theirs["memory"]
    assert ours["order_peaks"] == [memory["before"]["peak"], *(memory["methods"][each] for each in ORDERS)]
    assert [row["name"] for row in ours["kernels"]] == [row["name"] for row in theirs["nodes"]]


def test_same_memory(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    freeable = {row["name"]: row["freed_bytes"] for row in theirs["inputs"] if row["freeable"]}
    sizes = {name: [row["alloc"], row["free"]] for name, row in theirs["buffers"].items()}
    sizes |= {name: [size, size] for name, size in freeable.items()}
    assert ours["buffers"] == {name: sizes[name] for name in ours["buffers"]}
    assert freeable.keys() <= ours["buffers"].keys()
    assert ours["fused_peak"] == theirs["memory"]["before"]["peak_allocfree"]
    assert ours["peak"] == theirs["memory"]["after"]["peak_allocfree"]
    assert [row["memory"] for row in ours["kernels"]] == [row["memory"] for row in theirs["nodes"]]


def test_same_bytes(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers

    def external(row: dict[str, Any]) -> dict[str, int]:
        """The reads without buffers that never leave the kernel. Inductor leaves these out of the total, but lists them
        among the reads."""
        inside = set(row["buffers"]) - row["writes"].keys()
        return {name: size for name, size in row["reads"].items() if name not in inside}

    expected = {row["name"]: (external(row), row["writes"], row["bytes"]) for row in theirs["nodes"]}
    assert {row["name"]: (row["reads"], row["writes"], row["bytes"]) for row in ours["kernels"]} == expected


def test_same_reasons(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = answers
    counts = collections.Counter(dict(zip(REASONS, ours["refusals"], strict=True)))
    assert +counts == collections.Counter(theirs["why_not_fused"])
