"""Captures training steps of torchtitan's graph_trainer before and after each of its passes, and compares our passes
with torchtitan's on them.

A step is named by options of the shared tracing tool: "--dp 4 --policy full". Tracing requires torchtitan
0.3.0 in this Python, in the one that ``JOINTER_TORCHTITAN_PYTHON`` names, or in the one that scripts/setup.sh
installs.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED, run_passes

TOOL = SHARED / "tools" / "graph_trainer_trace.py"
NEEDS_EXTRA = 'import importlib.metadata as m; assert m.version("torchtitan") >= "0.3"'


@functools.cache
def torchtitan_python() -> str | None:
    setup = Path.home() / ".cache" / "jointer" / "torch-2.15.0" / "bin" / "python"
    for python in (os.environ.get("JOINTER_TORCHTITAN_PYTHON"), sys.executable, str(setup)):
        if python and Path(python).exists():
            done = subprocess.run([python, "-c", NEEDS_EXTRA], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    return None


def why_not_traced() -> str | None:
    """The reason why no step can be traced here."""
    if not TOOL.exists():
        return f"{TOOL} is not here: it traces torchtitan's steps"
    if torchtitan_python() is None:
        return "torchtitan 0.3.0 is not installed: pip install torchtitan==0.3.0 spmd_types==0.2.3"
    return None


def trace_step(options: str, folder: Path, name: str) -> dict[str, float]:
    """Time of each of torchtitan's passes on a step, in seconds of CPU time. The step's captures are then in
    the folder under its name; existing ones are reused.
    """
    times = folder / f"{name}.times.json"
    if not times.exists():
        script = Path(__file__).with_name("torchtitan_passes.py")
        command = [str(torchtitan_python()), script, TOOL, *options.split(), "--each", "--out", folder, "--name", name]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"{options}: {done.stderr[-2000:]}")
    return json.loads(times.read_text())


def tracer(steps: dict[str, str], factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Traces a step when it is first used, and returns the folder of its captures: the one in ``JOINTER_TRACES``,
    or a temporary one of the tests.
    """
    if reason := why_not_traced():
        pytest.skip(reason)
    folder = Path(os.environ.get("JOINTER_TRACES") or factory.mktemp("graph_trainer"))

    @functools.cache
    def trace(name: str) -> Path:
        trace_step(steps[name], folder, name)
        return folder

    return trace


def passes_of(folder: Path, step: str) -> list[tuple[str, Path, Path]]:
    """torchtitan's passes in the order they ran, each with the captures before and after it."""
    captures = [folder / f"{step}.traced.json.zst", *sorted(folder.glob(f"{step}.after_[0-9]*.json.zst"))]
    return [
        (re.sub(r"^.*\.after_\d+_|_pass\.json\.zst$", "", after.name), before, after)
        for before, after in zip(captures, captures[1:])
    ]


def around(folder: Path, step: str, name: str) -> tuple[Path, Path]:
    """The captures before and after a pass."""
    return next((before, after) for each, before, after in passes_of(folder, step) if each == name)


def as_ours(name: str, options: str) -> str:
    """Our pass of that name, with arguments that match the step's options."""
    policy = re.search(r"--policy (\w+)", options)
    suffixes = {
        "tag_with_memory_policy": f"{{policy={policy[1] if policy else 'default'}}}",
        "schedule_fsdp_comms_to_dense_regions": "{strict=true}",
    }
    return name + suffixes.get(name, "")


def run_pass(capture: Path, pipeline: str, out: Path) -> dict[str, Any]:
    """The report of the pipeline's last step."""
    return run_passes(capture, pipeline, out)[-1]


def base_of(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def mapped(value: Any, names: dict[str, str], groups: dict[str, str] | None = None) -> Any:
    """An argument with nodes and process groups renamed."""
    if isinstance(value, dict):
        if "n" in value:
            return {**value, "n": names.get(value["n"], value["n"])}
        return {key: mapped(each, names, groups) for key, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, names, groups) for each in value]
    return groups.get(value, value) if groups and isinstance(value, str) else value


def same_names(before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, str]:
    """Our names of new nodes -> theirs; existing nodes keep their names and places."""
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


def same_groups(before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, str]:
    """Our names of new process groups -> theirs, matched by the calls that use them."""
    new = (ours.get("groups") or {}).keys() - (before.get("groups") or {}).keys()
    groups: dict[str, str] = {}
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        for a, b in zip(mine.get("args") or [], other.get("args") or [], strict=False):
            if isinstance(a, str) and a in new:
                assert groups.setdefault(a, b) == b
    return groups


def assert_same(before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    names, groups = same_names(before, ours, theirs), same_groups(before, ours, theirs)
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        for key in ("op", "target", "args", "kwargs", "autograd_backward", "custom"):
            empty = {"kwargs": {}, "args": [], "autograd_backward": False}.get(key)
            assert mapped(mine.get(key, empty), names, groups) == other.get(key, empty), (other["name"], key)
    # Shapes, strides and offsets of new values; captures number storages in order of appearance.
    known = {node["name"] for node in before["nodes"]}
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=True):
        if other["name"] not in known:
            assert shape_of(mine.get("val")) == shape_of(other.get("val")), other["name"]


def tags(document: dict[str, Any]) -> dict[str, str]:
    """Which values are saved and which are recomputed, by node name."""
    return {node["name"]: node["recompute"] for node in document["nodes"] if node.get("recompute")}


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape_of(each) for key, each in value.items() if key != "storage"}
    if isinstance(value, list):
        return [shape_of(each) for each in value]
    return value
