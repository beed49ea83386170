"""Runs ranks as processes, for tests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import PACKAGE


@dataclass
class Ended:
    """The exit code and the output of a process."""

    code: int
    lines: list[dict[str, Any]]
    errors: str

    def said(self, event: str) -> list[dict[str, Any]]:
        """The process's events with that name."""
        return [line for line in self.lines if line.get("event") == event]


def environment(**more: str) -> dict[str, str]:
    """Environment of a process that imports the package; it does not probe vector instructions."""
    paths = [str(PACKAGE), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_VEC_ISA_OK": "1",
        **more,
    }


def free_port() -> int:
    """A port on which no process listens."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


def run_ranks(
    command: Sequence[str], world: int, start: int | None = None, timeout: float = 120
) -> list[Ended]:
    """Runs ``python COMMAND`` once per rank, concurrently; with ``start``, only for that many ranks."""
    port = str(free_port())
    started = [
        subprocess.Popen(
            [sys.executable, *command],
            env=environment(
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE=str(world),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port,
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world if start is None else start)
    ]
    try:
        return [_end(each, timeout) for each in started]
    finally:
        for each in started:
            each.kill()
            each.wait()


def _end(process: subprocess.Popen[str], timeout: float) -> Ended:
    out, errors = process.communicate(timeout=timeout)
    return Ended(process.returncode, [json.loads(line) for line in out.splitlines()], errors)


def check_ranks(request: Mapping[str, Any], world: int) -> list[dict[str, Any]]:
    """Results of ``rank_check.py``, one per rank."""
    usual = {"backward": None, "inputs": None, "expected": None, "packages": None}
    script = Path(__file__).with_name("rank_check.py")
    ended = run_ranks([str(script), json.dumps({**usual, **request})], world)
    for each in ended:
        assert each.code == 0, each.errors
    return [each.lines[-1] for each in ended]
