#!/usr/bin/env python3
"""Measures the overhead per node, outside of kernels: jointer-runner, GraphModule.forward, fx.Interpreter.

    interpreter_overhead.py --bin BUILD/bin [--rounds N]

Uses two graphs of small tensors, whose kernels take almost no time: 1,000 additions, and the joint
graph of a small transformer. The three take turns on one thread, and the minimum for each counts,
since other work on the machine only adds time. Exits with 1 unless the runner is at least 3 times faster
per node than GraphModule.forward and 8 times faster than fx.Interpreter.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "resources" / "python"))

import jointer  # noqa: E402  (found by the line above)

STEPS = 50
FORWARD, INTERPRETER = 3.0, 8.0


def additions() -> tuple[fx.GraphModule, list[Tensor]]:
    def program(a: Tensor, b: Tensor) -> Tensor:
        for _ in range(1000):
            a = a + b
        return a

    inputs = [torch.randn(4), torch.randn(4)]
    return make_fx(program, tracing_mode="fake")(*inputs), inputs


class Block(nn.Module):
    """A transformer layer, small enough that its kernels take microseconds at most."""

    def __init__(self, dim: int = 8) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.first(x)).chunk(3, -1)
        scores = (q @ k.transpose(-1, -2)) * 0.35
        x = x + self.out(scores.softmax(-1) @ v)
        return x + self.down(nn.functional.silu(self.up(self.second(x))))


def joint() -> tuple[fx.GraphModule, list[Tensor]]:
    """Forward and backward of four layers in one graph."""
    model = nn.Sequential(*(Block() for _ in range(4)))
    x = torch.randn(1, 4, 8)
    parameters = [p.detach() for p in model.parameters()]
    names = [name for name, _ in model.named_parameters()]

    def step(*inputs: Tensor) -> tuple[Tensor, ...]:
        weights = [p.requires_grad_() for p in inputs[:-1]]
        state = dict(zip(names, weights, strict=True))
        loss = torch.func.functional_call(model, state, (inputs[-1],)).square().sum()
        return (loss.detach(), *torch.autograd.grad(loss, weights))

    inputs = [*parameters, x]
    return make_fx(step, tracing_mode="fake")(*inputs), inputs


def best_step_ns(action: Callable[[], object]) -> float:
    """The minimum over many steps, in nanoseconds."""
    action()
    best = float("inf")
    for _ in range(STEPS):
        start = time.perf_counter_ns()
        action()
        best = min(best, time.perf_counter_ns() - start)
    return best


def runner_step_ns(runner: Path, capture: Path) -> float:
    command = [str(runner), str(capture), "--on=cpu", "--threads=1", f"--iterations={4 * STEPS}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        event = json.loads(line)
        if event["event"] == "measured":
            return min(event["step_ns"])
    raise SystemExit(f"the runner measured nothing: {done.stdout[-500:]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = True
    print(f"{'graph':12}{'nodes':>7}{'runner':>11}{'forward':>11}{'Interpreter':>13}{'ratios':>16}")
    for name, (gm, inputs) in {"additions": additions(), "joint": joint()}.items():
        calls = sum(node.op == "call_function" for node in gm.graph.nodes)
        with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
            capture = Path(folder) / "graph.json.zst"
            jointer.capture(gm, capture, name=name)
            interpreter = fx.Interpreter(gm)
            best = [float("inf")] * 3
            for _ in range(options.rounds):
                best[0] = min(best[0], runner_step_ns(options.bin / "jointer-runner", capture))
                best[1] = min(best[1], best_step_ns(lambda: gm(*inputs)))
                best[2] = min(best[2], best_step_ns(lambda: interpreter.run(*inputs)))
        ours, forward, interpreted = (ns / calls for ns in best)
        ratios = forward / ours, interpreted / ours
        kept &= ratios[0] >= FORWARD and ratios[1] >= INTERPRETER
        print(
            f"{name:12}{calls:7,}{ours:8,.0f} ns{forward:8,.0f} ns{interpreted:10,.0f} ns"
            f"{ratios[0]:8.2f}{ratios[1]:8.2f}"
        )
    verdict = "kept" if kept else "NOT KEPT"
    print(f"promised: {FORWARD:.0f} times and {INTERPRETER:.0f} times: {verdict}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
