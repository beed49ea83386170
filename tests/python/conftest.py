"""Makes the package importable; ``--run-slow`` for the tests that take long."""

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run tests marked slow")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes long; runs with --run-slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--run-slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: give --run-slow"))


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
