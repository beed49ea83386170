"""Virtual machines that announce AMX and then refuse its instructions.

oneDNN believes the announcement, and the first bfloat16 matrix product ends the process by an
illegal instruction. ``avoid_broken_amx`` tries one in a child process and tells oneDNN to do
without.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch

#: oneDNN reads it once, when it is first used.
_SETTING = "ONEDNN_MAX_CPU_ISA"
_WITHOUT_AMX = "AVX512_CORE_BF16"


def avoid_broken_amx() -> str | None:
    """Make bfloat16 work here; what was done about it, ``None`` if nothing had to be.

    Call it before anything is computed: later oneDNN no longer asks.
    """
    if os.environ.get(_SETTING) or not _announces_amx() or _survives():
        return None
    os.environ[_SETTING] = _WITHOUT_AMX
    return f"AMX is announced here and does not work: oneDNN keeps to {_WITHOUT_AMX}"


def _announces_amx() -> bool:
    try:
        return "amx_tile" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _survives() -> bool:
    """Does a child process come through a bfloat16 product?"""
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
