"""The messages of a rank (core/bench/event.h): one JSON object per line."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from typing import Any, TextIO


class Events:
    """Writes events to standard output, which is reserved for them."""

    PROTOCOL = 1

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    @classmethod
    def take_stdout(cls) -> Events:
        """Reserve standard output for events: other output is redirected to standard error."""
        stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(stream)

    def say(self, event: str, **members: Any) -> None:
        """Write one event."""
        line = json.dumps({"event": event, **{k: _finite(v) for k, v in members.items()}})
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()

    def progress(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Report that a stage has begun or advanced."""
        self.say("progress", stage=stage, done=done, total=total)


def _finite(value: Any) -> Any:
    """Replace numbers that are not finite, which JSON cannot represent, with strings."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
