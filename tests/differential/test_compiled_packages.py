"""`jointer kernels --source compiled` on packages of AOTInductor that the installed torch makes, compared with the
wrapper in Python that torch writes for the same graph, and with the graph that was captured."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, of_this_torch
from test_compiled_kernels import MODEL, body_of, bytes_of, called, kernels_of, peak_of_events

SAMPLE = ROOT / "resources" / "samples" / "llama_debug_fsdp2.joint.json.zst"

# Compiles the same graph twice: ahead of time, and for Python.
SCRIPT = f"""{MODEL}
class Model(torch.nn.Module):
    def forward(self, x, w, b, up):
        return model(x, w, b, up)

torch.manual_seed(0)
args = tuple(torch.randn(*s) for s in ((32, 64), (64,), (64,), (64, 96)))
program = torch.export.export(Model(), args)
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
with torch.no_grad():
    torch.compile(program.module())(*args)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A package, and the wrapper in Python."""
    folder = tmp_path_factory.mktemp("packages")
    environment = {
        **os.environ,
        "INDUCTOR_PROVENANCE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    command = [sys.executable, "-c", SCRIPT, str(folder / "model.pt2")]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    [wrapper] = [path for path in (folder / "cache").rglob("*.py") if "def call(" in path.read_text()]
    return folder / "model.pt2", wrapper


@pytest.fixture
def answer(compiled: tuple[Path, Path], jointer: Callable[..., Any]) -> dict[str, Any]:
    return jointer("kernels", SAMPLE, "--source", "compiled", "--artifacts", compiled[0])


@pytest.fixture
def of_python(compiled: tuple[Path, Path], jointer: Callable[..., Any]) -> dict[str, Any]:
    """The answer about the wrapper in Python, which test_compiled_kernels.py compares with torch."""
    return jointer("kernels", SAMPLE, "--source", "compiled", "--artifacts", compiled[1])


def kind_of(name: str) -> str:
    """A kernel's name, or that of the operator that it calls."""
    return re.sub(r"^(extern_kernels\.|torch\.ops\.\w+\.)", "", name).removesuffix(".default")


def test_kernels_are_those_of_the_wrapper_in_python(compiled: tuple[Path, Path], answer: dict[str, Any]) -> None:
    kernels = [kind_of(kernel["name"]) for kernel in answer["kernels"]]
    assert kernels == [kind_of(name) for name in kernels_of(compiled[1].read_text())]
    assert answer["unread"] == answer["problems"] == []
    assert answer["device"] == "cpu"


def test_buffers_have_the_sizes_that_torch_allocates(compiled: tuple[Path, Path], answer: dict[str, Any]) -> None:
    expected = Counter(
        bytes_of(call)
        for each in body_of(compiled[1].read_text())
        if isinstance(each, ast.Assign) and (call := called(each)) and "empty_strided" in ast.unparse(call.func)
    )
    listed = Counter(event["bytes"] for event in answer["events"] if event["event"] == "allocate")
    results = listed - expected  # of topk
    assert expected <= listed and results == Counter([32 * 3 * 4, 32 * 3 * 8])
    assert answer["blocks"]["unknown"] == answer["blocks"]["assumed"] == 0
    assert answer["input_bytes"] == 4 * (32 * 64 + 64 + 64 + 64 * 96)


def test_bytes_and_peak_are_those_of_the_wrapper_in_python(answer: dict[str, Any], of_python: dict[str, Any]) -> None:
    def moved(each: dict[str, Any]) -> list[tuple[int, int]]:
        return [(kernel["reads_bytes"], kernel["writes_bytes"]) for kernel in each["kernels"]]

    assert moved(answer) == moved(of_python)
    assert answer["peak_bytes"] == of_python["peak_bytes"]


def test_every_kernel_names_its_nodes(answer: dict[str, Any]) -> None:
    for kernel in answer["kernels"]:
        assert kernel["post_grad_nodes"], kernel["name"]
    assert {kernel["nodes_from"] for kernel in answer["kernels"]} <= {"provenance", "comments"}
    sources = answer["sources"]
    fused = [kernel["name"] for kernel in answer["kernels"] if kernel["name"].startswith("cpp_")]
    assert fused and all(name in sources[name] for name in fused)


def test_a_block_is_released_once_and_after_it_was_allocated(answer: dict[str, Any]) -> None:
    assert answer["peak_bytes"] == peak_of_events(answer)


@pytest.mark.slow
def test_kernels_of_a_compiled_capture_are_tied_to_its_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jointer: Callable[..., Any]
) -> None:
    """The graph that Inductor gets is decomposed, and numbers its nodes differently."""
    graph = of_this_torch(SAMPLE)
    monkeypatch.setenv("JOINTER_COMPILED", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "resources" / "python"))
    command = [sys.executable, "-m", "jointer", "compile", str(graph), "--on", "cpu"]
    subprocess.run(command, check=True, capture_output=True)
    answer = jointer("kernels", graph, "--source", "compiled")
    assert answer["from_cache"] and answer["unread"] == []
    [manifest] = [json.loads(path.read_text()) for path in tmp_path.glob("*.json") if "vec-isa" not in path.name]
    assert manifest["origins"]
    kernels = answer["kernels"]
    assert answer["untied_kernels"] == []
    # A product computes one node, which has its operator's name.
    products = [kernel for kernel in kernels if kernel["name"] == "extern_kernels.mm"]
    assert products
    for kernel in products:
        assert len(kernel["nodes"]) == 1 and kernel["nodes"][0].startswith("mm"), kernel
    tied = Counter(name for kernel in kernels for name in kernel["nodes"])
    assert all(count == 1 for name, count in tied.items() if name.startswith(("mm", "all_gather", "wait")))
    # Each part of a concatenation is computed into its place, so `cat` itself has no kernel.
    assert all(name.startswith("cat") for name in answer["calls_without_kernel"])
