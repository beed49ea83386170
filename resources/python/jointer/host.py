"""``python -m jointer host``: a process that runs Python passes for whoever started it.

It reads one request from its standard input, a JSON object in one line, and answers with JSON
lines on its standard output; docs/plugins.md describes them. What a pass prints goes to the
standard error, by whatever means it prints. The process does one thing and ends, so a pass can
leave nothing behind for the next one.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import resource
import sys
import traceback
from typing import Any

from .events import Events

PROTOCOL = 1

EXIT_FAILED = 4


class HostError(Exception):
    """A request cannot be done; ``kind`` is ``usage``, ``pass`` or ``memory``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line has no options: all is in the request."""
    del parser


def main(options: argparse.Namespace) -> int:
    """Answer one request; the exit code."""
    del options
    events = Events.take_stdout()
    faulthandler.enable()
    try:
        request = _read_request(sys.stdin.readline())
        _limit_memory(request.get("memory_bytes"))
        import torch

        host = f"Python {sys.version.split()[0]}, torch {torch.__version__}"
        events.say("ready", protocol=PROTOCOL, host=host)
        _answer(request, events)
    except HostError as error:
        events.say("failed", kind=error.kind, text=str(error))
        return EXIT_FAILED
    except MemoryError:
        events.say("failed", kind="memory", text="out of memory")
        return EXIT_FAILED
    events.say("done")
    return 0


def _read_request(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise HostError("usage", f"the request is not JSON: {error}") from None
    if not isinstance(request, dict) or request.get("protocol") != PROTOCOL:
        raise HostError("usage", f"the request is none of protocol {PROTOCOL}")
    return request


def _limit_memory(limit: Any) -> None:
    """No more data than that: a pass then meets ``MemoryError`` before the machine has to swap.

    Not the address space: libraries reserve far more of that than they use.
    """
    if isinstance(limit, int) and limit > 0:
        with contextlib.suppress(ValueError, OSError):  # the system allows less already
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _answer(request: dict[str, Any], events: Events) -> None:
    from . import host_passes, host_run

    import torch

    random.seed(0)
    torch.manual_seed(0)
    sys.path.insert(0, os.getcwd())
    if request.get("request") == "list":
        for spec in request.get("specs", []):
            events.say("declared", **_declared(host_passes, spec))
        return
    if request.get("request") != "run":
        raise HostError("usage", f"no request {request.get('request')!r}")
    host_run.run(request, events)


def _declared(host_passes: Any, spec: str) -> dict[str, Any]:
    """What is behind ``spec``, or why nothing is."""
    try:
        found = host_passes.find_passes(spec)
        return {"spec": spec, "passes": [host_passes.describe(each) for each in found]}
    except HostError as error:
        return {"spec": spec, "passes": [], "error": str(error)}


def one_line(error: BaseException, file: str = "") -> str:
    """``ValueError: no such node (my_pass.py:12)``: the place nearest to the error in ``file``, or
    anywhere if it is not in the trace."""
    text = str(error).strip().partition("\n")[0]
    name = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename == file] or frames[-1:]
    place = f" ({os.path.basename(inside[-1].filename)}:{inside[-1].lineno})" if inside else ""
    return f"{name}: {text}{place}" if text else f"{name}{place}"
