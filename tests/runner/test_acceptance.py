"""Runs the checks of scripts/gpu_acceptance on the CPU, except those that need a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("checks", ["samples,ranks,timing,sanitizer", "faults"])
def test_checks_pass_on_the_cpu(checks: str, tmp_path: Path) -> None:
    paths = [ROOT / "tests", ROOT / "tests/runner", ROOT / "resources/python"]
    command = [sys.executable, "-m", "acceptance", "--on", "cpu", "--out", tmp_path]
    command += ["--bin", os.environ["JOINTER_BIN"], "--samples", ROOT / "resources/samples"]
    command += ["--only", "llama_debug_fsdp2.joint", "--backends", "interpret", "--checks", checks]
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "report.json").read_text())["rows"]
    passed = [row["check"] for row in rows if row["status"] == "passed"]
    expected = {
        "faults": ["token ids out of range", "the rank is killed", "the user stops the run"],
        "samples,ranks,timing,sanitizer": [
            "llama_debug_fsdp2.joint, all ranks, interpret",
            "llama_debug_fsdp2.joint, interpret",
            "llama_debug_fsdp2.joint, peak",
        ],
    }[checks]
    assert set(expected) <= set(passed), done.stdout
    assert not [row for row in rows if row["status"] == "FAILED"]


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_run_that_does_not_end_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.bench import Bench
    from acceptance.checks import ranks_run
    from acceptance.report import Report

    _program(tmp_path / "jointer", "exec sleep 60")
    bench = Bench(tmp_path, "cpu", tmp_path)
    outcome = bench.run(tmp_path / "graph.json", timeout=1)
    assert outcome.is_impossible
    assert outcome.failure == "not done after 1 s"

    _program(tmp_path / "jointer", "echo error: 2 ranks need 2 GPUs, but this machine has 1 >&2; exit 2")
    report = Report(tmp_path)
    ranks_run(bench, report, tmp_path / "graph.json", ["interpret"])
    ranks_run(Bench(tmp_path, "cpu", tmp_path, end=0), report, tmp_path / "graph.json", ["interpret"])
    assert [row.status for row in report.rows] == ["skipped", "skipped"]
    assert report.rows[0].figure == "error: 2 ranks need 2 GPUs, but this machine has 1"
    assert report.rows[1].figure == "the time of --minutes is over"


def test_an_error_of_a_check_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.__main__ import attempt
    from acceptance.report import Report

    report = Report(tmp_path)
    attempt(report, "timing", lambda: {}["kernels"])
    assert report.failed == 1
    assert report.rows[0].figure == "KeyError: 'kernels'"


def test_memory_that_the_driver_does_not_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.faults import _used_bytes

    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    _program(tmp_path / "nvidia-smi", "echo 3; echo 5")
    assert _used_bytes("cuda") == 8 << 20
    _program(tmp_path / "nvidia-smi", "echo 3; echo [N/A]")
    assert _used_bytes("cuda") is None
