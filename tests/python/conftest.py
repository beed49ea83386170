"""Makes the package importable."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("JOINTER_SHARED", ROOT.parent / "shared"))
PACKAGE = ROOT / "resources" / "python"

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(PACKAGE))


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    """Every test starts without process groups and without compiled code."""
    yield
    import torch
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()
    torch._dynamo.reset()


@pytest.fixture
def samples() -> list[Path]:
    """The bundled samples."""
    return sorted((ROOT / "resources" / "samples").glob("*.json.zst"))


@pytest.fixture
def subprocess_environment() -> dict[str, str]:
    """The environment of a process that imports the package."""
    paths = [str(PACKAGE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
