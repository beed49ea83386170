"""Builds the examples as a user does: outside the source tree, against an installation.

``JOINTER_BIN`` names the folder of the built programs. Needs pytest, cmake and a compiler. Tests that
need torch are skipped unless ``JOINTER_PYTHON`` is a Python that has it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
PYTHON = os.environ.get("JOINTER_PYTHON", sys.executable)
SAMPLE = ROOT / "resources" / "samples"

GRAPH = """
class Late(torch.nn.Module):
    def forward(self, x: "f32[8, 8][8, 1]cpu"):
        zero: "f32[8, 8][8, 1]cpu" = torch.ops.aten.full.default([8, 8], 0.0)
        a: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(x, x)
        b: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(a, x)
        c: "f32[8, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(b, zero)
        return (c,)
"""


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(each) for each in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def done(*command: object, **environment: str) -> str:
    process = run(*command, **environment)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example plugin, built against a temporary installation."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    prefix, build = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("example")
    done("cmake", "--install", BIN.parent, "--component", "plugins", "--prefix", prefix)
    source = build / "source"
    shutil.copytree(ROOT / "plugins" / "example_cpp", source)
    done("cmake", "-S", source, "-B", build / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    done("cmake", "--build", build / "build", "-j", "2")
    done("ctest", "--test-dir", build / "build", "--output-on-failure")
    return build / "build" / "example_plugin.plugin"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "late.txt"
    path.write_text(GRAPH)
    return path


def order(path: Path) -> list[str]:
    return [node["name"] for node in json.loads(path.read_text())["nodes"]]


LATE = ["x", "a", "b", "zero", "c", "output"]


def test_the_cpp_example_runs(plugin: Path, graph: Path, tmp_path: Path) -> None:
    listed = json.loads(done(BIN / "jointer", "passes", "sink_calls", "--json", "--plugin", plugin))
    [found] = listed["passes"]
    assert found["source"] == f"plugin: {plugin}"
    assert [p["name"] for p in found["parameters"]] == ["operators", "most"]
    out, recipe = tmp_path / "out.json", tmp_path / "recipe.json"
    answer = json.loads(
        done(
            *(BIN / "jointer", "apply", graph, "--plugin", plugin, "--passes", "sink_calls"),
            *("-o", out, "--save-recipe", recipe, "--json", "--decisions"),
        )
    )
    assert answer["passes"][0]["moved"] == 1
    assert answer["decisions"][0]["reason"] == "c is the first call that reads it."
    assert order(out) == LATE
    # Its changes form a recipe like any other.
    again = tmp_path / "again.json"
    done(BIN / "jointer", "apply", graph, "--recipe", recipe, "-o", again)
    assert order(again) == LATE


def test_a_found_plugin_runs_only_if_allowed(
    plugin: Path, graph: Path, tmp_path: Path
) -> None:
    shutil.copytree(plugin, tmp_path / "found" / "example")
    path = {"JOINTER_PLUGIN_PATH": str(tmp_path / "found")}
    listed = json.loads(done(BIN / "jointer", "passes", "sink_calls", "--json", **path))
    assert listed["passes"][0]["source"] == f"plugin: {tmp_path / 'found' / 'example'}"
    apply = (BIN / "jointer", "apply", graph, "--passes", "sink_calls", "--json")
    refused = run(*apply, **path)
    assert refused.returncode == 2
    assert "--allow-plugins" in refused.stderr
    assert json.loads(done(*apply, "--allow-plugins", **path))["passes"][0]["moved"] == 1


def has_torch() -> bool:
    return run(PYTHON, "-c", "import torch").returncode == 0


def test_the_python_example_runs(graph: Path, tmp_path: Path) -> None:
    if not has_torch():
        pytest.skip("no torch: set JOINTER_PYTHON to a Python that has it")
    source = ROOT / "plugins" / "example_python"
    out = tmp_path / "out.json"
    done(
        *(BIN / "jointer", "apply", graph, "--python-pass", source / "sink_calls.py"),
        *("--passes", 'sink_calls{operators=["aten.full.*"]}', "-o", out),
        JOINTER_PYTHON=PYTHON,
    )
    assert order(out) == LATE
    # The same, called from training code.
    package = str(ROOT / "resources" / "python")
    done(PYTHON, "-m", "pytest", "-q", source, PYTHONPATH=package)


@pytest.mark.slow
def test_a_failure_is_one_line_and_a_reproducer(graph: Path, tmp_path: Path) -> None:
    if not has_torch():
        pytest.skip("no torch: set JOINTER_PYTHON to a Python that has it")
    broken = tmp_path / "broken.py"
    broken.write_text("def broken(gm):\n    raise ValueError('no')\n")
    reproducer = tmp_path / "reproducer.json"
    failed = run(
        *(BIN / "jointer", "apply", graph, "--python-pass", f"{broken}:broken"),
        *("--passes", "broken", "--reproducer", reproducer),
        JOINTER_PYTHON=PYTHON,
    )
    assert failed.returncode == 4
    last = failed.stderr.splitlines()[-1]
    assert "broken: raised ValueError: no (broken.py:2)" in last
    assert f"--python-pass '{broken}:broken'" in last
    assert json.loads(reproducer.read_text())["reproducer"]["pipeline"] == "broken"
