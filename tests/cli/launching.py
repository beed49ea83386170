"""Runs `jointer bench` with real ranks and checks that they leave nothing behind.

The ranks run tests/support/fake_rank.py, or the program in ``JOINTER_RUNNER`` of ``environment``.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conftest import BIN, JOINT, ROOT, answer, run

FAKE_RANK = ROOT / "tests" / "support" / "fake_rank.py"
# The actions of a rank before the ones under test.
BEGIN = [["started"], ["stage", "load"], ["stage", "measure"]]
END = [["measured"], ["done"]]


@functools.cache
def positions(path: Path = JOINT) -> dict[str, int]:
    """The position of every node in program order."""
    rows = run("export", path, "--format", "csv", "-o", "-").out.splitlines()[1:]
    return {name: int(index) for index, name in (row.split(",")[:2] for row in rows)}


@functools.cache
def collectives(path: Path = JOINT) -> list[tuple[str, str]]:
    """The starts of collectives, and their waits."""
    return [(each["node"], each["wait"]) for each in answer("overlap", path)["collectives"]]


def compute_node(path: Path = JOINT) -> str:
    return next(name for name in positions(path) if name.startswith("mm"))


def is_alive(pid: int) -> bool:
    """True while a process runs; false for a zombie that its new parent has not reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def die_soon(pids: list[int], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(is_alive, pids))


@dataclass
class Ran:
    code: int
    out: str
    err: str
    seconds: float
    ranks: dict[int, dict[str, Any]]  # each fake rank's notes
    left_over: list[str]  # temporary files

    @functools.cached_property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def pids(self) -> list[int]:
        return [pid for rank in self.ranks.values() for pid in rank["processes"]]

    def rank(self, number: int) -> dict[str, Any]:
        return self.json["ranks"][number]


@dataclass
class Bench:
    """A folder to run in, with the scripts of the ranks."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: Any, ranks: dict[str, Any] | None = None, stdin: bytes | None = None,
              **popen: Any) -> subprocess.Popen[bytes]:
        for name in ("log", "tmp"):
            (self.folder / name).mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "JOINTER_RUNNER": str(FAKE_RANK),
            "FAKE_LOG": str(self.folder / "log"),
            "FAKE_RANKS": json.dumps(ranks or {}),
            "TMPDIR": str(self.folder / "tmp"),
            **self.environment,
        }
        process = subprocess.Popen(
            [str(BIN / "jointer"), "bench", *map(str, arguments)],
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=popen.pop("stderr", subprocess.PIPE),
            env=environment,
            **popen,
        )
        if stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
            process.stdin = None
        return process

    def wait_for_ranks(self, count: int, then: float = 0.2) -> list[int]:
        """Waits until `count` ranks have written their notes; returns their processes."""
        end = time.monotonic() + 300
        while len(self.noted()) < count and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(then)
        noted = self.noted()
        assert len(noted) == count
        return [pid for rank in noted.values() for pid in rank["processes"]]

    def noted(self) -> dict[int, dict[str, Any]]:
        return {int(path.stem): json.loads(path.read_text())
                for path in (self.folder / "log").glob("*.json")}

    def finish(self, process: subprocess.Popen[bytes], started: float) -> Ran:
        out, err = process.communicate(timeout=600)
        return Ran(process.returncode, out.decode(), (err or b"").decode(), time.monotonic() - started,
                   self.noted(), sorted(path.name for path in (self.folder / "tmp").iterdir()))

    def run(self, *arguments: Any, ranks: dict[str, Any] | None = None, stdin: bytes | None = None) -> Ran:
        """Runs to the end, and checks that no process and no temporary file is left."""
        started = time.monotonic()
        ran = self.finish(self.start(*arguments, ranks=ranks, stdin=stdin), started)
        assert die_soon(ran.pids), "a process is still running"
        assert ran.left_over == []
        return ran

    def interrupt(self, *arguments: Any, count: int, ranks: dict[str, Any],
                  signal_number: int = signal.SIGINT) -> Ran:
        """Sends a signal when all ranks run. `seconds` counts from the signal."""
        process = self.start(*arguments, ranks=ranks)
        self.wait_for_ranks(count)
        sent = time.monotonic()
        process.send_signal(signal_number)
        ran = self.finish(process, sent)
        assert die_soon(ran.pids), "a process is still running"
        return ran


def python_path() -> str:
    return sys.executable
