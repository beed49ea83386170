"""Passes of torchtitan's graph_trainer beside torchtitan's own.

A step is traced by torchtitan, which is captured after each of its passes. Our pass is run on the capture
before one and must leave the graph that the capture after it has: the same nodes in the same order, with the
same calls. Nodes that a pass makes may have other numbers in their names: torch goes on above numbers of nodes
that are gone.

Tracing wants torchtitan 0.3.0: in this Python, in the one that ``JOINTER_TORCHTITAN_PYTHON`` names, or in the
one that scripts/setup.sh makes; and the shared tool that traces.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, SHARED

from jointer.document import read_document

TOOL = SHARED / "tools" / "graph_trainer_trace.py"
NEEDS_EXTRA = 'import importlib.metadata as m; assert m.version("torchtitan") >= "0.3"'

# Small models: each takes torchtitan some seconds.
STEPS = {
    "llama_dp4": "--dp 4",
    "llama_dp4_full": "--dp 4 --policy full",
    "llama_dp4_eager": "--dp 4 --policy eager",
    "llama_dp2_tp2": "--dp 2 --tp 2 --agrs",
    "llama_dense": "--dp 4 --cross-entropy --dense",
    "llama_dense_full": "--dp 2 --cross-entropy --dense --policy full",
    "llama_dense_eager": "--dp 8 --cross-entropy --dense --policy eager --agrs",
    "llama_dense_hsdp": "--dp 2 --fsdp-dr 2 --cross-entropy --dense",
}
DENSE = [name for name in STEPS if "dense" in name]
# Of this one all-reduces whose input is written in place stay as they are, on purpose.
WRITTEN = "llama_dp2_tp2"
BUCKETING = "joint_transformer_block_bucketing_reordering"
REGIONS = "schedule_fsdp_comms_to_dense_regions"
PACKING = "bucketing._pre_bucket_all_gather.default"


pytestmark = pytest.mark.slow  # it traces each step


@functools.cache
def torchtitan_python() -> str | None:
    setup = Path.home() / ".cache" / "jointer" / "torch-2.15.0" / "bin" / "python"
    for python in (os.environ.get("JOINTER_TORCHTITAN_PYTHON"), sys.executable, str(setup)):
        if python and Path(python).exists():
            done = subprocess.run([python, "-c", NEEDS_EXTRA], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    return None


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder with the captures of one of STEPS, made once."""
    if not TOOL.exists():
        pytest.skip(f"{TOOL} is not here: it traces torchtitan's steps")
    python = torchtitan_python()
    if python is None:
        pytest.skip("torchtitan 0.3.0 is not installed: pip install torchtitan==0.3.0 spmd_types==0.2.3")
    folder = Path(os.environ.get("JOINTER_TRACES") or tmp_path_factory.mktemp("graph_trainer"))

    @functools.cache
    def trace(name: str) -> Path:
        if not (folder / f"{name}.times.json").exists():
            script = Path(__file__).with_name("torchtitan_passes.py")
            options = [*STEPS[name].split(), "--each", "--out", str(folder), "--name", name]
            done = subprocess.run(
                [python, script, TOOL, *options],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")},
            )
            assert done.returncode == 0, done.stderr[-2000:]
        return folder

    return trace


def around(folder: Path, step: str, name: str) -> tuple[Path, Path]:
    """The captures before and after a pass."""
    captures = sorted(folder.glob(f"{step}.after_[0-9]*.json.zst"))
    after = next(at for at, path in enumerate(captures) if path.name.endswith(f"_{name}_pass.json.zst"))
    return captures[after - 1], captures[after]


def run_pass(capture: Path, pipeline: str, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [BIN / "run_passes", capture, "-", "simple", pipeline, out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["steps"][-1]


def base_of(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def mapped(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        if "n" in value:
            return {**value, "n": names.get(value["n"], value["n"])}
        return {key: mapped(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, names) for each in value]
    return value


def same_names(before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, str]:
    """Our names of new nodes -> theirs; whatever the pass was given keeps its name and place."""
    known = {node["name"] for node in before["nodes"]}
    names: dict[str, str] = {}
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=False):
        if mine["name"] in known or other["name"] in known:
            assert mine["name"] == other["name"]
        else:
            assert base_of(mine["name"]) == base_of(other["name"])
            names[mine["name"]] = other["name"]
    assert len(ours["nodes"]) == len(theirs["nodes"])
    return names


def assert_same(before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    names = same_names(before, ours, theirs)
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        for key in ("op", "target", "args", "kwargs", "autograd_backward", "custom"):
            empty = {"kwargs": {}, "args": [], "autograd_backward": False}.get(key)
            assert mapped(mine.get(key, empty), names) == other.get(key, empty), (other["name"], key)
    # Shapes, strides and offsets of what is new; captures number storages as they meet them.
    known = {node["name"] for node in before["nodes"]}
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        if other["name"] not in known:
            assert shape_of(mine.get("val")) == shape_of(other.get("val")), other["name"]


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape_of(each) for key, each in value.items() if key != "storage"}
    if isinstance(value, list):
        return [shape_of(each) for each in value]
    return value


def say_times(folder: Path, step: str, name: str, ours: dict[str, Any], capsys: Any) -> float:
    """How many times faster than torchtitan; said on the terminal."""
    theirs = json.loads((folder / f"{step}.times.json").read_text())[f"{name}_pass"] * 1e3
    mine = ours["ns"] / 1e6
    with capsys.disabled():
        print(f"\n{step} {name}: torchtitan {theirs:.1f} ms, ours {mine:.2f} ms, {theirs / mine:.0f} times")
    return theirs / mine


@pytest.mark.parametrize("step", [step for step in STEPS if step != WRITTEN])
def test_block_buckets(step: str, traced: Any, tmp_path: Path, capsys: Any) -> None:
    folder = traced(step)
    before, after = around(folder, step, BUCKETING)
    ours = run_pass(before, BUCKETING, tmp_path / "out.json")
    graph = read_document(tmp_path / "out.json")
    assert any(node["target"] == PACKING for node in graph["nodes"])
    assert_same(read_document(before), graph, read_document(after))
    starts = {d["node"] for d in ours["decisions"] if d["action"] in ("merged", "alone", "kept")}
    collectives = {
        node["name"]
        for node in read_document(before)["nodes"]
        if re.search(r"_c10d_functional\.(all_|reduce_scatter)", node["target"])
    }
    assert collectives <= starts
    say_times(folder, step, BUCKETING, ours, capsys)


@pytest.mark.parametrize("step", DENSE)
def test_dense_regions(step: str, traced: Any, tmp_path: Path, capsys: Any) -> None:
    folder = traced(step)
    before, after = around(folder, step, REGIONS)
    theirs = read_document(after)
    # The block that a bucket serves is meta that the pass before leaves; ours leaves it in the graph, too.
    bucketed, _ = around(folder, step, BUCKETING)
    pipeline = f"{BUCKETING},{REGIONS}{{strict=true}}"
    ours = run_pass(bucketed, pipeline, tmp_path / "out.json")
    assert ours["moved"] > 0
    assert_same(read_document(bucketed), read_document(tmp_path / "out.json"), theirs)
    say_times(folder, step, REGIONS, ours, capsys)
    # Where nothing says it, it is found from the graph.
    run_pass(before, f"{REGIONS}{{strict=true}}", tmp_path / "found.json")
    assert_same(theirs, read_document(tmp_path / "found.json"), theirs)


@pytest.mark.parametrize("step", ["llama_dp2_tp2", "llama_dense_eager"])
def test_groups_of_gathers(step: str, traced: Any, tmp_path: Path) -> None:
    before, after = around(traced(step), step, "reassign_collective_pgs")
    run_pass(before, "reassign_collective_pgs", tmp_path / "out.json")
    ours, theirs = read_document(tmp_path / "out.json"), read_document(after)
    twins: dict[str, str] = {}
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        assert mine["name"] == other["name"] and mine["target"] == other["target"]
        if "all_gather_into_tensor" in mine["target"]:
            assert twins.setdefault(mine["args"][2], other["args"][2]) == other["args"][2]
            mine["args"][2] = other["args"][2]
        assert mine.get("args") == other.get("args")
    assert any(name.endswith("_fsdp_extra") for name in twins)

