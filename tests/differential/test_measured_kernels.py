"""`jointer kernels --source measured` on a real trace: a training step that the installed torch compiles for the CPU.

All kernels of both halves must be found, by the names of the compilation and by those that Jointer predicts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, run_jointer

SCRIPT = """
import sys
import torch
from torch.profiler import ProfilerActivity, profile, record_function

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(64), torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)
    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))

torch.manual_seed(0)
model = torch.nn.Sequential(Block(), Block(), torch.nn.Linear(64, 10))
step = torch.compile(lambda x, y: torch.nn.functional.cross_entropy(model(x), y))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))

def train():
    step(x, y).backward()
    optimizer.step()
    optimizer.zero_grad()

train()
train()
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    for i in range(3):
        with record_function(f"ProfilerStep#{i}"):
            train()
profiler.export_chrome_trace(sys.argv[1])
"""


@dataclass
class Recorded:
    trace: Path
    log: Path
    pair: Path

    def kernels(self, half: str, *options: Any) -> Any:
        measured = ["--source", "measured", "--trace", self.trace]
        return run_jointer("kernels", self.pair, "--half", half, *measured, *options)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "train.py").write_text(SCRIPT)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "resources" / "python"),
        "TORCH_TRACE": str(folder / "log"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",
    }
    subprocess.run(
        [sys.executable, "-m", "jointer", "run", "--out", str(folder / "captures"), "--pair", "--",
         str(folder / "train.py"), str(folder / "trace.json")],
        check=True, env=environment, capture_output=True)
    [log] = (folder / "log").iterdir()
    [pair] = (folder / "captures").glob("*.pair.json*")
    return Recorded(folder / "trace.json", log, pair)


@pytest.mark.parametrize("half", ["forward", "backward"])
@pytest.mark.parametrize("source", ["compiled", "predicted"])
def test_all_kernels_are_found(recorded: Recorded, half: str, source: str) -> None:
    answer = recorded.kernels(half, *(["--artifacts", recorded.log] if source == "compiled" else []))
    assert answer["kernels_from"] == source
    assert answer["unmeasured_kernels"] == [] and answer["untied_calls"] == []
    trace = answer["trace"]
    assert (trace["compiled_graphs"], trace["steps"], trace["runs"], trace["steps_of_runs"]) == (2, 3, 3, 3)
    assert trace["outside_launches"] > 0  # the optimizer
    for stream in answer["streams"]:
        assert stream["kernels_ms"] + stream["gaps_ms"] - stream["overlap_ms"] == pytest.approx(stream["span_ms"])


def test_times_are_medians_of_the_steps(recorded: Recorded) -> None:
    events = [event for event in json.loads(recorded.trace.read_text())["traceEvents"] if event.get("ph") == "X"]
    answer = recorded.kernels("forward", "--artifacts", recorded.log)
    marks = [event for event in events if f"CompiledFxGraph {answer['trace']['compiled_graph']} " in event["name"]]
    assert len(marks) == 3
    steps = [
        [event["dur"] for event in sorted(events, key=lambda event: event["ts"])
         if event["name"] == "aten::addmm" and mark["ts"] <= event["ts"] < mark["ts"] + mark["dur"]]
        for mark in marks
    ]
    expected = [statistics.median(times) / 1e3 for times in zip(*steps, strict=True)]
    measured = [kernel["ms"] for kernel in answer["kernels"] if kernel["name"] == "extern_kernels.addmm"]
    assert measured == pytest.approx(expected) and len(measured) == 5


def test_an_eager_step_is_refused(recorded: Recorded, tmp_path: Path) -> None:
    script = SCRIPT.replace("torch.compile(", "(")
    (tmp_path / "train.py").write_text(script)
    subprocess.run([sys.executable, str(tmp_path / "train.py"), str(tmp_path / "eager.json")], check=True, capture_output=True)
    done = subprocess.run(
        [str(BIN / "jointer"), "kernels", str(recorded.pair), "--half", "forward", "--source", "measured", "--trace",
         str(tmp_path / "eager.json")], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "not of a compiled step" in done.stderr
