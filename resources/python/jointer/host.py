"""``python -m jointer host``: a process that runs Python passes for its parent.

It reads one request from its standard input, a JSON object on one line, and answers with JSON lines
on its standard output (docs/plugins.md). All output of a pass is redirected to standard error.
The process answers one request and exits, so that passes cannot affect each other.
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
    """A request failed; ``kind`` is ``usage``, ``pass`` or ``memory``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command line; there are none."""
    del parser


def main(options: argparse.Namespace) -> int:
    """Answer one request and return the exit code."""
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
        raise HostError("usage", f"the request does not use protocol {PROTOCOL}")
    return request


def _limit_memory(limit: Any) -> None:
    """Limit the data segment, so that ``MemoryError`` is raised before the machine swaps.

    The address space is not limited, since libraries reserve much more than they use.
    """
    if isinstance(limit, int) and limit > 0:
        with contextlib.suppress(ValueError, OSError):  # the system's limit is lower
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
        raise HostError("usage", f"unknown request {request.get('request')!r}")
    host_run.run(request, events)


def _declared(host_passes: Any, spec: str) -> dict[str, Any]:
    """The passes of ``spec``, or the reason why there are none."""
    try:
        found = host_passes.find_passes(spec)
        return {"spec": spec, "passes": [host_passes.describe(each) for each in found]}
    except HostError as error:
        return {"spec": spec, "passes": [], "error": str(error)}


def one_line(error: BaseException, file: str = "") -> str:
    """``ValueError: no such node (my_pass.py:12)``: with the innermost line in ``file``, or the
    innermost line if ``file`` is not in the trace, unless the error itself names a line."""
    text = str(error).strip().partition("\n")[0]
    name = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    innermost = [] if isinstance(error, SyntaxError) else frames[-1:]
    inside = [frame for frame in frames if frame.filename == file] or innermost
    place = f" ({os.path.basename(inside[-1].filename)}:{inside[-1].lineno})" if inside else ""
    return f"{name}: {text}{place}" if text else f"{name}{place}"
