"""``python -m jointer kernels``: prints the kernels that Inductor generates for a graph.

The answer is one JSON object in the last line; see ``inductor_kernels.kernels_of``. With
``--progress``, further JSON objects precede it, one per line: each has the ``stage``, and says that
``done`` of ``of`` nodes are done (0 of 0 in stages that do not count nodes). Messages of libraries
go to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import IO, Any

import torch

from .errors import CaptureError, first_line
from .pretended_gpu import GPUS, pretended_gpu


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command line."""
    parser.add_argument("graph", metavar="GRAPH", help="a capture of one graph")
    parser.add_argument("--device", default="h100", choices=sorted(GPUS))
    parser.add_argument(
        "--half", choices=("forward", "backward"), help="of a pair: the half to schedule"
    )
    parser.add_argument("--assume", default="", metavar="SYMBOL=NUMBER,...")
    parser.add_argument(
        "--torch", default="", help="require this minor version of torch, such as 2.15"
    )
    parser.add_argument(
        "--progress", action="store_true", help="print the stages before the answer, as JSON lines"
    )


def main(options: argparse.Namespace) -> int:
    """Print the kernels as one JSON object and return the exit code."""
    output, sys.stdout = sys.stdout, sys.stderr
    os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    try:
        answer = kernels_of_file(options, _Progress(output) if options.progress else None)
    except CaptureError as error:
        print(first_line(error), file=sys.stderr)
        return 3
    except Exception as error:  # Inductor raises exceptions of any type
        print(first_line(error), file=sys.stderr)
        return 4
    json.dump(answer, output)
    output.write("\n")
    return 0


class _Progress:
    """Prints each stage when it begins, and then its progress a few times a second."""

    _INTERVAL = 0.2

    def __init__(self, output: IO[str]) -> None:
        self._output = output
        self._stage = ""
        self._last = 0.0

    def __call__(self, stage: str, done: int, of: int) -> None:
        now = time.monotonic()
        if stage == self._stage and now - self._last < self._INTERVAL:
            return
        self._stage, self._last = stage, now
        json.dump({"stage": stage, "done": done, "of": of}, self._output)
        self._output.write("\n")
        self._output.flush()


def kernels_of_file(
    options: argparse.Namespace, tell: Callable[[str, int, int], None] | None = None
) -> dict[str, Any]:
    """The kernels of the capture that the options name, as ``kernels_of`` returns them.

    ``tell`` is called as by ``kernels_of``.
    """
    if options.torch and not torch.__version__.startswith(f"{options.torch}."):
        raise CaptureError(f"this Python has torch {torch.__version__}, not {options.torch}")
    with pretended_gpu(GPUS[options.device]):
        # torch._inductor is imported only now: see pretended_gpu.
        from .inductor_kernels import kernels_of
        from .load import load

        assume = dict(_assumption(each) for each in options.assume.split(",") if each)
        graph = _one_graph(load(options.graph, assume), options)
        return {"device": options.device, **kernels_of(graph, tell)}


def _assumption(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    return name.strip(), int(number)


def _one_graph(loaded: Any, options: argparse.Namespace) -> Any:
    if isinstance(loaded, tuple):
        if options.half is None:
            raise CaptureError(
                f"{options.graph} is a pair: choose a half with --half forward or backward"
            )
        return loaded[0 if options.half == "forward" else 1]
    if options.half is not None:
        raise CaptureError(f"{options.graph} is not a pair; leave out --half")
    if isinstance(loaded, dict):
        raise CaptureError(
            f"{options.graph} contains the stages of a pipeline; give a capture of one graph"
        )
    return loaded
