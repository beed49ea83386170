"""scripts/benchmark says what it skipped, and fails if it measured nothing with captures."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

# Functions of scripts/setup.sh that install and build nothing, and a Python that ends as a benchmark would.
SETUP = """
torch_newest=0 torch_python=$PWD/python
say() { printf '==> %s\\n' "$*"; }
ensure_torch_version() { :; }
build() { :; }
"""
PROGRAMS = ("core_benchmark", "bucketing_benchmark", "growth_benchmark", "tune_benchmark")
NEED_CAPTURES = ("seed_table.py", "kernels_ratio.py", "ratios.py")


def run(folder: Path, codes: dict[str, int], captures: bool) -> tuple[int, list[str]]:
    """The script's exit code and what it skipped, if each program ends with the code in ``codes``, or 0."""
    (folder / "scripts").mkdir()
    (folder / "build" / "release" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "benchmark", folder / "scripts")
    (folder / "scripts" / "setup.sh").write_text(SETUP)
    for name in PROGRAMS:
        stub(folder / "build" / "release" / "bin" / name, f"exit {codes.get(name, 0)}")
    cases = "".join(f"*/{name}) exit {code} ;; " for name, code in codes.items())
    stub(folder / "python", f"case $1 in {cases}*) exit 0 ;; esac")
    if captures:
        (folder / "shared" / "captures").mkdir(parents=True)
    environment = {**os.environ, "JOINTER_SHARED": str(folder / "shared")}
    done = subprocess.run(
        [folder / "scripts" / "benchmark"], capture_output=True, text=True, check=False, env=environment)
    assert not done.stderr, done.stderr
    start = "==> skipped: "
    return done.returncode, [line.removeprefix(start) for line in done.stdout.splitlines() if line.startswith(start)]


def stub(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_all_is_measured(tmp_path: Path) -> None:
    assert run(tmp_path, {}, captures=True) == (0, [])


def test_without_captures_it_fails_and_says_what_it_skipped(tmp_path: Path) -> None:
    code, skipped = run(tmp_path, dict.fromkeys(NEED_CAPTURES, 3), captures=False)
    assert code == 3
    assert "bucketing by graph size" in skipped and "comparison with torch" in skipped
    assert not any("graph_trainer" in each or "overhead" in each for each in skipped)


def test_one_missing_capture_is_named(tmp_path: Path) -> None:
    assert run(tmp_path, {"ratios.py": 3}, captures=True) == (0, ["comparison with torch"])


@pytest.mark.parametrize("captures", [True, False])
def test_a_missed_bound_is_not_hidden_by_what_follows(tmp_path: Path, captures: bool) -> None:
    code, _ = run(tmp_path, {"interpreter_overhead.py": 1, "ratios.py": 3}, captures)
    assert code == 1
