"""Ends this process with its launcher, as app/runner/launcher_watch.h does.

Usually the kernel does this, but only for processes that the launcher itself has started. If a
profiler starts this process, the launcher gives its own process ID in ``JOINTER_LAUNCHER``.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time

_VARIABLE = "JOINTER_LAUNCHER"
_INTERVAL_SECONDS = 0.1


def watch_launcher() -> None:
    """Start a thread that kills this process when the launcher has ended. Does nothing without the
    variable."""
    text = os.environ.get(_VARIABLE, "")
    if text.isdecimal() and int(text) > 0:
        threading.Thread(target=_watch, args=(int(text),), daemon=True).start()


def _watch(launcher: int) -> None:
    try:
        process = os.pidfd_open(launcher)
    except ProcessLookupError:
        pass  # it has ended
    except (AttributeError, OSError):  # this system has no pidfd
        while _exists(launcher):
            time.sleep(_INTERVAL_SECONDS)
    else:
        select.select([process], [], [])
    os.kill(os.getpid(), signal.SIGKILL)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
