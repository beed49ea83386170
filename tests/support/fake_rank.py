#!/usr/bin/env python3
"""Stands in for jointer-runner: speaks its protocol and does what a test tells it.

``FAKE_RANKS`` is JSON, ``{"0": [ACTION, ...], "*": [...]}``: the actions of each rank, with ``*`` for ranks
that are not listed. A rank without actions behaves well. An action is a list of a word and its values; see
``ACTIONS``. If ``FAKE_LOG`` names a folder, every rank writes its arguments, environment and processes there, as
``RANK.json``. Needs only Python.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[2] / "resources" / "schema" / "runner.schema.json"
STAGES = json.loads(SCHEMA.read_text())["$defs"]["progress"]["properties"]["stage"]["enum"]
RANK = int(os.environ.get("RANK", "0"))
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))


def say(event: str, **members: Any) -> None:
    print(json.dumps({"event": event, **members}), flush=True)


class Status:
    """The file of core/bench/status_file.h."""

    def __init__(self) -> None:
        self.count = 0
        path = os.environ.get("JOINTER_STATUS_FILE")
        self.words = None
        if path:
            with open(path, "r+b") as file:
                self.words = mmap.mmap(file.fileno(), 32)
            assert struct.unpack_from("=q", self.words, 0) == (0x4A4E5452,)

    def set(self, word: int, value: int) -> None:
        self.count += 1
        if self.words:
            struct.pack_into("=q", self.words, 8 * word, value)
            struct.pack_into("=q", self.words, 24, self.count)


status = Status()
processes = [os.getpid()]


def log() -> None:
    folder = os.environ.get("FAKE_LOG")
    if not folder:
        return
    note = {"arguments": sys.argv[1:], "environment": dict(os.environ), "processes": processes}
    path = os.path.join(folder, f"{RANK}.json")
    with open(path + ".new", "w") as file:
        json.dump(note, file)
    os.replace(path + ".new", path)


def started(**members: Any) -> None:
    usual = {"rank": RANK, "world_size": WORLD_SIZE, "pid": os.getpid(), "device": "Test CPU, 1 thread",
             "device_type": "cpu", "hash": "00"}
    say("started", protocol=1, **{**usual, **members})


def stage(name: str, done: int = 0, total: int = 0) -> None:
    status.set(1, STAGES.index(name))
    status.set(2, -1)
    say("progress", stage=name, done=done, total=total)


def measured(**members: Any) -> None:
    usual = {"step_ns": [3_000_000, 1_000_000, 2_000_000], "peak_bytes": 4096, "requested_peak_bytes": 4000,
             "reserved_peak_bytes": 8192, "resident_peak_bytes": 4096}
    say("measured", **{**usual, **members})


def verified(**members: Any) -> None:
    usual = {"against": "baseline", "bitwise": True, "equal": True, "max_abs_diff": 0.0, "bound": 0.0,
             "output": "", "element": 0, "compared": 3}
    say("verified", **{**usual, **members})


def hang() -> None:
    while True:
        time.sleep(60)


def live(seconds: float) -> None:
    """Reports progress only in the status file."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status.set(2, int(time.monotonic() * 1000) % 10)
        time.sleep(0.02)


def grandchild(own_session: bool = False) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
    child = subprocess.Popen([sys.executable, "-c", script], start_new_session=own_session)
    processes.append(child.pid)
    log()


def exhaust_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
    held = []
    while True:
        held.append(bytearray(1 << 24))


ACTIONS = {
    "started": lambda members=None: started(**(members or {})),
    "stage": stage,
    "at": lambda position: status.set(2, position),
    "measured": lambda members=None: measured(**(members or {})),
    "verified": lambda members=None: verified(**(members or {})),
    "note": lambda text: say("note", text=text),
    "fail": lambda kind, node, text, members=None: say(
        "failed", kind=kind, node=node, text=text, **(members or {})),
    "done": lambda: say("done"),
    "print": lambda text: (sys.stdout.write(text), sys.stdout.flush()),
    "bytes": lambda text: (sys.stdout.buffer.write(bytes.fromhex(text)), sys.stdout.flush()),
    "flood": lambda lines: [print("x" * 1000) for _ in range(lines)],
    "stderr": lambda text: print(text, file=sys.stderr, flush=True),
    "sleep": time.sleep,
    "live": live,
    "hang": hang,
    "stubborn": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "kill": lambda number: os.kill(os.getpid(), number),
    "exit": sys.exit,
    "raise": lambda text: (_ for _ in ()).throw(RuntimeError(text)),
    "grandchild": grandchild,
    "memory": exhaust_memory,
}

WELL_BEHAVED = [
    ["started"],
    *[["stage", name, i, 2] for name in ("load", "groups", "inputs", "warm up", "measure") for i in (0, 2)],
    ["measured"],
    ["done"],
]


def main() -> None:
    log()
    scripts = json.loads(os.environ.get("FAKE_RANKS", "{}"))
    for word, *values in scripts.get(str(RANK), scripts.get("*", WELL_BEHAVED)):
        ACTIONS[word](*values)


main()
