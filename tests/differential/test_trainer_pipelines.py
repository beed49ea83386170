"""Whole pipelines of graph_trainer: applied to a traced step, they give the graph that the trainer's own
passes gave, up to the names of nodes. The captures were made by torchtitan 0.3.0; some lack the names of
parameters.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED, output_of

from jointer.document import read_document

ONLY_TORCH = ("2.15",)
CAPTURES = SHARED / "captures" / "torchtitan_0.3"

#: The traced step, the step after the trainer's passes, and the trainer's flags.
STEPS = {
    "llama3_8b_fsdp8": (
        "llama3_8b_fsdp8_b2_eager.traced",
        "llama3_8b_fsdp8_b2_eager.after_passes",
        "--compile.memory_policy eager",
    ),
    "llama3_8b_fsdp4_tp2": (
        "llama3_8b_fsdp4_tp2.traced",
        "llama3_8b_fsdp4_tp2.after_passes",
        "--compile.enable_fsdp_ag_rs_overlap",
    ),
    "llama3_flex": (
        "llama3_debug_flex.cuda.fsdp4.traced.train_step",
        "llama3_debug_flex.cuda.fsdp4.after_all_passes.train_step",
        "",
    ),
    "llama3_tp2": (
        "llama3_debug_sdpa_ce.cpu.fsdp2_tp2.traced.train_step",
        "llama3_debug_sdpa_ce.cpu.fsdp2_tp2.after_all_passes.train_step",
        "",
    ),
    "deepseek_v3": (
        "deepseek_v3_debug_flex.cuda.fsdp4_ep2.traced.train_step",
        "deepseek_v3_debug_flex.cuda.fsdp4_ep2.after_all_passes.train_step",
        "",
    ),
}

REDUCTIONS = ("sum", "avg", "max", "min", "product")

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason=f"{CAPTURES} is missing")


def structure(path: Path) -> list[tuple[Any, ...]]:
    """Each node's operator, arguments with nodes by position, and shapes. Groups are numbered by first use:
    a pass names the group that it creates differently in each run.
    """
    nodes = read_document(path)["nodes"]
    position = {node["name"]: i for i, node in enumerate(nodes)}
    groups: dict[str, int] = {}

    def numbered(target: str, args: list[Any]) -> list[Any]:
        if "_c10d_functional" not in target and "bucket" not in target:
            return args
        is_group = [isinstance(each, str) and each not in REDUCTIONS for each in args]
        return [groups.setdefault(each, len(groups)) if is_group[i] else each for i, each in enumerate(args)]

    def argument(value: Any) -> Any:
        if isinstance(value, dict):
            return position[value["n"]] if value.keys() == {"n"} else {k: argument(v) for k, v in value.items()}
        return [argument(each) for each in value] if isinstance(value, list) else value

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            described = {key: value[key] for key in ("dtype", "shape", "stride") if key in value}
            return described or [shape(each) for each in value.values()]
        return [shape(each) for each in value] if isinstance(value, list) else value

    found = []
    for node in nodes:
        target = node["target"] if node["op"] == "call_function" else ""
        arguments = numbered(target, argument(node.get("args", [])))
        found.append((node["op"], target, arguments, argument(node.get("kwargs", {})), shape(node.get("val"))))
    return found


@pytest.mark.parametrize("step", STEPS)
def test_gives_the_trainers_graph(step: str, tmp_path: Path) -> None:
    traced, after, flags = STEPS[step]
    out = tmp_path / "after.json.zst"
    output_of("jointer", "apply", CAPTURES / f"{traced}.json.zst", "--graph-trainer-flags", flags, "-o", out)
    mine, theirs = structure(out), structure(CAPTURES / f"{after}.json.zst")
    assert len(mine) == len(theirs)
    assert [i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b] == []
