"""Compares times of nodes and steps with each other and with the estimate."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .bench import Bench, title
from .report import Report

_SUM_BOUND = 0.2
_CALIBRATED_BOUND = 0.1
_SANITIZER_SECONDS = 150


def timing(bench: Bench, report: Report, sample: Path) -> None:
    """Kernel times add up to the step time of a captured graph, which does not wait for launches, and
    an estimate from stored kernel times equals that step time."""
    name = title(sample)
    store = {"XDG_CACHE_HOME": str(bench.work), "XDG_DATA_HOME": str(bench.work)}
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


def sanitizer(bench: Bench, report: Report, sample: Path) -> None:
    """compute-sanitizer finds no invalid access in a step."""
    program = shutil.which("compute-sanitizer")
    if bench.on != "cuda" or program is None:
        report.add("compute-sanitizer", "no errors", "it is not here", None)
        return
    runner = Path(os.environ.get("JOINTER_RUNNER", bench.bin / "jointer-runner"))
    command = [program, "--error-exitcode", "9", str(runner.parent / "jointer-runner-cuda"), str(sample)]
    command += ["--on=cuda", "--solo=0", "--warmup=0", "--iterations=1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SANITIZER_SECONDS)
    except subprocess.TimeoutExpired:
        report.add("compute-sanitizer", "no errors", f"not done after {_SANITIZER_SECONDS} s", None)
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
