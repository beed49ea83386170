"""Passes of others that misbehave, on the command line: the graph is as before, the message names the
pass and the cause, and the command that it ends with shows the failure again.

``JOINTER_BIN`` names the folder of the built programs; ``bad_passes.cpp`` is what misbehaves.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
PYTHON = os.environ.get("JOINTER_PYTHON", sys.executable)
MODULES = BIN.parent / "tests" / "plugins" / "modules"
SAMPLE = ROOT / "resources" / "samples" / "llama_debug_fsdp2.joint.json.zst"

LIMITS = ["--pass-deadline", "1", "--pass-memory", "400MiB"]
BAD = {
    "throw_exception": "it threw: the sky fell",
    "throw_number": "it threw something that is no std::exception",
    "loop": "it did not end within 1 s",
    "eat_memory": "it wanted more memory than its limit of 400 MiB",
    "crash": "its process ended without an answer: killed by signal 11",
    "leave": "its process ended without an answer: exit code 0",
    "break_order": "it left a graph that is not sound",
    "write_garbage": "something that is no message",
}


def jointer(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "jointer"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env={**os.environ, "JOINTER_PYTHON": PYTHON},
    )


def fails(tmp_path: Path, words: str, name: str, *arguments: object) -> None:
    """A pipeline of a sound step and the pass; then what the message says to do."""
    graph, out = tmp_path / "graph.json.zst", tmp_path / "out.json"
    shutil.copy(SAMPLE, graph)
    failed = jointer(
        "apply", graph, "--passes", f"canonicalize_graph,{name}", "-o", out, *arguments, cwd=tmp_path
    )
    assert failed.returncode == 4 and failed.stdout == "", failed
    said = failed.stderr.splitlines()[-1]
    assert said.startswith(f"jointer: {name}: "), said
    assert words in said
    assert not out.exists() and graph.read_bytes() == SAMPLE.read_bytes()

    reproducer = tmp_path / f"jointer-reproducer.{name}.json.zst"
    assert json.loads(jointer("info", reproducer, "--json", cwd=tmp_path).stdout)["nodes"] > 100
    message, command = said.split("; to see it again: ")
    again_words = shlex.split(command)
    assert again_words[0] == "jointer" and again_words[2] == reproducer.name
    again = jointer(*again_words[1:], "--reproducer", tmp_path / "again.json", cwd=tmp_path)
    assert again.returncode == 4
    assert again.stderr.splitlines()[-1].split("; to see it again: ")[0] == message


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bad passes, installed as a plugin is."""
    folder = tmp_path_factory.mktemp("plugin") / "bad_passes"
    folder.mkdir()
    if not (MODULES / "bad_passes.so").exists():
        pytest.skip("the tests' plugins are not built")
    library = shutil.copy(MODULES / "bad_passes.so", folder)
    subprocess.run([BIN / "jointer-plugin-host", "--describe", library, "For tests."], check=True)
    return folder


@pytest.mark.parametrize("name", BAD)
def test_a_plugin(name: str, plugin: Path, tmp_path: Path) -> None:
    fails(tmp_path, BAD[name], name, "--plugin", plugin, *LIMITS)


def test_a_python_pass(tmp_path: Path) -> None:
    if subprocess.run([PYTHON, "-c", "import torch"], check=False).returncode != 0:
        pytest.skip("no torch here: name a Python that has it in JOINTER_PYTHON")
    passes = tmp_path / "bad.py"
    passes.write_text(
        "def breaks_order(gm):\n"
        "    calls = [n for n in gm.graph.nodes if n.op == 'call_function']\n"
        "    calls[0].prepend(calls[-1])\n"
    )
    fails(tmp_path, "the graph it returned is not sound", "breaks_order", "--python-pass", f"{passes}:breaks_order")
