"""Passes beside those of torchtitan's graph trainer: the same calls, with the same names, arguments
and order, on steps that the trainer's own code traces."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, SHARED

from jointer.document import read_document

ONLY_TORCH = ("2.15",)
TOOL = SHARED / "tools" / "graph_trainer_trace.py"
CHUNKED = "--device cuda --config graph_trainer_llama3_debugmodel --seq 1024 --batch 8"
PLAIN = "--config graph_trainer_llama3_debugmodel_sdpa_cross_entropy_loss --dp 2 --tp 2"
STEPS = {
    f"{name}.{policy}": f"{options} --policy {policy}"
    for name, options in (("chunked", CHUNKED), ("plain", PLAIN))
    for policy in ("default", "eager", "full", "sac_and_offload")
}
#: By the name of upstream's pass.
PASSES = {
    "eliminate_dead_code_pass": "eliminate_dead_code",
    "tag_with_memory_policy_pass": "tag_with_memory_policy{{policy={policy}}}",
    "apply_cpu_offload_pass": "apply_cpu_offload",
    "selective_activation_remat_pass": "selective_activation_remat",
}

pytestmark = [
    pytest.mark.slow,  # it traces seven steps
    pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not here"),
    pytest.mark.skipif(importlib.util.find_spec("torchtitan") is None, reason="torchtitan is not installed"),
]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By the name of a step, its captures: as it was traced, then after each pass."""

    @functools.cache
    def trace(step: str) -> list[Path]:
        out = tmp_path_factory.mktemp(step)
        done = subprocess.run(
            [sys.executable, str(TOOL), *STEPS[step].split(), "--each", "--out", str(out), "--name", "step"],
            capture_output=True, text=True, check=False, cwd=out,
            env={**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return [out / "step.traced.json.zst", *sorted(out.glob("step.after_[0-9]*.json.zst"))]

    return trace


def calls(document: dict[str, Any]) -> list[str]:
    return [
        f"{n['name']} = {n.get('target')} {json.dumps(n.get('args'))} {json.dumps(n.get('kwargs') or {})}"
        for n in document["nodes"]
    ]


def tags(document: dict[str, Any]) -> dict[str, str]:
    return {n["name"]: n["recompute"] for n in document["nodes"] if n.get("recompute")}


@pytest.mark.parametrize("upstream", PASSES)
@pytest.mark.parametrize("step", STEPS)
def test_same_graph(step: str, upstream: str, traces: Any, tmp_path: Path) -> None:
    captures = traces(step)
    after = next(i for i, path in enumerate(captures) if path.name.endswith(f"_{upstream}.json.zst"))
    pipeline = PASSES[upstream].format(policy=step.partition(".")[2])
    out = tmp_path / "out.json"
    done = subprocess.run(
        [str(BIN / "jointer"), "apply", str(captures[after - 1]), "--passes", pipeline, "-o", str(out), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours, theirs = json.loads(out.read_text()), read_document(captures[after])
    assert calls(ours) == calls(theirs)
    if upstream == "tag_with_memory_policy_pass":  # copies of remat keep their tags upstream
        assert tags(ours) == tags(theirs)
