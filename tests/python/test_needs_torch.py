"""A Python without torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PACKAGE


def without_torch(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", *arguments],  # -S: without installed packages
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("task", ["host", "compile", "kernels", "bench", "run", "info"])
def test_a_task_without_torch_ends_with_one_line(task: str, tmp_path: Path) -> None:
    done = without_torch("-m", "jointer", task, folder=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("torch is not installed for ")
    assert "set JOINTER_PYTHON" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_that_imports_the_package_sees_the_failed_import(tmp_path: Path) -> None:
    done = without_torch("-c", "import jointer", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("No module named 'torch'\n")
