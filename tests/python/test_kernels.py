"""The kernels that Inductor makes of small graphs, without a GPU, and the facts about a GPU that does not exist."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "resources" / "samples"

SCRIPT = """
import torch
from jointer.pretended_gpu import GPUS, pretended_gpu
before = torch.cuda.is_available, torch.cuda.get_device_properties, torch.accelerator.device_count
with pretended_gpu(GPUS["b200"]):
    assert torch.cuda.is_available() and torch.cuda.get_device_capability() == (10, 0)
    assert torch.cuda.get_device_properties(0).multi_processor_count == 148
    from torch._inductor import utils
    assert utils.get_gpu_dram_gbps() == 8000
assert before == (torch.cuda.is_available, torch.cuda.get_device_properties, torch.accelerator.device_count)
"""


@pytest.fixture
def kernels(subprocess_environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jointer", "kernels", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=subprocess_environment)

    return run


def test_a_pretended_gpu_is_gone_afterwards(subprocess_environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=subprocess_environment)


def test_every_call_that_computes_is_in_a_kernel(kernels: Callable[..., Any]) -> None:
    done = kernels(SAMPLES / "llama_debug_fsdp2.joint.json.zst")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    in_kernels = [name for kernel in answer["kernels"] for name in kernel["nodes"]]
    assert any(name.startswith("mm") for name in in_kernels)
    assert {kernel["kind"] for kernel in answer["kernels"]} >= {"pointwise", "reduction", "extern", "collective"}
    assert answer["device_kernels"] < len(answer["kernels"])
    assert answer["peak_bytes"] > 0
    for kernel in answer["kernels"]:
        assert kernel["bytes"] >= 0 and kernel["reads_bytes"] >= 0 and kernel["writes_bytes"] >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["llama_debug_fsdp2.min_cut.json.zst"], "choose a half with --half"),
        (["llama_debug_fsdp2.joint.json.zst", "--half", "forward"], "is not a pair"),
        (["llama_debug_fsdp2.joint.json.zst", "--torch", "2.1"], "not 2.1"),
    ],
)
def test_requests_that_do_not_fit_are_refused(arguments: list[str], message: str, kernels: Callable[..., Any]) -> None:
    done = kernels(SAMPLES / arguments[0], *arguments[1:])
    assert (done.returncode, done.stdout) == (3, "")
    assert message in done.stderr
