"""Compares our versions of torch 2.15's estimators with torch's own: collectives, kernels, and times from a trace."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT, load_document, output_of, read_document

ONLY_TORCH = ("2.15",)

comm_analysis = pytest.importorskip("torch._inductor.comm_analysis")

TARGETS = (
    "all_reduce.default",
    "all_gather_into_tensor.default",
    "reduce_scatter_tensor.default",
    "all_to_all_single.default",
    "isend.default",
    "batch_p2p_ops.default",
    "broadcast.default",
)
SAMPLES = ("llama_debug_tp2_fsdp2.joint", "llama_debug_fsdp2.train_step", "llama_debug_tp2.joint")


def rows(seed: int, count: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    sizes = [lambda: rng.randint(0, 4096), lambda: 2 ** rng.randint(0, 36), lambda: rng.randint(1, 10**10)]
    return [
        {
            "bytes": rng.choice(sizes)(),
            "ranks": rng.choice((1, 2, 3, 4, 7, 8, 9, 12, 16, 17, 24, 32, 64, 128, 1024)),
            "target": f"_c10d_functional.{rng.choice(TARGETS)}",
            "gpu": rng.randrange(4),
            "gpus_per_node": rng.choice((1, 4, 8, 8, 16)),
        }
        for _ in range(count)
    ]


def test_collectives_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = rows(seed=3, count=4000)
    lines = "\n".join(map(json.dumps, asked))
    answers = [json.loads(line) for line in output_of("nccl_answers", stdin=lines).splitlines()]
    assert len(answers) == len(asked)
    # torch asks CUDA for the number of GPUs per node and the model of the first one.
    now: dict[str, Any] = {}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: now["gpus_per_node"])
    monkeypatch.setattr(comm_analysis, "_has_nvlink", lambda: True)
    monkeypatch.setattr(
        comm_analysis, "get_gpu_type", lambda: comm_analysis.NVIDIA_GPU_TYPE(now["gpu"])
    )
    saturating = 0
    for row, answer in zip(asked, answers):
        now.update(row)
        name = row["target"].replace(".", "::", 1)
        coll = comm_analysis.get_collective_type_from_kernel_name(name)
        expected = comm_analysis.estimate_nccl_collective_runtime_impl(row["bytes"], row["ranks"], coll)
        if coll == comm_analysis.NCCL_COLL.UNSUPPORTED:
            assert answer["ms"] is None
            continue
        assert math.isclose(answer["ms"], expected, rel_tol=1e-12), (row, answer, expected)
        try:
            bytes_ = comm_analysis.compute_min_saturation_bytes(row["ranks"], coll)
        except AssertionError:
            assert answer["saturation"] is None
            continue
        assert abs(answer["saturation"] - bytes_) <= 1, row
        saturating += 1
    assert saturating > 1000


def loaded(path: Path) -> torch.fx.GraphModule:
    return load_document(read_document(path))


@pytest.mark.parametrize("name", (*SAMPLES, "llama_8b_tp2_fsdp2.joint"))
def test_kernels_of_a_graph(
    jointer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    import torch.utils._runtime_estimation as runtime_estimation
    from torch._inductor.fx_passes.overlap_scheduling import estimate_roofline_runtime_ms

    device = json.loads((ROOT / "resources" / "devices" / "h100.json").read_text())
    peaks = device["peak_tflops"]

    def peak(dtype: torch.dtype, **_: Any) -> float:
        return peaks[str(dtype).removeprefix("torch.")]

    monkeypatch.setattr(runtime_estimation, "get_device_tflops", peak)
    monkeypatch.setattr(
        runtime_estimation, "get_device_dram_gbps", lambda device_=None: device["memory_gbps"]
    )
    path = ROOT / "resources" / "samples" / f"{name}.json.zst"
    try:
        expected = {
            node.name: estimate_roofline_runtime_ms(node)
            for node in loaded(path).graph.nodes
            if isinstance(node.target, torch._ops.OpOverload)
            and node.target.namespace != "_c10d_functional"
        }
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    table = tmp_path / "nodes.csv"
    options = ["--format", "csv", "--device", "h100", "--estimator", "torch-2.15"]
    output_of("jointer", "export", path, *options, "-o", table)
    found = {row["name"]: float(row["ms"]) for row in csv.DictReader(table.open())}
    wrong = {
        name: (found[name], ms)
        for name, ms in expected.items()
        if not math.isclose(found[name], ms, abs_tol=1e-6)
    }
    assert not wrong
    assert sum(ms > 0 for ms in expected.values()) > 100


@pytest.mark.parametrize("name", SAMPLES)
def test_collectives_of_a_graph(
    jointer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = ROOT / "resources" / "samples" / f"{name}.json.zst"
    monkeypatch.setattr(
        comm_analysis, "get_gpu_type", lambda: comm_analysis.NVIDIA_GPU_TYPE.HOPPER
    )
    try:
        starts = [
            node
            for node in loaded(path).graph.nodes
            if str(node.target).startswith("_c10d_functional.") and "wait" not in str(node.target)
        ]
        expected = {
            node.name: comm_analysis.estimate_nccl_collective_runtime_from_fx_node(node)
            for node in starts
        }
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    found = jointer("overlap", path, "--estimator", "torch-2.15", "--device", "h100")["collectives"]
    assert [row["node"] for row in found] == list(expected)
    for row in found:
        assert math.isclose(row["ms"], expected[row["node"]], abs_tol=1e-6), row


def trace_of(starts: list[torch.fx.Node], products: list[torch.fx.Node]) -> dict[str, Any]:
    """A profiler trace with made-up times for some of a graph's calls."""
    from torch.distributed.distributed_c10d import _resolve_process_group, get_process_group_ranks

    rng = random.Random(5)
    events: list[dict[str, Any]] = []
    for number, node in enumerate(products):
        tensors = [arg.meta["val"] for arg in node.args if isinstance(arg, torch.fx.Node)]
        external = {"External id": number + 1}
        sizes = {
            "Input Dims": [list(t.shape) for t in tensors],
            "Input Strides": [list(t.stride()) for t in tensors],
            "Input type": ["c10::BFloat16" if t.dtype == torch.bfloat16 else "float" for t in tensors],
        }
        name = str(node.target).rpartition(".")[0].replace(".", "::")
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "ts": 0, "dur": 1, "args": external | sizes})
        for _ in range(rng.randint(1, 2)):
            duration = rng.randint(1, 10**6) / 1000
            events.append({"ph": "X", "cat": "kernel", "name": "k", "ts": 0, "dur": duration, "args": external})
    for node in starts:
        value = node.meta["val"]
        ranks = get_process_group_ranks(_resolve_process_group(node.args[-1]))
        # Sizes that differ from the graph's, so that times have to be interpolated.
        scale = rng.choice((1, 2, 3, 0.5, 0.1))
        args = {
            "Collective name": "_" + str(node.target).split(".")[1].replace("all_gather_into_tensor", "allgather_base"),
            "Process Group Ranks": str(sorted(ranks)),
            "Group size": len(ranks),
            "In msg nelems": 1,
            "Out msg nelems": int(value.numel() * scale),
            "dtype": value.type().removeprefix("torch.").removeprefix("cuda.").removesuffix("Tensor"),
            "External id": 10**6,
        }
        duration = rng.randint(1, 10**6) / 1000
        events.append({"ph": "X", "cat": "kernel", "name": "n", "ts": 0, "dur": duration, "args": args})
    return {"traceEvents": events, "distributedInfo": {"pg_config": []}, "deviceProperties": []}


@pytest.mark.parametrize("name", SAMPLES)
def test_times_from_a_trace(jointer: Callable[..., Any], tmp_path: Path, name: str) -> None:
    from torch._inductor.fx_passes.profile_guided_estimation import ProfileGuidedEstimator

    path = ROOT / "resources" / "samples" / f"{name}.json.zst"
    trace = tmp_path / "profile.json"
    try:
        nodes = list(loaded(path).graph.nodes)
        starts = [
            n
            for n in nodes
            if str(n.target).startswith("_c10d_functional.") and "wait" not in str(n.target)
        ]
        products = [n for n in nodes if str(n.target) in ("aten.mm.default", "aten.add.Tensor")]
        trace.write_text(json.dumps(trace_of(starts[::2], products[::2])))
        estimator = ProfileGuidedEstimator(str(trace))
        expected = {node.name: estimator(node) for node in starts}
        known = {n.name for n in products if estimator(n) is not None}
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    assert known and any(value is not None for value in expected.values())
    estimator_text = f"profile{{trace={json.dumps(str(trace))}}}"
    found = jointer("overlap", path, "--estimator", estimator_text, "--device", "h100")["collectives"]
    assert [row["node"] for row in found] == list(expected)
    for row in found:
        if expected[row["node"]] is not None:
            assert math.isclose(row["ms"], expected[row["node"]], rel_tol=1e-9, abs_tol=1e-6), row
