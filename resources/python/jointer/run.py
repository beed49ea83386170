"""Runs a training script and captures each joint graph that it compiles, and each graph that it
exports or traces (``backend.capturing``).

The script runs unchanged, with the same arguments and results as without capturing. If it succeeds
but no graph was captured, the reason is printed and the exit code is ``NO_GRAPH``; under
``torchrun``, if no worker captured a graph.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .backend import capturing

#: Exit code of a run that captured no graph.
NO_GRAPH = 1

#: Environment variable for the folder in which each worker reports its captures in a file.
_NOTES = "JOINTER_CAPTURE_NOTES"

#: One file per rank and graph.
FILE_NAME = "rank{rank}.{n}.{kind}.json.zst"

_PYTHONS = ("python", "python3", Path(sys.executable).name)
_TORCHRUN_MODULE = ["-m", "torch.distributed.run"]


class UsageError(ValueError):
    """The command cannot be run with captures."""


def run(
    command: Sequence[str],
    out: str | os.PathLike[str],
    *,
    pair: bool = False,
    each_pass: bool = False,
) -> int:
    """Run ``command`` with captures into the folder ``out``.

    Args:
        command: ``[python] script.py ...``, ``[python] -m module ...``, or ``torchrun`` (also
            ``[python] -m torch.distributed.run``) with its options and a script or a module; the
            latter starts its workers with captures.
        out: created if missing; files are named ``rank{rank}.{n}.{kind}.json.zst``.
        pair: also capture the pair that the partitioner makes of each joint graph.
        each_pass: also capture graph_trainer's training step after each of its passes; these files
            are named ``rank{rank}.{n}.{kind}.after_01_NAME.json.zst``.

    Returns:
        the script's exit code, or ``NO_GRAPH`` if the script succeeded without a capture.

    Raises:
        UsageError: the command is not supported, or the script does not exist.
    """
    out = Path(out).absolute()
    command = list(command)
    if command and Path(command[0]).name in _PYTHONS:
        command = command[1:]
    if command and (Path(command[0]).name == "torchrun" or command[:2] == _TORCHRUN_MODULE):
        skipped = 2 if command[0] == "-m" else 1
        return _run_workers(command[skipped:], out, pair, each_pass)
    if not command or not (command[0].endswith(".py") or command[0] == "-m" and command[1:]):
        what = repr(" ".join(command)) if command else "an empty command"
        raise UsageError(
            f"cannot capture {what}; give script.py ..., -m module ... or torchrun ... "
            "script.py ..."
        )
    if command[0] != "-m":
        _check_script(command[0])
    return _run_here(command, out / FILE_NAME, pair, each_pass)


def _check_script(script: str) -> None:
    if not Path(script).is_file():
        raise UsageError(f"{script}: no such file")


def _run_here(command: list[str], path: Path, pair: bool, each_pass: bool) -> int:
    is_module = command[0] == "-m"
    target, *arguments = command[1:] if is_module else command
    before = sys.argv, list(sys.path)
    sys.argv = [target, *arguments]
    sys.path[:0] = [os.getcwd() if is_module else str(Path(target).absolute().parent)]
    code = 0
    try:
        with capturing(
            path, pair=pair, each_pass=each_pass, command=" ".join(sys.argv)
        ) as recorder:
            if is_module:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(target, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv, sys.path[:] = before
    if folder := os.environ.get(_NOTES):  # the parent reports if no worker captured a graph
        note = {"written": recorder.written, "why": recorder.why_nothing()}
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(note))
    elif code == 0 and recorder.written == 0:
        return _no_graph(recorder.why_nothing())
    return code


def _no_graph(why: str) -> int:
    print(f"jointer: no graph was captured: {why}", file=sys.stderr)
    return NO_GRAPH


def _run_workers(command: list[str], out: Path, pair: bool, each_pass: bool) -> int:
    """``torchrun`` with this module inserted before the script that it starts."""
    from torch.distributed.run import get_args_parser

    options = get_args_parser().parse_args(command)
    if options.no_python:
        raise UsageError("cannot capture torchrun --no-python; give it a Python script")
    if not options.module:
        _check_script(options.training_script)
    position = len(command) - len(options.training_script_args) - 1
    launcher = [each for each in command[:position] if each not in ("-m", "--module")]
    script = ["-m", options.training_script] if options.module else [options.training_script]
    flags = [*(["--pair"] if pair else []), *(["--each-pass"] if each_pass else [])]
    captured = ["-m", "jointer", "run", "--out", str(out), *flags, "--"]
    package = str(Path(__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory(prefix="jointer-capture.") as notes:
        code = subprocess.run(
            [
                sys.executable,
                *_TORCHRUN_MODULE,
                *launcher,
                *captured,
                *script,
                *options.training_script_args,
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), _NOTES: notes},
        ).returncode
        said = [json.loads(each.read_text()) for each in sorted(Path(notes).iterdir())]
    if code == 0 and not any(each["written"] for each in said):
        return _no_graph(said[0]["why"] if said else "no worker finished")
    return code
