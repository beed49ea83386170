"""Errors of a GPU, told apart as in app/runner/support/torch_error.h."""

from __future__ import annotations

import torch
import torch.distributed as dist

from .errors import first_line

#: Kernels run after their calls have returned, so the device may report their errors at a later
#: call.
REPORTED_LATE = "; an earlier node may be the cause; run with CUDA_LAUNCH_BLOCKING=1 to find it"


def kind_of_device_error(error: BaseException) -> str:
    """The kind of failure, ``memory`` or ``device``; empty for other errors."""
    text = str(error)
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return "memory"
    if isinstance(error, torch.AcceleratorError):
        return "memory" if "CUDA error: out of memory" in text else "device"
    # NCCL reports an error of CUDA, perhaps that of an earlier kernel, as its own error.
    if isinstance(error, dist.DistError) and "Cuda failure" in text:
        return "memory" if "'out of memory'" in text else "device"
    return ""


def text_of(error: BaseException) -> str:
    """The message on one line, without torch's advice about its allocator. NCCL's message does not
    name the cause in its first line, so all of its lines are joined."""
    if isinstance(error, dist.DistError):
        stated = str(error).partition("Exception raised from")[0]  # calls in C++ follow
        lines = (line.strip() for line in stated.splitlines())
        return "; ".join(line for line in lines if line) or type(error).__name__
    return first_line(error).partition(" If reserved but unallocated")[0]
