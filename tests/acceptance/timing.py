"""Compares times of kernels, nodes and steps with each other, with the estimate, and with torch."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from .bench import TIMED_OUT, Bench, title
from .report import Report

_SUM_BOUND = 0.2
_CALIBRATED_BOUND = 0.1
_SANITIZER_SECONDS = 150
_KERNEL_BOUND = 0.2
_SMALL_KERNEL_NS = 5000
_COMPILE_NOISE = 0.05
_TORCH_SECONDS = 150

#: Name of a kernel -> number of launches, nanoseconds of all of them.
Kernels = dict[str, list[int]]


def timing(bench: Bench, report: Report, sample: Path) -> None:
    """Kernel times add up to the step time of a captured graph, which does not wait for launches, and
    an estimate from stored kernel times equals that step time."""
    name = title(sample)
    store = {
        "XDG_CACHE_HOME": str(bench.work),
        "XDG_DATA_HOME": str(bench.work),
        "JOINTER_COSTS": "",  # the user's own, which would precede the others
    }
    profiled = bench.run(sample, "--solo", "0", "--profile", "--calibrate", env=store)
    kernels = profiled.rank.get("kernels")
    if profiled.failure or not kernels:
        reason = profiled.failure or "the device does not trace kernels"
        is_skipped = bench.on == "cpu" or profiled.is_impossible
        report.add(f"{name}, kernel times", "traced", reason, None if is_skipped else False)
        return
    own = sum(profiled.rank["nodes"]["own_ns"]) / 1e6
    replayed = bench.run(sample, "--solo", "0", "--backend", "cudagraph", "--estimator", "measured", env=store)
    if replayed.failure:
        passed = None if replayed.is_impossible else False
        report.add(f"{name}, captured step", "runs", replayed.explain(), passed)
        return
    report.add(
        f"{name}, times of nodes",
        f"their sum within {_SUM_BOUND:.0%} of the replayed step",
        f"{own:.3f} ms of {len(kernels['name']):,} kernels, step {replayed.step_ms:.3f} ms",
        abs(own / replayed.step_ms - 1) <= _SUM_BOUND,
    )
    estimate = replayed.result["predicted"]["step_ms"]
    report.add(
        f"{name}, estimate after calibration",
        f"within {_CALIBRATED_BOUND:.0%} of the replayed step",
        f"{estimate:.3f} ms, step {replayed.step_ms:.3f} ms, {estimate / replayed.step_ms - 1:+.1%}",
        abs(estimate / replayed.step_ms - 1) <= _CALIBRATED_BOUND,
    )
    _compare_with_torch(bench, report, sample, by_name(kernels), replayed.step_ms)


def by_name(kernels: dict[str, list[Any]]) -> Kernels:
    """The kernels of a result."""
    found: Kernels = {}
    for name, start, end in zip(kernels["name"], kernels["start_ns"], kernels["end_ns"], strict=True):
        of_name = found.setdefault(name, [0, 0])
        of_name[0] += 1
        of_name[1] += end - start
    return found


def _compare_with_torch(bench: Bench, report: Report, sample: Path, ours: Kernels, replayed_ms: float) -> None:
    name = title(sample)
    theirs, problem = _in_torch(bench, sample)
    compare_kernels(report, name, ours, theirs.get("kernels", {}), problem)
    compiled = bench.run(sample, "--solo", "0", "--backend", "inductor")
    steps = {"cudagraph": replayed_ms, "inductor": compiled.step_ms}
    problem = problem or theirs.get("problem", "") or compiled.failure
    compare_steps(report, name, steps, theirs.get("compile_ms", 0.0), problem)


def _in_torch(bench: Bench, sample: Path) -> tuple[dict[str, Any], str]:
    """The object that in_torch.py prints for the sample, or the reason why it cannot run."""
    import torch

    if not torch.cuda.is_available():
        return {}, "this Python's torch finds no GPU"
    command = [sys.executable, "-m", "acceptance.in_torch", str(sample), bench.on]
    done = bench.execute(command, _TORCH_SECONDS)
    if done.returncode == TIMED_OUT:
        return {}, f"torch is {done.stderr}"
    try:
        return json.loads(done.stdout.splitlines()[-1]), ""
    except (IndexError, json.JSONDecodeError):
        return {}, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def compare_kernels(report: Report, name: str, ours: Kernels, theirs: Kernels, problem: str = "") -> None:
    """Kernels that both measured, and that take longer than 5 us, take equally long."""
    differences: dict[str, float] = {}
    for kernel, (launches, ns) in ours.items():
        if kernel not in theirs or ns / launches <= _SMALL_KERNEL_NS:
            continue
        count, total = theirs[kernel]
        if total > 0:
            differences[kernel] = (ns / launches) / (total / count) - 1
    worst = max(differences, key=lambda kernel: abs(differences[kernel]), default="")
    figure = problem or "no common kernels above 5 us"
    if worst:
        figure = f"{len(differences)} of them, at most {differences[worst]:+.1%} ({worst[:60]})"
    report.add(
        f"{name}, times of kernels",
        f"within {_KERNEL_BOUND:.0%} of torch.profiler's above 5 us",
        figure,
        abs(differences[worst]) <= _KERNEL_BOUND if worst else None,
    )


def compare_steps(
    report: Report, name: str, steps: dict[str, float], compile_ms: float, problem: str = ""
) -> None:
    """The fastest backend is at least as fast as torch.compile."""
    measured = {backend: ms for backend, ms in steps.items() if ms > 0}
    fastest = min(measured, key=lambda backend: measured[backend])
    texts = ", ".join(f"{backend} {ms:.3f} ms" for backend, ms in measured.items())
    report.add(
        f"{name}, step of the fastest backend",
        f"at most that of torch.compile plus {_COMPILE_NOISE:.0%}",
        f"{texts}, torch.compile {compile_ms:.3f} ms" if compile_ms > 0 else problem or "torch.compile: no time",
        measured[fastest] <= compile_ms * (1 + _COMPILE_NOISE) if compile_ms > 0 else None,
    )


def sanitizer(bench: Bench, report: Report, sample: Path) -> None:
    """compute-sanitizer finds no invalid access in a step."""
    bench.require()
    program = shutil.which("compute-sanitizer")
    if bench.on != "cuda" or program is None:
        report.add("compute-sanitizer", "no errors", "it is not here", None)
        return
    runner = Path(os.environ.get("JOINTER_RUNNER", bench.bin / "jointer-runner"))
    command = [program, "--error-exitcode", "9", str(runner.parent / "jointer-runner-cuda"), str(sample)]
    command += ["--on=cuda", "--solo=0", "--warmup=0", "--iterations=1"]
    done = bench.execute(command, _SANITIZER_SECONDS)
    if done.returncode == TIMED_OUT:
        report.add("compute-sanitizer", "no errors", done.stderr, None)
        return
    lines = done.stdout.splitlines()
    found = [line for line in lines if line.startswith("=========")]
    ran = any('"event":"measured"' in line for line in lines)
    report.add(
        "compute-sanitizer",
        "a step runs, no errors",
        (found or [done.stderr.strip()])[-1] + ("" if ran else ", BUT NO STEP RAN"),
        ran and done.returncode == 0,
    )
