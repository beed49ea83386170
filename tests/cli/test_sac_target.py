"""``jointer sac --free`` and ``--budget`` with conditions: the shortest list of changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, run, sample
from test_sac import names, refused

STEP = sample("llama_debug_fsdp2.train_step")


def target(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = run("sac", JOINT, *arguments, "--json")
    assert done.code == code, done
    value = json.loads(done.out)
    assert value["target"]["reached"] is (code == 0)
    assert value["limit"]["met"] is (code == 0)
    # The plan is that of the list.
    rows = value["target"]["list"]
    if rows:
        assert (rows[-1]["peak_bytes"], rows[-1]["step_ms"]) == own_figures(value)
    return value


def own_figures(value: dict[str, Any]) -> tuple[int, float]:
    """The peak and the step of the plan in its own order."""
    if order := value.get("order"):
        return order["peak_bytes_without"], order["step_ms_without"]
    return value["peak_bytes"], value["step_ms"]


def test_freeing_part_of_the_peak() -> None:
    whole = answer("sac", JOINT)
    value = target("--free", "1MiB")
    found = value["target"]
    assert found["before"] == {"peak_bytes": whole["peak_bytes"], "step_ms": whole["step_ms"]}
    assert found["limit_bytes"] == whole["peak_bytes"] - (1 << 20)
    assert value["peak_bytes"] <= found["limit_bytes"]
    assert value["limit"]["memory"] == "allocated"
    for row in found["list"]:
        assert row["nodes"] and row["bytes"] > 0 and row["from"] != row["to"] in ("recompute", "offload")
    # The best plan for the limit is at least as fast.
    assert found["best"]["reached"] and found["best"]["step_ms"] <= value["step_ms"]


def test_the_changes_are_the_difference_between_the_plans() -> None:
    before = set(names(answer("sac", JOINT)))
    value = target("--free", "1MiB", "--no-offload")
    changed = {node for row in value["target"]["list"] for node in row["nodes"]}
    assert changed <= before
    assert not changed & set(names(value))


def test_fitting_a_peak() -> None:
    whole = answer("sac", JOINT)
    limit = whole["peak_bytes"] - (1 << 20)
    value = target("--budget", f"{limit}B", "--by", "tensor")
    assert value["peak_bytes"] <= limit
    assert value["target"]["list"] == target("--free", "1MiB")["target"]["list"]
    assert "target" not in answer("sac", JOINT, "--budget", f"{limit}B")


def test_conditions() -> None:
    keeps = {row["to"] for row in target("--free", "1MiB", "--no-offload")["target"]["list"]}
    assert keeps == {"recompute"}
    for row in target("--free", "1MiB", "--by", "operator")["target"]["list"]:
        assert any(row["change"].split()[1].startswith(p) for p in ("aten.", "_c10d")), row
    same = target("--free", "1MiB", "--same-in-all-layers")["target"]["list"]
    assert any(".*." in row["module"] and len(row["nodes"]) > 1 for row in same)
    layers = target("--free", "1MiB", "--by", "layer")["target"]["list"]
    assert all(row["change"].split()[1].startswith("layers.") for row in layers)


def test_copies_to_the_host_take_too_long_in_a_model_of_two_layers() -> None:
    found = target("--free", "1MiB", "--no-recompute", "--keep-order", code=1)["target"]
    assert found["list"] == [] and found["best"]["reached"]
    assert found["reason"] == "No change of one tensor frees memory at the peak."


@pytest.mark.slow
def test_too_few_changes() -> None:
    value = target("--free", "1GiB", "--at-most", "2", code=1)
    found = value["target"]
    assert len(found["list"]) <= 2
    done = run("sac", JOINT, "--free", "1GiB", "--at-most", "2")
    assert done.code == 1 and done.err == f"jointer: {found['reason']}\n"


def test_the_table() -> None:
    done = run("sac", JOINT, "--free", "1MiB")
    assert done.code == 0 and done.err == ""
    for words in ("change", "peak memory", "recompute ", "Best plan without these conditions"):
        assert words in done.out


@pytest.mark.slow
def test_the_written_pair_has_the_figures_of_the_list(tmp_path: Path) -> None:
    for partitioner in ("min_cut", "default"):
        out = tmp_path / f"{partitioner}.json"
        value = target("--free", "1MiB", "--partitioner", partitioner, "-o", str(out))
        pair = answer("sac", out)
        assert (pair["peak_bytes"], pair["step_ms"]) == (value["peak_bytes"], value["step_ms"])


def test_the_plan_is_exported() -> None:
    value = target("--free", "1MiB")
    node = value["target"]["list"][0]["nodes"][0]
    done = run("sac", JOINT, "--free", "1MiB", "--export", "recipe")
    assert done.code == 0 and node in done.out
    why = run("sac", JOINT, "--free", "1MiB", "--why", node, "--json").json["why"][0]
    assert "for a peak of at most" in why["reason"]


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--free", "5"], "5GiB"),
        (["--free", "much"], "5GiB"),
        (["--free", "-1GiB"], "-1GiB"),
        (["--free", "1MiB", "--budget", "1GiB"], "--budget"),
        (["--free", "1MiB", "--slower", "3"], "--slower"),
        (["--free", "1MiB", "--pareto"], "--pareto"),
        (["--free", "1MiB", "--at-most", "0"], "--at-most"),
        (["--free", "1MiB", "--by", "module"], "--by"),
        (
            ["--free", "1MiB", "--by", "layer", "--same-in-all-layers"],
            "--by layer changes one whole layer at a time",
        ),
        (["--free", "1MiB", "--no-offload", "--no-recompute"], "--no-offload"),
        (["--at-most", "3"], "--free"),
        (["--by", "operator", "--budget", "0.5"], "--free"),
        (["--no-recompute", "--pareto"], "--free"),
        (["--same-in-all-layers", "--slower", "3"], "--free"),
    ],
)
def test_refusals(arguments: list[str], word: str) -> None:
    refused(run("sac", JOINT, *arguments), word)


def test_a_list_of_changes_limits_allocated_memory() -> None:
    done = run("sac", JOINT, "--budget", "10GiB", "--at-most", "3", "--limit-of", "reserved")
    assert done.code == 2
    assert "--limit-of: applies only to a search; a list of changes limits allocated" in done.err


def test_a_flat_step_is_written_as_listed(tmp_path: Path) -> None:
    out = tmp_path / "step.json"
    value = answer("sac", STEP, "--free", "1MiB", "-o", out)
    found = value["target"]
    assert found["reached"] and value["peak_bytes"] <= found["limit_bytes"]
    last = found["list"][-1]
    assert (last["peak_bytes"], last["step_ms"]) == own_figures(value)
    assert answer("memory", out)["peak_bytes"] == value["peak_bytes"]
    assert answer("overlap", out)["step_ms"] == pytest.approx(value["step_ms"], abs=1e-6)
    assert found["best"]["step_ms"] <= value["step_ms"]
