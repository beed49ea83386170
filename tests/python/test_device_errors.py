"""Errors of a GPU in the Python backend: each is named, wherever it occurs."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support import call, document, output, placeholder, tensor

from jointer import bench
from jointer.device_errors import REPORTED_LATE, kind_of_device_error, text_of
from jointer.events import Events
from jointer.execute import NodeError
from jointer.program import read_program
from jointer.rank_program import RankProgram

ASSERT = "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously"
NCCL = "NCCL error in: x.cpp:1, unhandled cuda error\nLast error:\nCuda failure 2 '{}'"


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            torch.OutOfMemoryError("CUDA out of memory. 1 MiB free. If reserved but unallocated x"),
            "memory",
            "CUDA out of memory. 1 MiB free.",
        ),
        (torch.AcceleratorError(ASSERT), "device", ASSERT.partition("\n")[0]),
        (torch.AcceleratorError("CUDA error: out of memory\nx"), "memory", "CUDA error: out of memory"),
        (
            dist.DistBackendError(NCCL.format("out of memory")),
            "memory",
            "NCCL error in: x.cpp:1, unhandled cuda error; Last error:; Cuda failure 2 'out of memory'",
        ),
        (
            dist.DistBackendError(NCCL.format("assert") + "\nException raised from f at x:1\nframe"),
            "device",
            "NCCL error in: x.cpp:1, unhandled cuda error; Last error:; Cuda failure 2 'assert'",
        ),
        (dist.DistBackendError("NCCL error: remote process exited"), "", "NCCL error: remote process exited"),
        (RuntimeError("shapes differ\nx"), "", "shapes differ"),
    ],
)
def test_errors_of_a_device_are_told_apart(error: Exception, kind: str, text: str) -> None:
    assert kind_of_device_error(error) == kind
    assert text_of(error) == text


def _options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(["graph.json", *arguments])


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    nodes = [
        placeholder("x", tensor([64])),
        call("y", "aten.sin.default", {"n": "x"}, val=tensor([64], storage=1)),
        output({"n": "y"}),
    ]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(document(*nodes, storages=[256, 256])))
    return path


def _failing(monkeypatch: pytest.MonkeyPatch, graph: Path, where: str, error: Exception) -> Any:
    """The last event, and the exit code, of a rank in which a part fails."""

    def fail(*arguments: Any, **named: Any) -> Any:
        raise error

    stream = io.StringIO()
    monkeypatch.setattr(bench, "watch_launcher", lambda: None)
    monkeypatch.setattr(bench.Events, "take_stdout", lambda: Events(stream))
    monkeypatch.setattr(bench.signal, "signal", lambda *rest: None)
    monkeypatch.setattr(bench.os, "_exit", lambda code: code)
    monkeypatch.setattr(where, fail)
    options = _options("--iterations", "1", "--warmup", "1", "--on", "cpu")
    options.program = str(graph)
    try:
        bench.main(options)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    return json.loads(stream.getvalue().splitlines()[-1])


ERRORS = [
    (torch.AcceleratorError(ASSERT), "device", ASSERT.partition("\n")[0] + REPORTED_LATE),
    (torch.OutOfMemoryError("CUDA out of memory."), "memory", "CUDA out of memory."),
]


@pytest.mark.parametrize(
    ("where", "node"), [("jointer.inputs._made", "x"), ("jointer.measure.barrier", "")]
)
@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
def test_an_error_of_the_device_outside_of_calls_is_named(
    graph: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    node: str,
    error: Exception,
    kind: str,
    text: str,
) -> None:
    failed = _failing(monkeypatch, graph, where, error)
    assert failed == {"event": "failed", "kind": kind, "node": node, "text": text}


def test_each_input_is_a_sign_of_life(graph: Path) -> None:
    program = RankProgram(read_program(str(graph)), torch.device("cpu"), alone=False)
    seen: list[int] = []
    program.at_node = seen.append
    program.inputs(seed=0, rank=0)
    if dist.is_initialized():
        dist.destroy_process_group()
    assert seen == [0]


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
def test_an_error_of_the_device_at_a_node_is_named(error: Exception, kind: str, text: str) -> None:
    node = torch.fx.Graph().call_function(torch.ops.aten.sin.default)
    with (
        pytest.raises(bench.Failure) as failed,
        bench._failures(SimpleNamespace(collectives=set())),
    ):
        raise NodeError(node, error)
    assert (failed.value.kind, failed.value.node) == (kind, "sin_default")
    assert str(failed.value) == f"aten.sin.default: {text}"
