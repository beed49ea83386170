"""``jointer sac --why`` says who decided: a search, a partitioner, a preset, the user, or none of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, run, sample
from documents import Document, n, node, tensor, write

STEP = sample("llama_debug_fsdp2.train_step")
PAIR = sample("llama_debug_tp2_fsdp2.min_cut")


def why_of(*arguments: Any) -> dict[str, dict[str, Any]]:
    """The answers of `--why` for the last argument, by node."""
    value = answer("sac", *arguments[:-1], "--why", ",".join(arguments[-1]))
    return {why["node"]: why for why in value["why"]}


def kept(*arguments: Any) -> dict[str, str]:
    """The saved and offloaded values, with what the plan does."""
    return {row["node"]: row["keep"] for row in answer("sac", *arguments)["saved"]}


def step_of_one_value(tmp_path: Path) -> Path:
    """The backward reads the result of sin after its peak."""
    size = 64 << 10
    def call(name: str, op: str, *args: str, like: int, **members: Any) -> Document:
        value = tensor(like, size // 4) if op != "sum.default" else tensor(like)
        return node(name, "call_function", f"aten.{op}", [n(a) for a in args], value, **members)

    back = {"autograd_backward": True}
    return write(tmp_path / "step.json", {
        "format": "jointer-capture", "version": 1, "kind": "train_step", "name": "step", "groups": {},
        "storages": [size, size, 4, size, size, size, 4, size], "modules": [], "stacks": [],
        "nodes": [
            node("x", "placeholder", "x", [], tensor(0, size // 4)),
            call("a", "sin.default", "x", like=1),
            call("l", "sum.default", "a", like=2),
            call("p", "mul.Tensor", "x", "x", like=3, **back),
            call("q", "mul.Tensor", "p", "p", like=4, **back),
            call("r", "mul.Tensor", "q", "p", like=5, **back),
            call("s", "sum.default", "r", like=6, **back),
            call("t", "mul.Tensor", "a", "s", like=7, **back),
            node("output", "output", "output", [[n("l"), n("t")]], None),
        ],
    })  # fmt: skip


def test_a_preset_that_meets_a_limit_decides_on_a_flat_step(tmp_path: Path) -> None:
    step = step_of_one_value(tmp_path)
    full = answer("sac", step, "--preset", "full")
    assert full["recomputed_count"] == 1 and full["peak_bytes"] < answer("sac", step)["peak_bytes"]
    limit = f"{full['peak_bytes']}B"
    why = why_of(step, "--budget", limit, "--no-offload", ["a"])["a"]
    assert (why["keep"], why["decided_by"]) == ("recompute", "preset")
    assert why["reason"].startswith(f"chosen for a peak of at most {limit}: the preset ")


def decided(why: dict[str, Any]) -> tuple[str, str, str]:
    return why["keep"], why["decided_by"], why["reason"]


@pytest.mark.parametrize(
    "graph, before", [(STEP, "nobody"), (JOINT, "solved"), (PAIR, "tag")], ids=["step", "joint", "pair"]
)
def test_the_user_checkpoints_a_layer_and_leaves_the_others(graph: Path, before: str) -> None:
    plain, value = kept(graph), kept(graph, "--checkpoint", "layers.0")
    stays = [name for name in plain if value.get(name) == plain[name]][-3:]
    gone = [name for name in plain if name not in value]
    assert stays and gone
    why = why_of(graph, "--checkpoint", "layers.0", [*stays, *gone])
    recomputed = [name for name in gone if why[name]["keep"] == "recompute"]
    assert recomputed
    for name in recomputed:
        assert why[name]["decided_by"] == "person" and "checkpoint" in why[name]["reason"], why[name]
    for name, was in why_of(graph, stays).items():
        assert was["decided_by"] == before
        assert decided(why[name]) == decided(was)
    text = run("sac", graph, "--checkpoint", "layers.0", "--why", recomputed[0]).out
    assert "  Decided by the user.\n" in text


def test_all_that_a_checkpointed_layer_recomputes_has_a_reason() -> None:
    """Also calls that were not needed before, since the backward read a later result."""
    why = why_of(JOINT, "--checkpoint", "layers.0", ["mm", "mm_1", "mm_2"])
    for each in why.values():
        assert decided(each) == ("recompute", "person", "checkpointed with its module")


@pytest.mark.parametrize(
    "graph, free, before", [(STEP, "10MiB", "nobody"), (JOINT, "1MiB", "solved")], ids=["step", "joint"]
)
def test_a_list_of_changes_leaves_the_other_values(graph: Path, free: str, before: str) -> None:
    options = ("--free", free, "--keep-order")
    plain, value = kept(graph), answer("sac", graph, *options)
    listed = [name for line in value["target"]["list"] for name in line["nodes"]]
    after = {row["node"]: row["keep"] for row in value["saved"]}
    stays = [name for name in plain if after.get(name) == plain[name]][-3:]
    assert listed and stays
    why = why_of(graph, *options, [*listed, *stays])
    for name in listed:
        assert why[name]["decided_by"] == "searched" and "peak of at most" in why[name]["reason"], why[name]
    for name, was in why_of(graph, stays).items():
        assert was["decided_by"] == before
        assert decided(why[name]) == decided(was)
