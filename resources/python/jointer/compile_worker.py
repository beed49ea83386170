"""``python -m jointer compile``: a process that compiles programs for its parent.

If no graph is given, it reads requests from its standard input, one JSON object per line, and
answers with JSON lines on its standard output until the input ends. If a graph is given, it answers
only that request. Output of libraries is redirected to standard error.

A request: ``{"id": any, "graph": path, "backward": path, "method": "inductor" | "regional", "on":
"auto" | "cpu" | "cuda", "out": folder, "rank": number, "mark": [selector], "assume": "u0=64",
"torch": "2.15.0"}``; all but ``graph`` are optional. Answers have the request's ``id``:

- ``{"event": "ready", "protocol", "torch", "pid"}``: once, at the start, without an id.
- ``{"event": "progress", "stage", "done", "total", "seconds"}``: a stage begins or
  continues (repeated every few seconds). Stages: load, decompose, compile, package, wait for
  another rank.
- ``{"event": "note", "text"}``: a message for the user.
- ``{"event": "compiled", "packages": [...]}``: done; see ``compile.compile_program``.
- ``{"event": "failed", "kind", "node", "text"}``: kind is load, compile or internal.

Closing the input, or SIGTERM, ends the process and the compilers that it started.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import first_line
from .events import Events

PROTOCOL = 1

#: From linux/prctl.h.
_PR_SET_CHILD_SUBREAPER = 36

#: Seconds to wait for processes to end.
_ENDING = 3.0

#: Seconds between progress reports.
_PULSE = 2.0

EXIT_USAGE, EXIT_INPUT, EXIT_FAILED, EXIT_CANCELLED = 2, 3, 4, 130


class Cancelled(BaseException):
    """The parent process has cancelled the request."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command line."""
    parser.add_argument(
        "graph", nargs="?", metavar="GRAPH", help="a capture; without it, run as a worker"
    )
    parser.add_argument("--backward", metavar="FILE", help="the backward graph of a pair")
    parser.add_argument("--method", default="inductor", choices=("inductor", "regional"))
    parser.add_argument("--on", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--out", metavar="DIR", help="also write the packages to this folder")
    parser.add_argument("--rank", type=int, default=int(os.environ.get("RANK", "0")))
    parser.add_argument(
        "--mark",
        action="append",
        default=[],
        metavar="SELECTOR",
        help="regional: a node, or FQN_PATTERN::OPERATOR; may be repeated",
    )
    parser.add_argument("--assume", default="", metavar="SYMBOL=NUMBER,...")
    parser.add_argument(
        "--torch", default="", metavar="VERSION", help="torch that loads the packages"
    )


def main(options: argparse.Namespace) -> int:
    """Answer one request, or run as a worker, and return the exit code."""
    events = Events.take_stdout()
    _adopt_orphans()
    signal.signal(signal.SIGTERM, _cancel)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    from .compile import Request

    answers = _Answers(events)
    fields = {f.name for f in dataclasses.fields(Request)}
    try:
        if options.graph:
            given = {key: value for key, value in vars(options).items() if key in fields}
            return answers.answer(None, given)
        return _serve(answers)
    except (Cancelled, KeyboardInterrupt):
        return EXIT_CANCELLED
    finally:
        _end_children()


def _cancel(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise Cancelled


def _serve(answers: _Answers) -> int:
    import torch

    answers.say("ready", protocol=PROTOCOL, torch=torch.__version__, pid=os.getpid())
    requests: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(requests, answers), daemon=True).start()
    while (line := requests.get()) is not None:
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise ValueError("not an object")
        except ValueError as error:
            answers.say("failed", id=None, kind="load", node="", text=f"request: {error}")
            continue
        answers.answer(request.pop("id", None), request)
    return 0


def _read(requests: queue.Queue[str | None], answers: _Answers) -> None:
    for line in sys.stdin:
        if line.strip():
            requests.put(line)
    requests.put(None)
    if answers.is_busy:
        os.kill(os.getpid(), signal.SIGTERM)


class _Answers:
    """Answers requests, one at a time."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self.is_busy = False

    def say(self, event: str, **members: Any) -> None:
        """Write one line."""
        self._events.say(event, **members)

    def answer(self, number: Any, given: dict[str, Any]) -> int:
        """Answer the request in ``given`` and return the exit code."""
        self.is_busy = True
        pulse = _Pulse(self, number)
        try:
            code, events = _answer(given, pulse.stage)
        finally:
            pulse.stop()
            # Set this before the answer: after it, the parent may close the input, which must not
            # cancel anything.
            self.is_busy = False
        for event in events:
            self.say(event.pop("event"), id=number, **event)
        return code


def _answer(given: dict[str, Any], stage: Callable[..., None]) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and the last events of the answer."""
    from .compile import CompileError, Request, compile_program
    from .errors import CaptureError

    fields = {field.name for field in dataclasses.fields(Request)}
    if unknown := given.keys() - fields:
        text = f"unknown member {sorted(unknown)[0]!r} in the request"
        return _failed(EXIT_INPUT, "load", CaptureError(text))
    try:
        result = compile_program(Request(**{"graph": "", **given}), stage)
    except (CaptureError, OSError) as error:
        return _failed(EXIT_INPUT, "load", error)
    except CompileError as error:
        return _failed(EXIT_FAILED, "compile", error, error.node)
    except Exception as error:
        return _failed(EXIT_FAILED, "internal", error)
    notes = [{"event": "note", "text": text} for text in result["notes"]]
    return 0, [*notes, {"event": "compiled", "packages": result["packages"]}]


def _failed(
    code: int, kind: str, error: BaseException, node: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    return code, [{"event": "failed", "kind": kind, "node": node, "text": first_line(error)}]


class _Pulse:
    """Reports stages, and repeats the current one every few seconds."""

    def __init__(self, answers: _Answers, number: Any) -> None:
        self._answers = answers
        self._number = number
        self._began = time.monotonic()
        self._now = ("load", 0, 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def stage(self, stage: str, done: int, total: int) -> None:
        """A stage begins."""
        self._now = (stage, done, total)
        self._say()

    def stop(self) -> None:
        """Stop reporting."""
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(_PULSE):
            self._say()

    def _say(self) -> None:
        stage, done, total = self._now
        seconds = round(time.monotonic() - self._began, 1)
        self._answers.say(
            "progress", id=self._number, stage=stage, done=done, total=total, seconds=seconds
        )


def _adopt_orphans() -> None:
    """When a compiler driver is killed, adopt the processes that it started."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_children() -> None:
    """End all descendants of this process, including orphans."""
    until = time.monotonic() + _ENDING
    while (below := _descendants(os.getpid())) and time.monotonic() < until:
        for pid in reversed(below):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(each) for each in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found
