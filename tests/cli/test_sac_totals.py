"""``jointer sac --json``: rows add up to the totals, for every sample and every shared capture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES, answer, run, sample

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
    assert sum(row["storage_bytes"] for row in value["saved"]) == value["saved_storage_bytes"]
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


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def amounts(table: list[str], title: str) -> list[float]:
    """The bytes in a right-aligned column of a printed table."""
    end = table[0].index(title) + len(title)
    cells = [" ".join(line[:end].split()[-2:]) for line in table[1:] if line and not line.startswith("  and ")]
    return [float(number) * UNITS[unit] for number, unit in (cell.split() for cell in cells)]


def test_the_tables_of_a_flat_step_add_up_to_the_storage_above_them() -> None:
    step = sample("llama_debug_fsdp2.train_step")
    value, done = answer("sac", step), run("sac", step, "--top", "1000")
    _, operators, saved = done.out.split("\n\n")[:3]
    for table, key in ((operators, "by_operator"), (saved, "saved")):
        lines = table.splitlines()
        assert "bytes" not in lines[0].split()
        column = amounts(lines, "storage")
        assert len(column) == len(value[key])
        assert sum(column) == pytest.approx(value["saved_storage_bytes"], rel=2e-3)
    # A view of a saved tensor needs no further memory.
    view = next(line for line in operators.splitlines() if "aten.unsqueeze.default" in line)
    assert view.split()[1:4] == ["8", "0", "B"]
    tensors = amounts(saved.splitlines(), "tensor")
    assert sum(tensors) == pytest.approx(value["saved_bytes"], rel=2e-3)
