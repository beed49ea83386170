"""A workaround for virtual machines that report AMX but do not execute its instructions.

oneDNN relies on the report, so the first bfloat16 matrix product ends the process with an illegal
instruction. ``avoid_broken_amx`` tries such a product in a child process and, if the child dies,
disables AMX in oneDNN.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch

#: oneDNN reads this variable once, at its first use.
_SETTING = "ONEDNN_MAX_CPU_ISA"
_WITHOUT_AMX = "AVX512_CORE_BF16"


def avoid_broken_amx() -> str | None:
    """Make bfloat16 work on this machine.

    Must be called before the first computation, when oneDNN reads its settings.

    Returns:
        a note on the workaround, or ``None`` if no workaround is necessary.
    """
    if os.environ.get(_SETTING) or not _announces_amx() or _survives():
        return None
    os.environ[_SETTING] = _WITHOUT_AMX
    return f"AMX is reported but does not work; oneDNN uses {_WITHOUT_AMX}"


def _announces_amx() -> bool:
    try:
        return "amx_tile" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _survives() -> bool:
    """True if a child process survives a bfloat16 product."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            small = torch.ones(64, 64, dtype=torch.bfloat16)
            torch.mm(small, small)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return not os.WIFSIGNALED(status)
