"""`jointer kernels --source compiled` on artifacts that the installed torch writes, compared with the wrapper as Python
parses it, with the mappings that torch logs, and with the peak that the wrapper's allocations reach when they are
counted here."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

MODEL = """
import sys
import torch

def model(x, w, b, up):
    y = torch.nn.functional.layer_norm(x, (64,), w, b)
    h = torch.nn.functional.gelu(y @ up)
    values, places = torch.topk(h, 3)
    return torch.softmax(h, -1) @ up.t(), values, places
"""
SCRIPT = f"""{MODEL}
torch.manual_seed(0)
args = [torch.randn(*s, requires_grad=True) for s in ((32, 64), (64,), (64,), (64, 96))]
out, values, _ = torch.compile(model)(*args)
(out.sum() + values.sum()).backward()
"""
ENTRY = re.compile(r"[A-Z]\d{4} \d\d:\d\d:\d\d\.\S* \d+ \S+\] (\{.*)")
KERNELS = re.compile(r"(extern_kernels\.|torch\.ops\.|aten\.|cpp_|triton_)")


@dataclass
class Log:
    path: Path
    entries: list[tuple[dict[str, Any], str]]

    def payloads(self, name: str) -> list[str]:
        return [
            payload
            for head, payload in self.entries
            if name in head or head.get("artifact", {}).get("name") == name
        ]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder = tmp_path_factory.mktemp("compiled")
    environment = {
        **os.environ,
        "TORCH_TRACE": str(folder / "trace"),
        "INDUCTOR_PROVENANCE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=environment, capture_output=True)
    [path] = (folder / "trace").iterdir()
    entries: list[tuple[dict[str, Any], list[str]]] = []
    for line in path.read_text().splitlines():
        if found := ENTRY.fullmatch(line):
            entries.append((json.loads(found[1]), []))
        elif entries:
            entries[-1][1].append(line.removeprefix("\t"))
    return Log(path, [(head, "\n".join(lines) + "\n") for head, lines in entries])


def body_of(wrapper: str) -> list[ast.stmt]:
    """The statements of the wrapper's `call`."""
    functions = [node for node in ast.walk(ast.parse(wrapper)) if isinstance(node, ast.FunctionDef)]
    [call] = [function for function in functions if function.name == "call"]
    return call.body


def called(statement: ast.stmt) -> ast.Call | None:
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.Call) else None


def kernels_of(wrapper: str) -> list[str]:
    names = [ast.unparse(call.func) for each in body_of(wrapper) if (call := called(each))]
    return [name for name in names if KERNELS.match(name)]


def graph_file(log: Log, half: str, folder: Path) -> Path:
    [text] = log.payloads(f"aot_{half}_graph")
    path = folder / f"{half}.py"
    path.write_text(text)
    return path


@pytest.fixture(params=["forward", "backward"])
def case(request: pytest.FixtureRequest, log: Log, tmp_path: Path, jointer: Callable[..., Any]) -> tuple[str, Any]:
    """The wrapper of a half, and the answer about it."""
    wrappers = log.payloads("inductor_output_code")
    assert len(wrappers) == 2
    answer = jointer(
        "kernels",
        graph_file(log, request.param, tmp_path),
        "--source",
        "compiled",
        "--artifacts",
        log.path.parent,
    )
    assert answer["compilation"].endswith(request.param)
    return wrappers[request.param == "backward"], answer


def test_kernels_are_those_of_the_wrapper_in_its_order(case: tuple[str, Any]) -> None:
    wrapper, answer = case
    assert [kernel["name"] for kernel in answer["kernels"]] == kernels_of(wrapper)
    assert answer["unread"] == answer["problems"] == []
    if answer["torch"]:  # not logged by the oldest versions
        assert torch.__version__.startswith(answer["torch"])


def test_sources_are_those_of_the_wrapper(case: tuple[str, Any]) -> None:
    wrapper, answer = case
    assert set(answer["sources"]) == set(re.findall(r"^(\w+) = async_compile\.\w+\(", wrapper, re.MULTILINE))
    for text in answer["sources"].values():
        assert text and text in wrapper


def test_nodes_are_those_of_the_mapping(case: tuple[str, Any], log: Log) -> None:
    _, answer = case
    mappings = [json.loads(text) for text in log.payloads("inductor_provenance_tracking_node_mappings")]
    known = {
        key.rpartition(":")[0] if ":" in key else key: set()
        for mapping in mappings
        for key in mapping.get("cppCodeToPost", {})
    }
    for mapping in mappings:
        for key, nodes in mapping.get("cppCodeToPost", {}).items():
            known[key.rpartition(":")[0] if ":" in key else key] |= set(nodes)
    for kernel in answer["kernels"]:
        if kernel["nodes_from"] == "provenance":
            assert set(kernel["post_grad_nodes"]) <= known[kernel["name"]]
            assert kernel["post_grad_nodes"]
    products = [kernel for kernel in answer["kernels"] if kernel["name"].startswith("extern_kernels.")]
    assert products and all(len(kernel["post_grad_nodes"]) == 1 for kernel in products)


def test_calls_are_in_kernels(case: tuple[str, Any]) -> None:
    _, answer = case
    in_kernels = {name for kernel in answer["kernels"] for name in kernel["nodes"]}
    assert any(name.startswith("mm") for name in in_kernels)
    assert len(in_kernels) == answer["tied_calls"] > 0
    assert not in_kernels & set(answer["calls_without_kernel"])


def bytes_of(call: ast.Call) -> int:
    size, stride = (ast.literal_eval(argument) for argument in call.args[:2])
    dtype = getattr(torch, ast.unparse(call.args[2]).removeprefix("torch."))
    if 0 in size:
        return 0
    return (1 + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True))) * dtype.itemsize


def test_allocations_are_those_of_the_wrapper(case: tuple[str, Any]) -> None:
    wrapper, answer = case
    expected = [
        (ast.unparse(each.targets[0]), bytes_of(call))
        for each in body_of(wrapper)
        if isinstance(each, ast.Assign) and (call := called(each)) and "empty_strided" in ast.unparse(call.func)
    ]
    listed = [(event["name"], event["bytes"]) for event in answer["events"] if event["event"] == "allocate"]
    assert [each for each in listed if each in expected] == expected
    assert answer["blocks"]["unknown"] == 0


def peak_of_events(answer: dict[str, Any]) -> int:
    """The maximum of the live bytes. A block is released once, after it was allocated."""
    live: dict[str, int] = {}
    total = peak = answer["input_bytes"]
    for event in answer["events"]:
        if event["event"] == "allocate":
            assert event["block"] not in live
            live[event["block"]] = event["bytes"]
            total += event["bytes"]
            peak = max(peak, total)
        elif event["event"] == "release" and event["block"] in live:
            total -= live.pop(event["block"])
    return peak


def test_a_block_is_released_once_and_after_it_was_allocated(case: tuple[str, Any]) -> None:
    _, answer = case
    # The answer also releases the inputs that only the program holds.
    assert answer["input_bytes"] < answer["peak_bytes"] <= peak_of_events(answer)
