"""Runs third-party passes that misbehave: the graph is unchanged, the message names the pass and the cause,
and the command at the end of the message reproduces the failure.

``JOINTER_BIN`` names the folder of the built programs; the passes are in ``bad_passes.cpp``.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
PYTHON = os.environ.get("JOINTER_PYTHON", sys.executable)
MODULES = BIN.parent / "tests" / "plugins" / "modules"
SAMPLE = ROOT / "resources" / "samples" / "llama_debug_fsdp2.joint.json.zst"


def limits(name: str) -> list[str]:
    """Only a pass that never ends reaches this deadline, however busy the machine is."""
    return ["--pass-deadline", "1" if name == "loop" else "60", "--pass-memory", "400MiB"]


BAD = {
    "throw_exception": "threw an exception: the sky fell",
    "throw_number": "threw an object that is not a std::exception",
    "loop": "did not end within 1 s",
    "eat_memory": "exceeded the memory limit of 400 MiB",
    "crash": "the process ended without an answer: killed by signal 11",
    "leave": "the process ended without an answer: exit code 0",
    "break_order": "produced an invalid graph",
    "write_garbage": "an invalid message",
}


def jointer(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "jointer"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=cwd,
        env={**os.environ, "JOINTER_PYTHON": PYTHON},
    )


def fails(tmp_path: Path, words: str, name: str, *arguments: object) -> None:
    """Runs a pipeline of a valid step and the pass, then the command that the message suggests."""
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
    message, command = said.split("; to reproduce it: ")
    again_words = shlex.split(command)
    assert again_words[0] == "jointer" and again_words[2] == str(reproducer)
    again = jointer(*again_words[1:], "--reproducer", tmp_path / "again.json", cwd=tmp_path)
    assert again.returncode == 4
    assert again.stderr.splitlines()[-1].split("; to reproduce it: ")[0] == message


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bad passes, installed as a plugin."""
    folder = tmp_path_factory.mktemp("plugin") / "bad_passes"
    folder.mkdir()
    if not (MODULES / "bad_passes.so").exists():
        pytest.skip("the tests' plugins are not built")
    library = shutil.copy(MODULES / "bad_passes.so", folder)
    subprocess.run([BIN / "jointer-plugin-host", "--describe", library, "For tests."], check=True)
    return folder


@pytest.mark.parametrize("name", BAD)
def test_a_plugin(name: str, plugin: Path, tmp_path: Path) -> None:
    fails(tmp_path, BAD[name], name, "--plugin", plugin, *limits(name))


#: Python passes that break a graph, and the error messages.
BROKEN = {
    "breaks_order": (
        "calls[0].prepend(calls[-1])",
        "the returned graph is invalid",
    ),
    "fewer": (
        "end.args = (end.args[0][:-1],)",
        "returned 25 outputs instead of 26; a pass must keep the graph's inputs and outputs",
    ),
    "drop_first": (
        "end.args = (end.args[0][1:],)",
        "returned 25 outputs instead of 26",
    ),
    "none_output": (
        "end.args = ((None, *end.args[0][1:]),)",
        "returned None as output 0 instead of _unsafe_view_18",
    ),
    "swap_outputs": (
        "a, b, *rest = end.args[0]; end.args = ((b, a, *rest),)",
        "returned wait_tensor_41 (f32[1024, 256] on cpu) as output 0 instead of _unsafe_view_18",
    ),
    "swap_inputs": (
        "inputs[0].prepend(inputs[1])",
        "changed the order of the inputs: primals_2 is in the position of primals_1",
    ),
    "drop_input": (
        "gm.graph.erase_node(next(each for each in inputs if not each.users))",
        "removed the input primals_24",
    ),
    "add_input": (
        "gm.graph.inserting_after(inputs[-1]).__enter__(); "
        "gm.graph.placeholder('extra').meta['val'] = inputs[0].meta['val']",
        "added the input extra",
    ),
    "other_input": (
        "inputs[0].meta['val'] = inputs[0].meta['val'].new_empty((7, 7))",
        "changed the input primals_1 from f32[",
    ),
    "other_value": (
        "calls[3].meta['val'] = calls[3].meta['val'].new_empty((7, 7))",
        "meta['val'] is float32[7, 7], but _c10d_functional.all_gather_into_tensor.default "
        "returns float32[256]",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_python_pass(name: str, tmp_path: Path) -> None:
    needs_torch()
    body, words = BROKEN[name]
    passes = tmp_path / "bad.py"
    passes.write_text(
        f"def {name}(gm):\n"
        "    inputs = gm.graph.find_nodes(op='placeholder')\n"
        "    calls = [n for n in gm.graph.nodes if n.op == 'call_function']\n"
        "    end = gm.graph.output_node()\n"
        f"    {body}\n"
    )
    fails(tmp_path, words, name, "--python-pass", f"{passes}:{name}")


@pytest.mark.slow
def test_a_reproducer_is_run_as_the_pass_was(tmp_path: Path) -> None:
    """A reproducer runs from another folder, with the options that a pass can see. The message, and the
    error of `apply` without passes, have the command.
    """
    needs_torch()
    (tmp_path / "here").mkdir()
    (tmp_path / "bad.py").write_text("def raises(gm):\n    raise ValueError('no')\n")
    options = ["--budget", "1GiB", "--estimator", "simple{coll_us=20}", "--optimizer", "adamw"]
    options += ["--device", "h200", "--gpus-per-node", "4", "--assume", "64"]
    options += ["--pass-deadline", "60", "--pass-memory", "4GiB"]
    failed = jointer(
        "apply", SAMPLE, "--python-pass", "mine=../bad.py:raises", "--passes", "mine", *options,
        cwd=tmp_path / "here",
    )  # fmt: skip
    message, command = failed.stderr.splitlines()[-1].split("; to reproduce it: ")
    words = shlex.split(command)
    for name in options[::2]:
        expected = {"--budget": f"{1 << 30}B"}.get(name, options[options.index(name) + 1])
        assert words[words.index(name) + 1] == expected, command
    assert words[words.index("--python-pass") + 1] == f"mine={tmp_path / 'bad.py'}:raises"
    again = jointer(*words[1:], cwd=tmp_path)
    assert again.returncode == 4 and again.stderr.splitlines()[-1].startswith(message + "; "), again
    # Without passes nothing runs, and the message names the command that made the file.
    reproducer = tmp_path / "here" / "jointer-reproducer.mine.json.zst"
    said = jointer("apply", reproducer, cwd=tmp_path)
    assert said.returncode == 2 and said.stderr.rstrip().endswith(
        f"(-o); this is a reproducer: {command}"
    ), said


@pytest.mark.slow
def test_an_interrupted_pass_leaves_nothing(tmp_path: Path) -> None:
    needs_torch()
    (tmp_path / "slow.py").write_text(
        "import sys, time\ndef sleeps(gm):\n    print('asleep')\n    time.sleep(100)\n"
    )
    folder = tmp_path / "tmp"
    folder.mkdir()
    command = ["apply", str(SAMPLE), "--python-pass", "slow.py:sleeps", "--passes", "sleeps"]
    with subprocess.Popen(
        [str(BIN / "jointer"), *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "JOINTER_PYTHON": PYTHON, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert "asleep" in next(line for line in process.stderr if line.startswith("sleeps"))
        assert list(folder.glob("jointer-pass.*"))
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=600)
    assert process.returncode == 130 and printed == "" and said == "jointer: interrupted\n"
    assert not list(folder.glob("jointer-pass.*"))
    assert not list(tmp_path.glob("jointer-reproducer.*"))


def test_plugins_that_cannot_be_loaded_are_reported(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "plugin.json").write_text("[]")
    done = subprocess.run(
        [BIN / "jointer", "passes", "--json"], capture_output=True, text=True, check=True,
        env={**os.environ, "JOINTER_PLUGIN_PATH": str(tmp_path)},
    )  # fmt: skip
    note = f"{tmp_path}/broken/plugin.json: not a plugin description: expected a JSON object"
    assert note in json.loads(done.stdout)["notes"] and note in done.stderr


@pytest.mark.slow
def test_outdated_values_of_a_pass_are_recomputed(tmp_path: Path) -> None:
    """If a pass changes arguments, the value of the call no longer fits, and is inferred anew."""
    needs_torch()
    passes = tmp_path / "stale.py"
    passes.write_text(
        "import torch\n"
        "def halve(gm):\n"
        "    view = gm.graph.find_nodes(op='call_function', target=torch.ops.aten.view.default)[0]\n"
        "    with gm.graph.inserting_after(view):\n"
        "        back = gm.graph.call_function(torch.ops.aten.view.default, (view, view.args[1]))\n"
        "    view.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)\n"
        "    view.args = (view.args[0], [-1])\n"
    )
    out = tmp_path / "out.json"
    done = jointer(
        "apply", SAMPLE, "--python-pass", f"{passes}:halve", "--passes", "halve", "-o", out, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    views = [n for n in json.loads(out.read_text())["nodes"] if n["target"] == "aten.view.default"]
    assert [len(each["val"]["t"]["shape"]) for each in views[:2]] == [1, 2], views[:2]


def needs_torch() -> None:
    if subprocess.run([PYTHON, "-c", "import torch"], check=False).returncode != 0:
        pytest.skip("no torch: set JOINTER_PYTHON to a Python that has it")
