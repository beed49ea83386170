"""The Python backend under a profiler: the part that is recorded, its ranges, and the launcher."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from processes import environment
from support import call, document, output, placeholder, tensor

from jointer.measure import Measurer
from jointer.profiler_ranges import ProfilerRanges
from jointer.program import read_program
from jointer.rank_program import RankProgram


class Logged(ProfilerRanges):
    """Writes to a list instead."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def start(self) -> None:
        self._log.append("start")

    def stop(self) -> None:
        self._log.append("stop")

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        self._log.append(f"+ {name}")
        yield
        self._log.append("-")


def two_calls(folder: Path) -> str:
    nodes = [
        placeholder("x", tensor([64])),
        call("y", "aten.sin.default", {"n": "x"}, val=tensor([64], storage=1)),
        call("z", "aten.relu.default", {"n": "y"}, val=tensor([64], storage=2)),
        output({"n": "z"}),
    ]
    path = folder / "g.json"
    path.write_text(json.dumps(document(*nodes, storages=[256, 256, 256])))
    return str(path)


def program_in(folder: Path) -> RankProgram:
    captured = read_program(two_calls(folder))
    if dist.is_initialized():
        dist.destroy_process_group()
    return RankProgram(captured, torch.device("cpu"), alone=False)


def test_only_measured_steps_are_recorded_with_their_calls(tmp_path: Path) -> None:
    program = program_in(tmp_path)
    log: list[str] = []

    def report(stage: str, done: int, total: int) -> None:
        log.append(f"{stage} {done}")

    measurer = Measurer(program, program.inputs(seed=0, rank=0), 0, report)
    measurer.steps(2, 2, Logged(log))
    step = ["+ y aten.sin.default", "-", "+ z aten.relu.default", "-", "-"]
    assert log == [
        *("warm up 0", "warm up 1", "start"),
        *("measure 0", "+ step 0", *step),
        *("measure 1", "+ step 1", *step),
        "stop",
    ]
    assert len(measurer.figures()["step_ns"]) == 2


def test_without_a_profiler_there_are_no_ranges(tmp_path: Path) -> None:
    program = program_in(tmp_path)
    measurer = Measurer(program, program.inputs(seed=0, rank=0), 0, lambda *reported: None)
    measurer.steps(1, 3)
    assert len(measurer.figures()["step_ns"]) == 3


def test_ranges_are_those_of_nvtx_and_of_cudas_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[object] = []
    monkeypatch.setattr(torch.cuda.profiler, "start", lambda: log.append("start"))
    monkeypatch.setattr(torch.cuda.profiler, "stop", lambda: log.append("stop"))
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", log.append)
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: log.append("pop"))
    ranges = ProfilerRanges()
    ranges.start()
    with pytest.raises(ValueError), ranges.named("step 0"):
        raise ValueError
    ranges.stop()
    assert log == ["start", "step 0", "pop", "stop"]


def test_a_rank_ends_with_the_launcher_that_a_profiler_separates_from_it(tmp_path: Path) -> None:
    launcher = subprocess.Popen(["sleep", "1000"])
    options = ["--on", "cpu", "--threads", "1", "--warmup", "1000000000"]
    rank = subprocess.Popen(
        [sys.executable, "-m", "jointer", "bench", two_calls(tmp_path), *options],
        env=environment(JOINTER_LAUNCHER=str(launcher.pid)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert rank.stdout is not None
    try:
        assert any('"warm up"' in line for line in iter(rank.stdout.readline, ""))
        assert rank.poll() is None
        launcher.kill()
        launcher.wait()
        assert rank.wait(timeout=60) == -signal.SIGKILL
    finally:
        for process in (launcher, rank):
            process.kill()
            process.wait()
        rank.stdout.close()
