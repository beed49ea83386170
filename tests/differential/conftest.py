"""Compares the built program with the installed torch, which may be any supported version, 2.11 to 2.15.

A graph follows the rules of the torch version that made it. A capture from another version is therefore passed to
the program as if the installed torch had made it (`of_this_torch`), so that both follow the same rules.

``JOINTER_BIN`` names the folder of the built programs, ``JOINTER_SHARED`` the shared captures.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import zstandard

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN", ROOT / "build" / "release" / "bin"))
SHARED = Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared")

sys.path.insert(0, str(ROOT / "resources" / "python"))

# Found by the line above.
from jointer.document import read_document  # noqa: E402
from jointer.groups import restore_groups  # noqa: E402
from jointer.load import load_document  # noqa: E402

# torch takes minutes for large captures, some of which are very similar: only these three are in every run.
LARGE = ("deepseek_v3_671b", "llama3_8b", "llama_8b")
LARGE_BUT_QUICK = ("llama_8b_tp2_fsdp2.joint", "llama3_8b_tp2_fsdp2.joint", "llama3_8b_tp2_fsdp2_graph_sac.min_cut.bw")


def pytest_report_header() -> list[str]:
    shared = SHARED if (SHARED / "captures").is_dir() else "missing, so tests that need them are skipped"
    return [f"torch {torch.__version__}, {BIN}", f"shared captures: {shared}"]


def minor_version(version: str) -> tuple[int, int]:
    """(2, 15) for "2.15.0+cu132"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


#: Version of the installed torch.
TORCH = minor_version(torch.__version__)
_COPIES = tempfile.TemporaryDirectory(prefix="jointer-captures-")


@functools.cache
def of_this_torch(path: Path) -> Path:
    """The capture, or a copy that claims to be made by the installed torch."""
    text = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    made_by = re.compile(rb'"torch":\s*"([^"]+)"')
    if all(minor_version(found.decode()) == TORCH for found in made_by.findall(text)):
        return path
    copy = Path(_COPIES.name) / path.parent.name / path.name
    copy.parent.mkdir(exist_ok=True)
    text = made_by.sub(b'"torch": "%s"' % torch.__version__.encode(), text)
    copy.write_bytes(zstandard.ZstdCompressor(level=1).compress(text))
    return copy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # A module that supports only some versions names them: ONLY_TORCH = ("2.15",).
        wanted = getattr(item.getparent(pytest.Module).obj, "ONLY_TORCH", None)
        if wanted and not any(torch.__version__.startswith(f"{version}.") for version in wanted):
            reason = f"torch is {torch.__version__}, not {' or '.join(wanted)}"
            item.add_marker(pytest.mark.skip(reason=reason))


def is_slow(name: str) -> bool:
    return name.startswith(LARGE) and name not in LARGE_BUT_QUICK


def parameter(path: Path, slow: bool = False) -> Any:
    """A capture as a parameter of a test, with its name."""
    return pytest.param(path, id=path.name.removesuffix(".json.zst"), marks=[pytest.mark.slow] if slow else [])


def single_captures() -> list[Any]:
    """All captures of single graphs: the samples, and the shared captures if available."""
    paths = [
        path
        for folder in (ROOT / "resources" / "samples", SHARED / "captures", SHARED / "captures" / "executable")
        if folder.is_dir()
        for path in sorted(folder.glob("*.json.zst"))
        if not path.name.endswith(".min_cut.json.zst")
    ]
    return [parameter(path, is_slow(path.name.removesuffix(".json.zst"))) for path in paths]


def output_of(program: str | Path, *arguments: object, stdin: str | None = None) -> str:
    """The output of a built program, or of the program at a path, which must succeed."""
    command = [str(BIN / program), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def run_jointer(*arguments: object) -> Any:
    """The JSON of a command."""
    return json.loads(output_of("jointer", *arguments, "--json"))


def run_passes(path: Path, pipeline: str, out: Path | str) -> list[Any]:
    """The reports of a pipeline's steps. ``out`` gets the graph, unless it is ``-``."""
    return json.loads(output_of("run_passes", path, "-", "simple", pipeline, out))["steps"]


@pytest.fixture
def jointer() -> Callable[..., Any]:
    return run_jointer


@pytest.fixture(autouse=True)
def no_groups_left() -> Iterator[None]:
    """Destroys process groups after the test that made them."""
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.fixture(params=single_captures(), scope="session")
def path(request: pytest.FixtureRequest) -> Path:
    """A capture of one graph. Tests are grouped by it, so that it is loaded once."""
    return of_this_torch(request.param)


@pytest.fixture(scope="session")
def loaded(path: Path) -> tuple[Any, torch.fx.GraphModule]:
    document = read_document(path)
    return document, load_document(document, where=path)


@pytest.fixture
def module(loaded: tuple[Any, torch.fx.GraphModule]) -> torch.fx.GraphModule:
    """The capture as torch sees it, with its process groups."""
    document, module = loaded
    restore_groups(document.get("groups") or {}, document.get("rank") or 0, document.get("world_size") or 1)
    return module
