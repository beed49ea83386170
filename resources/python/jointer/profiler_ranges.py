"""Ranges for a profiler such as Nsight Systems, under which this process runs.

app/runner/cuda/nvtx.cpp does the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class ProfilerRanges:
    """Tells the profiler which part to record, and names ranges of it."""

    def start(self) -> None:
        """The profiler records from here on."""
        torch.cuda.profiler.start()

    def stop(self) -> None:
        """The profiler no longer records."""
        torch.cuda.profiler.stop()

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """A range of this thread; ranges nest."""
        torch.cuda.nvtx.range_push(name)
        try:
            yield
        finally:
            torch.cuda.nvtx.range_pop()
