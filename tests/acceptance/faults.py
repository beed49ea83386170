"""Runs that fail: the result names the cause, and nothing is left on the device."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from .bench import Bench, Outcome, OutOfTime
from .report import Report, attempt

_TO_FIRST_STEP = 6  # seconds
_LEFT_BYTES_BOUND = 64 << 20  # of the device's memory, after the processes have ended


def faults(bench: Bench, report: Report, sample: Path) -> None:
    before = _used_bytes(bench.on)
    parts = {
        "memory limit": lambda: _out_of_memory(bench, report, sample),
        "token ids out of range": lambda: _device_assert(bench, report, sample),
        "the rank is killed": lambda: _ended(
            bench, report, sample, signal.SIGKILL, "the rank is killed", "died"
        ),
        "the rank stops": lambda: _ended(bench, report, sample, signal.SIGSTOP, "the rank stops", "hung"),
        "the user stops the run": lambda: _interrupted(bench, report, sample),
    }
    if bench.on == "cuda":
        parts["no visible GPU"] = lambda: _no_device(bench, report, sample)
    ran = [attempt(report, name, part) for name, part in parts.items()]
    attempt(report, "after all faults", lambda: _nothing_left(bench, report, before, any(ran)))


def _nothing_left(bench: Bench, report: Report, before: int | None, any_ran: bool) -> None:
    if not any_ran:
        raise OutOfTime
    after = _used_bytes(bench.on)
    report.add(
        "after all faults",
        "nothing left on the device",
        "nvidia-smi does not say" if after is None else f"{after - (before or 0):+,} B used",
        None if after is None or before is None else after - before <= _LEFT_BYTES_BOUND,
    )


def _named(report: Report, check: str, outcome: Outcome, kinds: tuple[str, ...], needs_node: bool):
    rank = outcome.rank
    passed = rank.get("kind") in kinds or rank.get("status") in kinds
    passed = passed and bool(rank.get("node")) >= needs_node and bool(rank.get("reason"))
    bound = "rank, kind, reason" + (" and node" if needs_node else "") + " are named"
    report.add(check, bound, outcome.explain(), passed)


def _out_of_memory(bench: Bench, report: Report, sample: Path) -> None:
    enough = bench.run(sample, "--solo", "0", "--iterations", "1").rank.get("reserved_peak_bytes", 0)
    limit = str(enough // 2)
    store = {"XDG_DATA_HOME": str(bench.work)}
    outcome = bench.run(sample, "--solo", "0", "--memory-limit", limit, env=store)
    _named(report, f"memory limit of {limit} B", outcome, ("memory",), True)
    path = outcome.rank.get("memory_snapshot")
    report.add(
        "memory snapshot of that run",
        "written",
        f"{Path(path).stat().st_size:,} B" if path and Path(path).is_file() else path or "none",
        None if bench.on == "cpu" else bool(path) and Path(path).is_file(),
    )


def _device_assert(bench: Bench, report: Report, sample: Path) -> None:
    """Token ids beyond the embedding: an assertion in a kernel on a GPU, an error on the CPU."""
    bench.require()
    try:
        inputs = _inputs_out_of_range(sample, bench.work / "out_of_range.safetensors")
    except Exception as error:  # the helper needs a Python with torch
        report.add("token ids out of range", "named", f"no inputs: {error}", None)
        return
    outcome = bench.run(sample, "--solo", "0", "--inputs", str(inputs))
    kinds = ("device",) if bench.on == "cuda" else ("node",)
    _named(report, "token ids out of range", outcome, kinds, True)
    again = bench.run(sample, "--solo", "0", "--iterations", "1")
    report.add(
        "a run after that", "succeeds", again.failure or f"step {again.step_ms:.3f} ms", not again.failure
    )


def _inputs_out_of_range(sample: Path, path: Path) -> Path:
    import torch
    from files import write_safetensors

    from jointer.inputs import make_inputs
    from jointer.load import load

    nodes = [node for node in load(sample).graph.nodes if node.op == "placeholder"]
    values = make_inputs(nodes, torch.device("cpu"), seed=0, rank=0)
    tensors = {n: v.contiguous() for n, v in values.items() if isinstance(v, torch.Tensor)}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int64 and tensor.numel() > 1:
            tensors[name] = torch.full_like(tensor, 1 << 40)
    write_safetensors(path, tensors)
    return path


def _start(bench: Bench, sample: Path, *options: str) -> subprocess.Popen[str]:
    """A running benchmark of many steps."""
    bench.require(_TO_FIRST_STEP)
    return subprocess.Popen(
        [*bench.command(sample, "--solo", "0", "--iterations", "1000000", *options), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _rank_of(parent: int) -> int | None:
    """The process of the rank, after a time in which it can reach its first step; None if there is
    none."""
    time.sleep(_TO_FIRST_STEP)
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def _ended(bench: Bench, report: Report, sample: Path, number: signal.Signals, check: str, status: str):
    running = _start(bench, sample, "--timeout", "5")
    rank = _rank_of(running.pid)
    if rank is not None:
        os.kill(rank, number)
    outcome = Outcome.of(bench.finish(running, 60), 0)
    _named(report, check, outcome, (status,), False)


def _interrupted(bench: Bench, report: Report, sample: Path) -> None:
    running = _start(bench, sample)
    rank = _rank_of(running.pid)
    running.send_signal(signal.SIGINT)
    started = time.monotonic()
    bench.finish(running, 30)
    seconds = time.monotonic() - started
    gone = rank is not None and not Path(f"/proc/{rank}").exists()
    report.add(
        "the user stops the run",
        "exit code 130 within 10 s, and no process is left",
        f"exit code {running.returncode} after {seconds:.1f} s, the rank {'ended' if gone else 'IS LEFT'}",
        running.returncode == 130 and seconds < 10 and gone,
    )


def _no_device(bench: Bench, report: Report, sample: Path) -> None:
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    outcome = bench.run(sample, "--solo", "0", "--iterations", "1", env=hidden)
    _named(report, "no visible GPU, --on cuda", outcome, ("device",), False)
    options = ["--on", "auto", "--solo", "0", "--iterations", "1"]
    outcome = bench.run(sample, *options, env=hidden)
    report.add(
        "no visible GPU, --on auto",
        "the CPU runs it",
        outcome.failure or outcome.result.get("device", ""),
        not outcome.failure,
    )


def _used_bytes(on: str) -> int | None:
    if on != "cuda":
        return None
    try:
        answer = subprocess.run(
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
        return sum(int(line) << 20 for line in answer.stdout.splitlines())
    except (OSError, subprocess.SubprocessError, ValueError):  # a number may be "[N/A]" with MIG
        return None
