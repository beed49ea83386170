#!/usr/bin/env python3
"""Stands in for a Python with torch that runs ``python -m jointer kernels``.

``FAKE_TORCH`` is the version of torch that it claims to have: by default 2.15.0, or no torch if empty.
``FAKE_INDUCTOR`` says what it does:

- ``answer`` (default): every call of the capture is a kernel. With ``FAKE_FUSE``, a list of names separated by commas,
  these calls are one kernel.
- ``sleep``: it begins to lower and then sleeps, and so does a process that it starts.
- ``fail``, ``refuse``: it prints a message and exits with 4 or 3.
- ``babble``: it prints something other than an answer.

If ``FAKE_LOG`` names a folder, every run of the worker appends its process IDs to the file ``runs`` there. Needs only
Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

VERSION = os.environ.get("FAKE_TORCH", "2.15.0")
BYTES = 1000


def log(*processes: int) -> None:
    if folder := os.environ.get("FAKE_LOG"):
        with open(os.path.join(folder, "runs"), "a", encoding="utf-8") as file:
            file.write(" ".join(map(str, processes)) + "\n")


def say(value: Any) -> None:
    print(json.dumps(value), flush=True)


def kernel(number: int, nodes: list[str]) -> dict[str, Any]:
    return {
        "name": f"op{number}",
        "kind": "pointwise",
        "nodes": nodes,
        "reads_bytes": BYTES,
        "writes_bytes": BYTES,
        "bytes": 2 * BYTES,
        "flops": 0,
        "ms": 0.001,
        "device": "cuda",
    }


def answer(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]
    calls = [node["name"] for node in nodes if node["op"] == "call_function"]
    fused = [name for name in os.environ.get("FAKE_FUSE", "").split(",") if name in calls]
    groups = [fused] if fused else []
    groups += [[name] for name in calls if name not in fused]
    kernels = [kernel(number, group) for number, group in enumerate(groups)]
    return {
        "device": "h100",
        "source": "inductor",
        "torch": VERSION,
        "kernels": kernels,
        "device_kernels": len(kernels),
        "memory_bound": {"kernels": len(kernels), "bytes": 2 * BYTES * len(kernels)},
        "peak_bytes": 123456,
        "not_fused": [
            {"a": f"op{number}", "b": f"op{number + 1}", "reason": "no shared data"}
            for number in range(len(kernels) - 1)
        ],
    }


def main() -> int:
    if sys.argv[1] == "-c":
        print("torch", VERSION)
        return 0
    path = sys.argv[sys.argv.index("kernels") + 1]
    action = os.environ.get("FAKE_INDUCTOR", "answer")
    if action == "sleep":
        say({"stage": "lower", "done": 1, "of": 4})
        other = subprocess.Popen(["sleep", "600"], start_new_session=True)
        log(os.getpid(), other.pid)
        time.sleep(600)
    log(os.getpid())
    if action == "fail":
        print("node mm cannot be lowered: no such operator", file=sys.stderr)
        return 4
    if action == "refuse":
        print("the capture is of another world", file=sys.stderr)
        return 3
    if action == "babble":
        print("hello")
        return 0
    for stage in ("decompose", "lower", "fuse", "reorder"):
        say({"stage": stage, "done": 0, "of": 0})
    say(answer(path))
    return 0


sys.exit(main())
