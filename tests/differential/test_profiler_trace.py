"""Real traces of torch.profiler on the CPU: every call in a graph's run is matched to its node.

The graph runs through ``GraphModule.forward``, so the calls and their durations come from torch itself.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import zstandard
from conftest import BIN, ROOT, SHARED
from torch.profiler import ProfilerActivity, profile, schedule

import jointer as jointer_package

EXECUTABLE = SHARED / "captures" / "executable"
SINGLE = EXECUTABLE / "attention_mlp_single.joint.json.zst"
needs_captures = pytest.mark.skipif(not SINGLE.is_file(), reason="no shared captures (JOINTER_SHARED)")


def write_capture(folder: Path) -> Path:
    """A small graph, in case there are no shared captures."""

    def model(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = torch.nn.functional.linear(x, w, b)
        y = torch.nn.functional.layer_norm(torch.nn.functional.gelu(y), (32,))
        return torch.cat([y, y.transpose(0, 1).contiguous().transpose(0, 1)], 1).softmax(-1).sum()

    arguments = (torch.randn(32, 16), torch.randn(32, 16), torch.randn(32))
    gm = torch.fx.experimental.proxy_tensor.make_fx(model, tracing_mode="fake")(*arguments)
    path = folder / "own.json"
    jointer_package.capture(gm, path)
    return path


def inputs_of(gm: torch.fx.GraphModule) -> list[Any]:
    torch.manual_seed(0)
    values = []
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            shape = [int(size) for size in value.shape]
            make = torch.randn if value.dtype.is_floating_point else torch.zeros
            value = make(shape, dtype=value.dtype)
        values.append(value)
    return values


def record(gm: torch.fx.GraphModule, path: Path, steps: int, shapes: bool = True, annotate: bool = True) -> Path:
    """Runs the graph under the profiler, after one warm-up pass."""
    values = inputs_of(gm)

    def export(profiler: profile) -> None:
        profiler.export_chrome_trace(str(path))

    options: dict[str, Any] = {"schedule": schedule(wait=0, warmup=1, active=steps)} if annotate else {}
    with torch.no_grad():
        gm(*values)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=shapes, on_trace_ready=export, **options) as profiler:
            for _ in range(steps + (1 if annotate else 0)):
                gm(*values)
                if annotate:
                    profiler.step()
    return path


def calls_of(trace: Path, names: set[str]) -> dict[str, list[list[float]]]:
    """The duration of each outermost call, in microseconds, by operator and step."""
    events = json.loads(trace.read_text())["traceEvents"]
    steps = [e for e in events if e["name"].startswith("ProfilerStep#")]
    calls: dict[str, list[list[float]]] = {}
    end = -1.0
    for event in sorted(
        (e for e in events if e.get("cat") == "cpu_op" and e["name"] in names),
        key=lambda e: (float(e["ts"]), -float(e["dur"])),
    ):
        if float(event["ts"]) < end:
            continue
        end = float(event["ts"]) + float(event["dur"])
        for index, step in enumerate(steps):
            if step["ts"] <= event["ts"] < step["ts"] + step["dur"]:
                calls.setdefault(event["name"], [[] for _ in steps])[index].append(event["dur"])
    return calls


@pytest.fixture(autouse=True)
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "costs.sqlite"
    monkeypatch.setenv("JOINTER_COSTS", str(path))
    return path


@pytest.fixture(params=["own", pytest.param("shared", marks=needs_captures)])
def capture(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return SINGLE if request.param == "shared" else write_capture(tmp_path)


def test_every_call_is_matched_to_its_node(capture: Path, tmp_path: Path, jointer: Any) -> None:
    gm = jointer_package.load(capture)
    steps = 3
    trace = record(gm, tmp_path / "trace.json", steps)
    said = jointer("calibrate", capture, "--trace", trace, "--gpu", "this CPU")
    assert said["device"] == "this CPU" and said["device_type"] == "cpu"
    assert said["passes"] == steps
    assert said["matched"] == said["nodes"] >= 10
    assert said["foreign_calls"] == 0
    assert said["notes"] == []

    targets = {str(n.target) for n in gm.graph.nodes if n.op == "call_function"}
    calls = calls_of(trace, {"::".join(t.split(".")[:2]) for t in targets})
    by_name: dict[str, dict[str, float]] = {}
    for operator in said["operators"]:
        name = "::".join(operator["target"].split(".")[:2])
        sums = by_name.setdefault(name, {"nodes": 0, "ms": 0.0})
        sums["nodes"] += operator["nodes"]
        sums["ms"] += operator["ms"]
    assert set(by_name) == set(calls)
    for name, sums in by_name.items():
        assert {len(step) for step in calls[name]} == {sums["nodes"]}, name
        # Within a step, the calls are in the same order as their nodes.
        expected = sum(statistics.median(times) for times in zip(*calls[name], strict=True)) / 1e3
        assert sums["ms"] == pytest.approx(expected, abs=2e-6 * sums["nodes"]), name

    overlap = jointer("overlap", capture, "--estimator", "measured")
    assert overlap["estimator"] == f"measured on this CPU, {said['timed']} of {said['timed']} nodes"
    assert overlap["step_ms"] == pytest.approx(sum(o["ms"] for o in said["operators"]), rel=0.5)


@pytest.mark.parametrize("packed", ["gz", "zst"])
def test_packed_traces_are_the_same(packed: str, tmp_path: Path, jointer: Any) -> None:
    capture = write_capture(tmp_path)
    trace = record(jointer_package.load(capture), tmp_path / "trace.json", 2)
    data = trace.read_bytes()
    other = tmp_path / f"trace.json.{packed}"
    other.write_bytes(gzip.compress(data) if packed == "gz" else zstandard.compress(data))
    plain, unpacked = (jointer("calibrate", capture, "--trace", path) for path in (trace, other))
    for said in (plain, unpacked):
        said.pop("trace")
    assert plain == unpacked


@pytest.mark.parametrize("shapes", [True, False])
def test_without_steps_or_shapes(shapes: bool, tmp_path: Path, jointer: Any) -> None:
    capture = write_capture(tmp_path)
    trace = record(jointer_package.load(capture), tmp_path / "t.json", 4, shapes=shapes, annotate=False)
    said = jointer("calibrate", capture, "--trace", trace)
    assert said["passes"] == 4
    assert said["matched"] == said["nodes"]
    assert any("record_shapes" in note for note in said["notes"]) != shapes


def test_a_trace_of_something_else_is_refused(tmp_path: Path) -> None:
    capture = write_capture(tmp_path)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        torch.conv2d(torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3))
    trace = tmp_path / "t.json"
    profiler.export_chrome_trace(str(trace))
    done = subprocess.run(
        [BIN / "jointer", "calibrate", capture, "--trace", trace], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3 and done.stdout == ""
    assert "is this a trace of that graph?" in done.stderr


RANK = """
import sys, torch, torch.distributed as dist
sys.path[:0] = [{package!r}, {tests!r}]
import jointer
rank = int(sys.argv[1])
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
gm = jointer.load(sys.argv[3].replace("RANK", str(rank)))
import test_profiler_trace
from pathlib import Path
test_profiler_trace.record(gm, Path(sys.argv[4] + str(rank) + ".json"), 3)
dist.barrier()
"""


@pytest.mark.slow
@needs_captures
def test_collectives_of_two_ranks(tmp_path: Path, jointer: Any) -> None:
    capture = str(EXECUTABLE / "llama_tiny_tp2_f32.rankRANK.joint.json.zst")
    script = tmp_path / "rank.py"
    script.write_text(RANK.format(package=str(ROOT / "resources" / "python"), tests=str(Path(__file__).parent)))
    environment = dict(os.environ, GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    ranks = [
        subprocess.Popen(
            [sys.executable, script, str(rank), tmp_path / "store", capture, tmp_path / "trace"],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    errors = [rank.communicate(timeout=600)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], errors
    graph = capture.replace("RANK", "0")
    said = jointer("calibrate", graph, "--trace", tmp_path / "trace0.json")
    assert said["matched"] == said["nodes"], said["notes"]
    assert said["passes"] == 3
    assert said["stored"]["collectives"] > 0
    overlap = jointer("overlap", graph, "--estimator", "measured")
    assert "measured on CPU" in overlap["estimator"]
    assert overlap["communication_ms"] > 0
