"""Traces for CUDA on a machine without a GPU, with fake ``cuda`` tensors through autograd.

Fake tensors do not require a device, but the autograd engine of a CUDA build of torch does: for
every backward, it queries the streams of the accelerator, which fails if there is no driver. It
uses two functions of ``libtorch_cpu``: ``at::accelerator::getAccelerator`` and ``isAccelerator``.
While ``without_gpu()`` is active, their first instructions are replaced, only in this process's
memory, so that they return an empty optional and false, as in a CPU build of torch. Leaving the
context restores them. Nothing is compiled, preloaded or restarted.

If a GPU is usable, or with a CPU build of torch, nothing is replaced. In all other cases,
``without_gpu`` raises on platforms other than Linux on x86-64.

Further advice for tracing without the device:

- Create the model and its inputs under the ``FakeTensorMode`` that ``without_gpu`` yields, and
  device meshes and process groups (with the ``fake`` backend) outside it.
- ``F.scaled_dot_product_attention`` queries the device for its kernel: call the kernel directly,
  ``torch.ops.aten._scaled_dot_product_flash_attention``.
- Dynamo accepts plain fake tensors; ``DTensor`` parameters made of fake tensors must be traced in
  the mode in which they were created.
- Triton kernels are traced only if ``torch.utils._triton.has_triton()`` returns true.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import platform
from collections.abc import Iterator
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .errors import CaptureError

_QUESTIONS = (
    "_ZN2at11accelerator14getAcceleratorEb",
    "_ZN2at11accelerator13isAcceleratorEN3c1010DeviceTypeE",
)

#: x86-64 for "return 0" (xor eax, eax; ret): an empty optional, or false.
_RETURN_ZERO = bytes.fromhex("31c0c3")

_READ_EXECUTE = mmap.PROT_READ | mmap.PROT_EXEC
_WRITABLE = _READ_EXECUTE | mmap.PROT_WRITE


@contextlib.contextmanager
def without_gpu() -> Iterator[FakeTensorMode]:
    """Enable tracing of fake ``cuda`` tensors, with or without a GPU.

    Yields:
        a ``FakeTensorMode`` for creating the model and its inputs; it is not entered. While the
        context is active, backward passes run in the calling thread.

    Raises:
        CaptureError: this torch requires a GPU, and this platform is not supported.
    """
    with contextlib.ExitStack() as stack:
        if _gpu_is_missed():
            stack.enter_context(_no_accelerator())
        stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        yield FakeTensorMode(allow_non_fake_inputs=True)


def _gpu_is_missed() -> bool:
    """True if this torch expects an accelerator and none is usable."""
    return torch.accelerator.current_accelerator() is not None and not torch.cuda.is_available()


@contextlib.contextmanager
def _no_accelerator() -> Iterator[None]:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise CaptureError(
            f"cannot create fake CUDA tensors on {platform.system()} {platform.machine()} without "
            "a GPU; install a CPU build of torch, or trace on the CPU"
        )
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    with contextlib.ExitStack() as stack:
        for name in _QUESTIONS:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            original = ctypes.string_at(address, len(_RETURN_ZERO))
            _overwrite(address, _RETURN_ZERO)
            stack.callback(_overwrite, address, original)
        yield


def _overwrite(address: int, code: bytes) -> None:
    """Replace the instructions at ``address`` in this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    start = address & ~(mmap.PAGESIZE - 1)
    length = address + len(code) - start
    for protection in (_WRITABLE, _READ_EXECUTE):
        if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(length), protection) != 0:
            raise CaptureError(
                "this system does not allow patching code in memory "
                f"(mprotect: errno {ctypes.get_errno()}); install a CPU build of torch"
            )
        if protection == _WRITABLE:
            ctypes.memmove(address, code, len(code))
