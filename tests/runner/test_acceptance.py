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
@pytest.mark.parametrize("checks", ["samples,timing,sanitizer", "faults"])
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
        "samples,timing,sanitizer": [
            "llama_debug_fsdp2.joint, interpret",
            "llama_debug_fsdp2.joint, peak",
        ],
    }[checks]
    assert set(expected) <= set(passed), done.stdout
    assert not [row for row in rows if row["status"] == "FAILED"]
