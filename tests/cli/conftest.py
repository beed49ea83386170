"""Runs the built program as a user or a script does: with arguments, streams and exit codes.

Needs only pytest. ``JOINTER_BIN`` names the folder of the built programs.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
SAMPLES = ROOT / "resources" / "samples"
# A sanitizer reserves terabytes of addresses and slows everything down.
IS_SANITIZED = "asan" in BIN.parts
MIB = 1 << 20

sys.path.insert(0, str(Path(__file__).parent))


def pytest_report_header() -> str:
    return f"jointer of {BIN}"


@dataclass
class Done:
    """The result of a finished process."""

    code: int
    out: str
    err: str
    cpu_seconds: float  # independent of other load on the machine
    peak_bytes: int  # maximum resident memory

    @property
    def json(self) -> Any:
        """The object on standard output, which contains nothing else."""
        assert self.code == 0, self.err
        assert self.err == ""
        assert self.out.endswith("\n")
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def limit_memory() -> None:
    """Lets a runaway process fail instead of exhausting the machine's memory."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def run(*arguments: Any, stdin: bytes | None = None, cwd: Path | None = None) -> Done:
    # Files instead of pipes: nothing has to be read while the process runs, so os.wait4 can report
    # the resource usage of this process alone.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(stdin or b"")
        given.seek(0)
        process = subprocess.Popen(
            [str(BIN / "jointer"), *map(str, arguments)],
            stdin=given,
            stdout=out,
            stderr=err,
            cwd=cwd,
            preexec_fn=None if IS_SANITIZED else limit_memory,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Done(
            process.returncode,
            out.read().decode(errors="replace"),
            err.read().decode(errors="replace"),
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024,
        )


def refused(done: Done, *words: str, code: int = 2) -> None:
    """Checks that a command prints nothing but a line of error with these words."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("jointer: ") and done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err


@functools.cache
def answer(*arguments: Any) -> Any:
    """The JSON result of a command, cached. Callers must not modify it."""
    return run(*arguments, "--json").json


def sample(name: str) -> Path:
    path = SAMPLES / f"{name}.json.zst"
    assert path.is_file()
    return path


# A joint graph with tensor parallel and FSDP collectives.
JOINT = sample("llama_debug_tp2_fsdp2.joint")
each_sample = pytest.mark.parametrize(
    "path",
    sorted(SAMPLES.glob("*.json.zst")),
    ids=lambda path: path.name.removesuffix(".json.zst"),
)
CATEGORIES = (
    "parameter buffer input tangent constant gradient optimizer_state saved_activation recomputed "
    "temporary communication output"
).split()
