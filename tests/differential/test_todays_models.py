"""Current models as torchtitan's graph_trainer traces and transforms them: each capture opens, its weights have
names, every operator is known, and its peak equals an independent count.

torchtitan's own code makes the captures on a machine without a GPU: the traced step, and the graph after each
pass. Large models take one to four minutes each, and their captures are deleted after the checks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED, output_of, run_jointer

from jointer.document import read_document

ONLY_TORCH = ("2.15",)
TRACE = SHARED / "tools" / "graph_trainer_trace.py"
COUNT = SHARED / "tools" / "naive_peak.py"
POLICIES = ("default", "eager", "full", "sac_and_offload")

pytestmark = [
    pytest.mark.skipif(not TRACE.exists(), reason=f"{TRACE} is missing"),
    pytest.mark.skipif(importlib.util.find_spec("torchtitan") is None, reason="torchtitan is not installed"),
]

#: Small models, in each layout with each policy: name, module, configuration and layout.
SMALL = {
    "llama3.fsdp4": "llama3 graph_trainer_llama3_debugmodel --dp 4",
    "llama3.fsdp2_tp2": "llama3 graph_trainer_llama3_debugmodel --dp 2 --tp 2",
    "qwen3.fsdp2_tp2": "qwen3 graph_trainer_qwen3_debugmodel --dp 2 --tp 2",
    "qwen3_moe.fsdp4_ep2": "qwen3 graph_trainer_qwen3_debugmodel_moe --dp 4 --ep 2",
    "deepseek_v3.fsdp4": "deepseek_v3 graph_trainer_deepseek_v3_debugmodel --dp 4",
    "deepseek_v3.fsdp2_tp2_ep2": "deepseek_v3 graph_trainer_deepseek_v3_debugmodel --dp 2 --tp 2 --ep 2",
}
IN_EVERY_RUN = ("llama3.fsdp2_tp2.eager",)
#: Large models with and without TP and EP, each with two policies: the one with the most changes, and
#: another.
LARGE = {
    "llama3_8b.fsdp8": ("llama3 graph_trainer_llama3_8b --dp 8 --batch 2", ("default", "eager")),
    "llama3_8b.fsdp4_tp2": ("llama3 graph_trainer_llama3_8b --dp 4 --tp 2 --agrs", ("full", "sac_and_offload")),
    "llama3_70b.fsdp64": ("llama3 graph_trainer_llama3_70b --dp 64", ("default", "full")),
    "llama3_70b.fsdp8_tp8": ("llama3 graph_trainer_llama3_70b --dp 8 --tp 8", ("eager", "sac_and_offload")),
    "qwen3_14b.fsdp8": ("qwen3 graph_trainer_qwen3_14b --dp 8", ("default", "sac_and_offload")),
    "qwen3_14b.fsdp4_tp2": ("qwen3 graph_trainer_qwen3_14b --dp 4 --tp 2", ("eager", "full")),
    "deepseek_v3_16b.fsdp8_ep8": (
        "deepseek_v3 graph_trainer_deepseek_v3_16b --dp 8 --ep 8",
        ("default", "sac_and_offload"),
    ),
    "deepseek_v3_16b.fsdp8_tp2_ep4": (
        "deepseek_v3 graph_trainer_deepseek_v3_16b --dp 8 --tp 2 --ep 4",
        ("eager", "full"),
    ),
}


def models() -> list[Any]:
    found = []
    for name, options in SMALL.items():
        for policy in POLICIES:
            marks = [] if f"{name}.{policy}" in IN_EVERY_RUN else [pytest.mark.slow]
            found.append(pytest.param(options, 1024, policy, id=f"{name}.{policy}", marks=marks))
    for name, (options, policies) in LARGE.items():
        for policy in policies:
            found.append(pytest.param(options, 4096, policy, id=f"{name}.{policy}", marks=[pytest.mark.slow]))
    return found


def captures(options: str, length: int, policy: str, out: Path) -> list[Path]:
    """The traced step, then the graph after each pass."""
    module, config, *layout = options.split()
    command = [
        sys.executable, str(TRACE), "--device", "cuda", "--module", module, "--config", config, *layout,
        "--seq", str(length), "--policy", policy, "--each", "--out", str(out), "--name", "step",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=out, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return [out / "step.traced.json.zst", *sorted(out.glob("step.after_[0-9]*.json.zst"))]


def descriptor_name(descriptor: dict[str, Any] | None) -> str | None:
    """The name of a descriptor's parameter or buffer, even if it is part of a distributed one."""
    while descriptor is not None and "base" in descriptor:
        descriptor = descriptor["base"]
    return descriptor.get("target") if descriptor else None


def look_at(path: Path) -> dict[str, Any]:
    """Checks a capture; returns its totals."""
    info = run_jointer("info", path)
    document = read_document(path)
    inputs = [record for record in document["nodes"] if record["op"] == "placeholder"]
    parameters = [record for record in inputs if (record.get("desc") or {}).get("type") == "ParamAOTInput"]
    trained = [each["grad_of"]["target"] for each in document["nodes"][-1]["desc"] if each and "grad_of" in each]
    names = [descriptor_name(record["desc"]) for record in parameters]
    assert names == trained and len(set(names)) == len(names) > 0
    assert info["parameters_bytes"] == sum(shard_bytes(record, document) for record in parameters)
    assert not [fact for fact in info["derived"] if "schema" in fact or "as parameters" in fact], info["derived"]
    counted = json.loads(output_of(sys.executable, COUNT, path))
    peak = run_jointer("memory", path)["peak_bytes"]
    assert peak == counted["peak_bytes"], path.name
    return {"nodes": info["nodes"], "parameters": len(names), "peak": peak}


def shard_bytes(record: dict[str, Any], document: dict[str, Any]) -> int:
    return document["storages"][record["val"]["t"]["storage"]]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "length", "policy"), models())
def test_it_opens_and_is_right(options: str, length: int, policy: str, tmp_path: Path) -> None:
    found = captures(options, length, policy, tmp_path)
    assert len(found) >= 6
    figures = []
    try:
        for path in found:
            figures.append(look_at(path))
    finally:
        for path in tmp_path.iterdir():
            path.unlink()
    assert len({each["parameters"] for each in figures}) == 1
    before, after = figures[0], figures[-1]
    print(f"\n{before['nodes']} nodes, {after['nodes']} after {len(found) - 1} passes; {before['parameters']} parameters")
    print(f"peak {before['peak'] / 2**30:.2f} GiB, {after['peak'] / 2**30:.2f} GiB after passes")
