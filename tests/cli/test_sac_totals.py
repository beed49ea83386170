"""``jointer sac --json``: rows add up to the totals, for every sample and every shared capture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES, answer

CAPTURES = Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared") / "captures"
JOINTS = sorted([*SAMPLES.glob("*.joint.json.zst"), *CAPTURES.rglob("*.joint.json.zst")])
OTHERS = sorted([*SAMPLES.glob("*.min_cut.json.zst"), *SAMPLES.glob("*.train_step.json.zst"),
                 *CAPTURES.rglob("*train_step.json.zst")])  # fmt: skip


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.json.zst')}"


def check(path: Path, *options: str) -> None:
    value = answer("sac", path, *options)
    rows = value["by_operator"]
    assert sum(row["recompute_ms"] for row in rows) == pytest.approx(value["recompute_ms"], abs=1e-6)
    assert sum(row["saved_bytes"] for row in rows) == value["saved_bytes"]
    assert sum(row["saved_count"] for row in rows) == value["saved_count"]
    assert sum(row["offloaded_count"] for row in rows) == value["offloaded_count"]
    assert sum(row["count"] - row["saved_count"] for row in rows) == value["recomputed_count"]
    assert sum(row["saved_storage_bytes"] for row in rows) == value["saved_storage_bytes"]
    assert value["saved_bytes"] == sum(row["bytes"] for row in value["saved"])
    assert len({row["target"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "options",
    [(), ("--ignore-tags",), ("--partitioner", "default"), ("--preset", "full"), ("--budget", "0.3")],
    ids=" ".join,
)
@pytest.mark.parametrize("path", JOINTS, ids=name_of)
def test_operators_of_a_joint_graph_add_up(path: Path, options: tuple[str, ...]) -> None:
    check(path, *options)


@pytest.mark.parametrize("path", OTHERS, ids=name_of)
def test_operators_of_other_graphs_add_up(path: Path) -> None:
    check(path)
