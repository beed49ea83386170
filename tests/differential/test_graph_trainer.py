"""Compares passes with those of torchtitan's graph_trainer, on steps traced by the trainer's own code: the same
calls with the same names, arguments and order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torchtitan_steps import around, as_ours, run_pass, tags, tracer

from jointer.document import read_document

ONLY_TORCH = ("2.15",)
CHUNKED = "--device cuda --config graph_trainer_llama3_debugmodel --seq 1024 --batch 8"
PLAIN = "--config graph_trainer_llama3_debugmodel_sdpa_cross_entropy_loss --dp 2 --tp 2"
STEPS = {
    f"{name}.{policy}": f"{options} --policy {policy}"
    for name, options in (("chunked", CHUNKED), ("plain", PLAIN))
    for policy in ("default", "eager", "full", "sac_and_offload")
}
PASSES = (
    "eliminate_dead_code",
    "canonicalize_graph",
    "deduplicate_fsdp_unshard_chains",
    "tag_with_memory_policy",
    "apply_cpu_offload",
    "selective_activation_remat",
)

pytestmark = pytest.mark.slow  # it traces eight steps


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return tracer(STEPS, tmp_path_factory)


def calls(document: dict[str, Any]) -> list[str]:
    return [
        f"{n['name']} = {n.get('target')} {json.dumps(n.get('args'))} {json.dumps(n.get('kwargs') or {})}"
        for n in document["nodes"]
    ]


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("step", STEPS)
def test_same_graph(step: str, name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    before, after = around(traced(step), step, name)
    run_pass(before, as_ours(name, STEPS[step]), tmp_path / "out.json")
    ours, theirs = read_document(tmp_path / "out.json"), read_document(after)
    assert calls(ours) == calls(theirs)
    if name == "tag_with_memory_policy":  # copies of remat keep their tags upstream
        assert tags(ours) == tags(theirs)
