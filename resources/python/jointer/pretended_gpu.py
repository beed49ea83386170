"""Lets Inductor plan kernels for a GPU that this machine does not have.

Inductor asks torch, Triton and its own tables for facts about the GPU: the number of
multiprocessors, the compute capability, shared memory, bandwidth. While ``pretended_gpu`` is
active, these questions are answered for a given model of GPU, even on a machine that has a
different one, so the answers do not depend on the machine. Nothing is launched or allocated on a
GPU: tensors must be fake, and kernels must not be compiled or benchmarked.

The functions are replaced in this process and restored when the context ends. Inductor caches some
answers, so a process should ask about only one GPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

_WARP = 32
_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Gpu:
    """Facts that Inductor asks for; from NVIDIA's architecture whitepapers and data sheets."""

    #: A name in torch's data sheets (``torch._inductor.analysis.device_info``).
    name: str
    multiprocessors: int
    capability: tuple[int, int]
    #: Bytes of shared memory: the maximum for one block, and for one multiprocessor.
    block_shared_bytes: int
    shared_bytes: int
    memory_bytes: int
    l2_bytes: int
    memory_gbps: float


GPUS = {
    "a100": Gpu("NVIDIA A100", 108, (8, 0), 163 * _KIB, 164 * _KIB, 80 * _GIB, 40 * _MIB, 2039),
    "h100": Gpu("NVIDIA H100", 132, (9, 0), 227 * _KIB, 228 * _KIB, 80 * _GIB, 50 * _MIB, 3350),
    # Torch's data sheets lack the H200, which has the chip of the H100.
    "h200": Gpu("NVIDIA H100", 132, (9, 0), 227 * _KIB, 228 * _KIB, 141 * _GIB, 50 * _MIB, 4800),
    "b200": Gpu("NVIDIA B200", 148, (10, 0), 227 * _KIB, 228 * _KIB, 180 * _GIB, 126 * _MIB, 8000),
}


@contextlib.contextmanager
def pretended_gpu(gpu: Gpu) -> Iterator[None]:
    """Answer questions about the current CUDA device as if it were ``gpu``.

    Enter it before ``torch._inductor`` is imported for the first time: its modules keep some of the
    functions.
    """
    with contextlib.ExitStack() as stack:

        def answer(owner: Any, **functions: Callable[..., Any]) -> None:
            for name, function in functions.items():
                if hasattr(owner, name):
                    stack.enter_context(mock.patch.object(owner, name, function))

        answer(torch.cuda, **_cuda_answers(gpu))
        answer(
            torch.accelerator,
            is_available=lambda: True,
            device_count=lambda: 1,
            current_device_index=lambda: 0,
            current_accelerator=lambda *_, **__: torch.device("cuda"),
            set_device_index=_nothing,
            synchronize=_nothing,
        )
        answer(FakeTensorMode, avoid_device_init=property(lambda self: True))
        from torch._subclasses import fake_tensor

        answer(fake_tensor, init_gpu_context=_nothing)
        _answer_dynamo(gpu, answer)
        _answer_triton(gpu, answer)
        _answer_inductor(gpu, answer)
        yield


def _nothing(*_: Any, **__: Any) -> None:
    pass


class _NoGuard(contextlib.nullcontext):  # type: ignore[type-arg]
    """Stands for ``torch.cuda.device``, which would initialize CUDA."""

    def __init__(self, device: Any = None) -> None:
        super().__init__()


def _properties(gpu: Gpu) -> SimpleNamespace:
    return SimpleNamespace(
        name=gpu.name,
        major=gpu.capability[0],
        minor=gpu.capability[1],
        multi_processor_count=gpu.multiprocessors,
        total_memory=gpu.memory_bytes,
        warp_size=_WARP,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=48 * _KIB,
        shared_memory_per_block_optin=gpu.block_shared_bytes,
        shared_memory_per_multiprocessor=gpu.shared_bytes,
        L2_cache_size=gpu.l2_bytes,
        gcnArchName="",
        is_integrated=False,
        is_multi_gpu_board=False,
    )


def _cuda_answers(gpu: Gpu) -> dict[str, Callable[..., Any]]:
    properties = _properties(gpu)
    return {
        "is_available": lambda *_: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": _nothing,
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: gpu.capability,
        "get_device_name": lambda *_: gpu.name,
        "is_bf16_supported": lambda *_, **__: True,
        "is_tf32_supported": lambda: True,
        "synchronize": _nothing,
        "mem_get_info": lambda *_: (gpu.memory_bytes, gpu.memory_bytes),
        "_exchange_device": lambda *_: 0,
        "_maybe_exchange_device": lambda *_: 0,
        "_lazy_init": _nothing,
        "device": _NoGuard,
    }


def _answer_dynamo(gpu: Gpu, answer: Callable[..., None]) -> None:
    """Dynamo's interface of CUDA has its own references to torch's functions."""
    from torch._dynamo.device_interface import CudaInterface

    answers = _cuda_answers(gpu)
    answers["exchange_device"] = answers["_exchange_device"]
    answers["maybe_exchange_device"] = answers["_maybe_exchange_device"]
    for name, function in answers.items():
        is_class = isinstance(function, type)
        answer(CudaInterface, **{name: function if is_class else staticmethod(function)})
    answer(
        CudaInterface.Worker,
        get_device_properties=staticmethod(answers["get_device_properties"]),
        current_device=staticmethod(answers["current_device"]),
    )


def _answer_triton(gpu: Gpu, answer: Callable[..., None]) -> None:
    from torch.utils import _triton

    answer(_triton, has_triton=lambda: True, has_triton_package=lambda: True)
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    major, minor = gpu.capability
    facts = {
        "max_shared_mem": gpu.block_shared_bytes,
        "multiprocessor_count": gpu.multiprocessors,
        "warpSize": _WARP,
        "max_num_regs": 65536,
        # In kHz and bits, as the bandwidth requires: 2 transfers per clock.
        "sm_clock_rate": 1_980_000,
        "mem_clock_rate": round(gpu.memory_gbps * 1e6 * 8 / 2 / 5120),
        "mem_bus_width": 5120,
    }
    active = SimpleNamespace(
        get_current_target=lambda: GPUTarget("cuda", major * 10 + minor, _WARP),
        get_current_device=lambda: 0,
        get_device_interface=lambda: torch.cuda,
        utils=SimpleNamespace(get_device_properties=lambda device: facts),
    )
    # The property `active` creates a driver, which fails without a GPU.
    answer(driver, **{"_active" if hasattr(driver, "_active") else "active": active})


def _answer_inductor(gpu: Gpu, answer: Callable[..., None]) -> None:
    from torch._inductor import comm_analysis, scheduler, utils

    kinds = comm_analysis.NVIDIA_GPU_TYPE
    by_major = {8: kinds.AMPERE, 9: kinds.HOPPER, 10: getattr(kinds, "BLACKWELL", kinds.HOPPER)}
    answer(comm_analysis, get_gpu_type=lambda: by_major[gpu.capability[0]])
    for module in (utils, scheduler):
        answer(module, get_gpu_dram_gbps=lambda: gpu.memory_gbps)
