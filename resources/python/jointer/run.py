"""Runs a training script so that every joint graph it compiles leaves a capture.

The script runs as it would alone: same arguments, same results. Nothing in it needs to know.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .backend import capturing

#: One file for each rank and joint graph.
FILE_NAME = "rank{rank}.{n}.{kind}.json.zst"

_PYTHONS = ("python", "python3", Path(sys.executable).name)
_TORCHRUN_MODULE = ["-m", "torch.distributed.run"]


class UsageError(ValueError):
    """The command is not one that can be run with captures."""


def run(command: Sequence[str], out: str | os.PathLike[str], *, pair: bool = False) -> int:
    """Run ``command`` with captures into the folder ``out``.

    Args:
        command: ``[python] script.py ...``, ``[python] -m module ...`` or ``torchrun ... script.py
            ...``; the latter starts its workers with captures.
        out: made if it is not there; files are named ``rank{rank}.{n}.{kind}.json.zst``.
        pair: also capture what the partitioner makes of each joint graph.

    Returns:
        the exit status, 0 if the script ended by itself.

    Raises:
        UsageError: another form of command.
    """
    out = Path(out).absolute()
    command = list(command)
    if command and Path(command[0]).name in _PYTHONS:
        command = command[1:]
    if command and (Path(command[0]).name == "torchrun" or command[:2] == _TORCHRUN_MODULE):
        skipped = 2 if command[0] == "-m" else 1
        return _run_workers(command[skipped:], out, pair)
    if not command or not (command[0].endswith(".py") or command[0] == "-m" and command[1:]):
        raise UsageError(
            f"cannot capture {' '.join(command) or 'nothing'!r}: give script.py ..., "
            "-m module ... or torchrun ... script.py ..."
        )
    return _run_here(command, out / FILE_NAME, pair)


def _run_here(command: list[str], path: Path, pair: bool) -> int:
    is_module = command[0] == "-m"
    target, *arguments = command[1:] if is_module else command
    before = sys.argv, list(sys.path)
    sys.argv = [target, *arguments]
    sys.path[:0] = [os.getcwd() if is_module else str(Path(target).absolute().parent)]
    try:
        with capturing(path, pair=pair, command=" ".join(sys.argv)):
            if is_module:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(target, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _run_workers(command: list[str], out: Path, pair: bool) -> int:
    """``torchrun`` with this module put before the script that it starts."""
    from torch.distributed.run import get_args_parser

    options = get_args_parser().parse_args(command)
    if options.no_python:
        raise UsageError("cannot capture torchrun --no-python: give it a Python script")
    position = len(command) - len(options.training_script_args) - 1
    launcher = [each for each in command[:position] if each not in ("-m", "--module")]
    script = ["-m", options.training_script] if options.module else [options.training_script]
    captured = ["-m", "jointer", "run", "--out", str(out), *(["--pair"] if pair else []), "--"]
    package = str(Path(__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [
            sys.executable,
            *_TORCHRUN_MODULE,
            *launcher,
            *captured,
            *script,
            *options.training_script_args,
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    ).returncode
