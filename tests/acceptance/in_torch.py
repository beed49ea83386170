"""Runs a graph in this Python's torch, for comparison with the runner: its kernels as torch.profiler measures them, and
the step time of the graph that torch.compile makes of it.

    python -m acceptance.in_torch GRAPH cuda|cpu

Rank 0 runs alone, with local copies for collectives. Prints a JSON object:

    kernels      name -> [number of launches, nanoseconds of all of them], of one step; empty on the CPU
    compile_ms   the median step time; missing if the graph is a pair or cannot be compiled
    problem      why it cannot be compiled
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import torch

from jointer.program import read_program
from jointer.rank_program import RankProgram

_WARMUP, _STEPS = 3, 10


def main() -> int:
    graph, on = sys.argv[1:]
    device = torch.device(on)
    captured = read_program(graph, None, rank=0, assume={})
    program = RankProgram(captured, device, alone=True)
    inputs = program.inputs(seed=0, rank=0)
    answer: dict[str, Any] = {"kernels": _kernels(program, inputs, device)}
    if not captured.is_pair:
        try:
            answer["compile_ms"] = _compiled_ms(captured.parts[0].gm, program, inputs, device)
        except Exception as error:  # of the compiler
            answer["problem"] = str(error).splitlines()[0] if str(error) else type(error).__name__
    print(json.dumps(answer))
    return 0


def _kernels(program: RankProgram, inputs: dict[str, Any], device: torch.device) -> dict[str, list[int]]:
    if device.type == "cpu":
        return {}
    from torch.profiler import ProfilerActivity, profile

    for _ in range(_WARMUP):
        program.step(inputs)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as traced:
        program.step(inputs)
        torch.cuda.synchronize()
    kernels: dict[str, list[int]] = {}
    for event in traced.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            found = kernels.setdefault(event.name, [0, 0])
            found[0] += 1
            found[1] += round(1000 * event.time_range.elapsed_us())
    return kernels


def _compiled_ms(
    gm: torch.fx.GraphModule, program: RankProgram, inputs: dict[str, Any], device: torch.device
) -> float:
    values = [inputs[node.name] for node in program.placeholders]
    compiled = torch.compile(gm)
    times = []
    with torch.no_grad():
        for step in range(_WARMUP + _STEPS):
            start = _now(device)
            compiled(*values)
            if step >= _WARMUP:
                times.append(_now(device) - start)
    return statistics.median(times)


def _now(device: torch.device) -> float:
    """Milliseconds, when the device has finished."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    return 1000 * time.perf_counter()


if __name__ == "__main__":
    sys.exit(main())
