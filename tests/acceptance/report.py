"""The report of an acceptance run: one row per check, with the number and its bound."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .bench import OutOfTime


@dataclass
class Row:
    check: str
    bound: str
    figure: str
    status: str  # passed, FAILED, skipped
    seconds: float = 0.0


@dataclass
class Report:
    """Prints each row immediately, and writes all of them to report.json and report.txt."""

    folder: Path
    machine: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    _last: float = field(default_factory=time.monotonic)

    def add(self, check: str, bound: str, figure: str, passed: bool | None) -> None:
        """``passed``: None if the check is not possible here; ``figure`` then says why."""
        status = "skipped" if passed is None else "passed" if passed else "FAILED"
        now = time.monotonic()
        row = Row(check, bound, figure, status, round(now - self._last, 1))
        self._last = now
        self.rows.append(row)
        print(self._line(row), flush=True)
        self.write()

    @property
    def failed(self) -> int:
        return sum(row.status == "FAILED" for row in self.rows)

    def write(self) -> None:
        data = {"machine": self.machine, "rows": [asdict(row) for row in self.rows]}
        (self.folder / "report.json").write_text(json.dumps(data, indent=1) + "\n")
        lines = [f"{key}: {value}" for key, value in self.machine.items()]
        lines += ["", *map(self._line, self.rows), "", self.summary()]
        (self.folder / "report.txt").write_text("\n".join(lines) + "\n")

    def summary(self) -> str:
        counts = {s: sum(r.status == s for r in self.rows) for s in ("passed", "FAILED", "skipped")}
        return ", ".join(f"{count} {status}" for status, count in counts.items())

    @staticmethod
    def _line(row: Row) -> str:
        return f"{row.status:7} {row.seconds:6.1f} s  {row.check}: {row.figure} (bound: {row.bound})"


def attempt(report: Report, name: str, check: Callable[[], None]) -> bool:
    """Makes a check, and returns true unless its time was over before it started. An unexpected error
    and the end of the time are rows of the report, and the other checks follow."""
    try:
        check()
    except OutOfTime as late:
        report.add(name, "can be checked", str(late), None)
        return late.has_started
    except Exception as error:
        report.add(name, "can be checked", f"{type(error).__name__}: {error}", False)
    return True


def describe_machine(on: str) -> dict[str, Any]:
    """The driver, its GPUs and the versions of libraries, as far as they can be determined."""
    facts: dict[str, Any] = {"system": platform.platform(), "on": on}
    try:
        import torch

        facts["torch"] = torch.__version__
        facts["CUDA of torch"] = torch.version.cuda
        facts["cuDNN"] = torch.backends.cudnn.version()
        if torch.cuda.is_available():
            facts["NCCL"] = ".".join(map(str, torch.cuda.nccl.version()))
    except ImportError:
        facts["torch"] = "not found"
    try:
        query = "name,driver_version,memory.total,memory.used,clocks.sm,power.draw,temperature.gpu"
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
        facts["GPUs"] = answer.stdout.strip().splitlines()
    except (OSError, subprocess.SubprocessError) as error:
        facts["GPUs"] = f"nvidia-smi: {error}"
    return facts
