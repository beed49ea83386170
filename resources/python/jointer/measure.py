"""Measures a program: step times, peak memory, and the time of each node.

Terms: an ordinary step runs the program unchanged. A *profiled* step records when each node starts
and ends, and the bytes held after it. An *isolated* step runs each node alone, to measure the
node's own time: for a collective, all ranks of its group synchronize, then the collective starts
and is waited for immediately. On a GPU, a profiled step times nodes with events; an isolated step
uses the host's clock, and synchronizes with the device before and after each node.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch

from .execute import Call, Ledger, Step, call_target, is_collective, is_wait, tensors_of
from .groups import group_names
from .local_collectives import barrier
from .profiler_ranges import ProfilerRanges
from .rank_program import RankProgram
from .retarget import captured_target

#: Number of isolated steps; a node's own time is the median over them.
_REPEATS = 3

Report = Callable[[str, int, int], None]


class Measurer:
    """Runs a program and measures it."""

    def __init__(
        self, program: RankProgram, inputs: Mapping[str, Any], memory_limit: int, report: Report
    ) -> None:
        self._program = program
        self._inputs = inputs
        self._limit = memory_limit
        self._report = report
        self._is_cuda = program.device.type == "cuda"
        self._step_ns: list[int] = []
        self._peak = 0
        self._cuda_peaks: dict[str, int] = {}
        self._memory: list[int] = []
        self._times: dict[int, list[int]] = {}
        self._own: dict[int, list[int]] = {}

    def steps(self, warmup: int, iterations: int, ranges: ProfilerRanges | None = None) -> None:
        """Run and time complete steps. Memory is measured in the warm-up, or in an additional
        step. With ``ranges``, a profiler records the timed steps, with a range for each step and
        each call."""
        for done in range(max(warmup, 1)):
            self._report("warm up", done, max(warmup, 1))
            ledger = Ledger(self._program.device, self._limit)
            self._program.step(self._inputs, ledger)
            self._peak = max(self._peak, ledger.peak)
        if self._is_cuda:
            torch.cuda.reset_peak_memory_stats()
        call = call_target if ranges is None else self._in_ranges(ranges)
        if ranges is not None:
            ranges.start()
        for done in range(iterations):
            self._report("measure", done, iterations)
            with nullcontext() if ranges is None else ranges.named(f"step {done}"):
                self._step_ns.append(self._timed_step(call))
        if ranges is not None:
            ranges.stop()  # the device has finished the last step
        if self._is_cuda:
            stats = torch.cuda.memory_stats()
            kinds = ("allocated", "requested", "reserved")
            self._cuda_peaks = {kind: stats[f"{kind}_bytes.all.peak"] for kind in kinds}

    def profile(self) -> None:
        """Measure memory and the time of every node."""
        total = 1 + _REPEATS
        self._report("profile", 0, total)
        self._profiled_step()
        for done in range(_REPEATS):
            self._report("profile", 1 + done, total)
            self._isolated_step()

    def figures(self) -> dict[str, Any]:
        """The keys of a ``measured`` event."""
        peaks = self._cuda_peaks
        result: dict[str, Any] = {
            "step_ns": self._step_ns,
            "peak_bytes": peaks.get("allocated", self._peak),
            "requested_peak_bytes": peaks.get("requested", self._peak),
            "reserved_peak_bytes": peaks.get("reserved", self._peak),
            "resident_peak_bytes": self._peak,
        }
        if self._memory:
            result["memory_profile"] = self._memory
        if self._times:
            positions = sorted(self._times)
            result["nodes"] = {
                "position": positions,
                "start_ns": [self._times[p][0] for p in positions],
                "end_ns": [self._times[p][1] for p in positions],
                "own_ns": [int(statistics.median(self._own[p])) for p in positions],
            }
        return result

    def _in_ranges(self, ranges: ProfilerRanges) -> Call:
        names = {
            step.position: f"{step.node.name} {captured_target(step.node)}"
            for step in self._program.steps
            if step.node.op == "call_function"
        }

        def call(step: Step, args: tuple, kwargs: dict) -> Any:
            with ranges.named(names[step.position]):
                return call_target(step, args, kwargs)

        return call

    def _timed_step(self, call: Call) -> int:
        barrier()
        if not self._is_cuda:
            began = time.perf_counter_ns()
            self._program.step(self._inputs, call=call)
            return time.perf_counter_ns() - began
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        self._program.step(self._inputs, call=call)
        last.record()
        torch.cuda.synchronize()
        return int(first.elapsed_time(last) * 1e6)

    def _profiled_step(self) -> None:
        """Measure the time of each node in an ordinary step, and the bytes held after it."""
        clock = _Clock(self._is_cuda)
        starts: dict[int, Any] = {}
        ends: dict[int, Any] = {}

        def call(step: Step, args: tuple, kwargs: dict) -> Any:
            starts[step.position] = clock.now()
            try:
                return call_target(step, args, kwargs)
            finally:
                ends[step.position] = clock.now()

        ledger = Ledger(self._program.device, self._limit)
        memory: list[int] = []
        origin: list[Any] = []

        def started() -> None:
            memory.append(ledger.bytes)
            origin.append(clock.now())

        def after(step: Step, before: int, held: int) -> None:
            memory.extend((before, held))

        barrier()
        self._program.step(self._inputs, ledger, call, after, started)
        clock.settle()
        self._memory = memory
        for position, start in starts.items():
            begin, end = clock.between(origin[0], start), clock.between(origin[0], ends[position])
            self._times[position] = [begin, end]
        for collective, wait in self._program.waits.items():
            if collective in self._times and wait in self._times:
                self._times[collective][1] = self._times[wait][1]

    def _isolated_step(self) -> None:
        """Measure the time of each node alone."""

        def call(step: Step, args: tuple, kwargs: dict) -> Any:
            if is_collective(step.node):
                for name in group_names(step.node):
                    barrier(_group(name))
            self._settle()
            began = time.perf_counter_ns()
            result = call_target(step, args, kwargs)
            if is_collective(step.node) and not is_wait(step.node):
                for tensor in tensors_of(result):
                    torch.ops._c10d_functional.wait_tensor(tensor)
            self._settle()
            self._own.setdefault(step.position, []).append(time.perf_counter_ns() - began)
            return result

        self._program.step(self._inputs, call=call)

    def _settle(self) -> None:
        if self._is_cuda:
            torch.cuda.synchronize()


def _group(name: str) -> Any:
    from torch._C._distributed_c10d import _resolve_process_group

    return _resolve_process_group(name)


class _Clock:
    """Points in time, of the process or of the device's stream."""

    def __init__(self, is_cuda: bool) -> None:
        self._is_cuda = is_cuda

    def now(self) -> Any:
        """Record the current point."""
        if not self._is_cuda:
            return time.perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def settle(self) -> None:
        """Wait until all points have passed."""
        if self._is_cuda:
            torch.cuda.synchronize()

    def between(self, first: Any, last: Any) -> int:
        """Nanoseconds from one point to another."""
        return int(first.elapsed_time(last) * 1e6) if self._is_cuda else last - first
