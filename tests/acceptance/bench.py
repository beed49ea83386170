"""Runs ``jointer`` and reads its results."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


TIMED_OUT = 124  # as the program timeout


class OutOfTime(Exception):
    """The time of --minutes is over."""

    def __init__(self, seconds: float | None = None) -> None:
        """``seconds``: the time after which the check was stopped; None if it has not started."""
        super().__init__("not run: time" if seconds is None else f"stopped after {seconds:.0f} s: time")
        self.has_started = seconds is not None


def title(sample: Path) -> str:
    """The name of a sample, without the suffixes of its file."""
    return sample.name.removesuffix(".zst").removesuffix(".json")


@dataclass
class Bench:
    """The programs under test, the device that they run on, the folder for their output, and the
    time at which all runs end."""

    bin: Path
    on: str
    work: Path
    end: float = float("inf")

    @property
    def left(self) -> float:
        """The seconds until the end; negative after it."""
        return self.end - time.monotonic()

    def require(self, seconds: float = 0) -> None:
        """Raises OutOfTime if no more than ``seconds`` are left."""
        if self.left <= seconds:
            raise OutOfTime

    def finish(self, running: subprocess.Popen[str], timeout: float) -> subprocess.CompletedProcess[str]:
        """Waits for a process and returns its output. Ends it after the timeout, and then returns the
        exit code TIMED_OUT, or at the end of the time, and then raises OutOfTime."""
        limit = max(0.0, min(timeout, self.left))
        try:
            output, error = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()  # not for the end of its output, which its children may keep open
            if limit < timeout:
                raise OutOfTime(limit) from None
            return subprocess.CompletedProcess([], TIMED_OUT, "", f"not done after {timeout:.0f} s")
        return subprocess.CompletedProcess([], running.returncode, output, error)

    def execute(
        self, command: list[str], timeout: float, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program as ``finish`` does. Raises OutOfTime if no time is left."""
        self.require()
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        return self.finish(running, timeout)

    def command(self, graph: Path, *options: str) -> list[str]:
        on = [] if "--on" in options else ["--on", self.on]
        return [str(self.bin / "jointer"), "bench", str(graph), *on, *options]

    def run(self, graph: Path, *options: str, timeout: float = 300, env: dict[str, str] | None = None):
        """Runs a benchmark and waits until it ends, or until the timeout. Raises OutOfTime."""
        started = time.monotonic()
        command = [*self.command(graph, *options), "--json"]
        done = self.execute(command, timeout, env={**os.environ, **(env or {})})
        return Outcome.of(done, time.monotonic() - started)


@dataclass
class Outcome:
    """The result of a benchmark, or the error if there is none."""

    code: int
    result: dict[str, Any]
    error: str
    seconds: float

    @classmethod
    def of(cls, done: subprocess.CompletedProcess[str], seconds: float) -> Outcome:
        try:
            result = json.loads(done.stdout)
        except json.JSONDecodeError:
            result = {}
        return cls(done.returncode, result, done.stderr.strip(), seconds)

    @property
    def rank(self) -> dict[str, Any]:
        """The first rank's row."""
        return (self.result.get("ranks") or [{}])[0]

    @property
    def failure(self) -> str:
        """Empty if the run succeeded."""
        if self.result.get("succeeded"):
            return ""
        last = self.error.splitlines()[-1:] or [""]
        return self.result.get("failure") or last[0] or f"exit code {self.code}"

    @property
    def is_impossible(self) -> bool:
        """True if the run did not end in time, or if this machine lacks GPUs or memory for it."""
        lacks = ("GPUs, but this machine has", ", but its GPU has", ", but its share of")
        return self.code == TIMED_OUT or any(lack in self.error for lack in lacks)

    @property
    def step_ms(self) -> float:
        """The median step time; 0 if nothing was measured."""
        return (self.result.get("measured") or {}).get("step_ms") or 0.0

    def explain(self) -> str:
        """The failure, with its rank, node and kind."""
        parts = [self.rank.get(key) for key in ("status", "kind", "stage", "node", "reason")]
        return ", ".join(str(part) for part in parts if part) or self.failure
