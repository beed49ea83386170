"""The GPU of a rank and its environment, as jointer-runner reports them in ``started``.

See app/runner/cuda/cuda_platform.cpp and app/runner/gpu/gpu_surroundings.cpp. Facts that cannot be
determined are left out.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import Any

import torch

from .errors import first_line
from .nvml import open_nvml

#: Prefixes of the variables that configure the allocator, CUDA, cuBLAS and NCCL, and suffixes of
#: those that only describe the installed software.
_SETTINGS = ("PYTORCH_", "TORCH_NCCL_", "NCCL_", "CUDA_", "CUBLAS_")
_DESCRIPTIONS = ("_VERSION", "_HOME", "_PATH")

_KHZ_PER_MHZ = 1000


def why_no_cuda() -> str:
    """The reason why torch cannot use a CUDA device; empty if it can."""
    if torch.cuda.is_available():
        return ""
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:  # AssertionError: torch has no CUDA
        return first_line(error)
    return "no CUDA device is visible"


def has_gpu(root: str = "/") -> bool:
    """True if the driver's files and CUDA_VISIBLE_DEVICES show a GPU, usable or not."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not re.match(r" *(\d|GPU-|MIG-)", visible):
        return False
    devices = Path(root) / "dev"
    names = [path.name for path in devices.glob("nvidia*")]
    return any(re.fullmatch(r"nvidia\d+", name) for name in names) or (devices / "dxg").exists()


def device_members(device: torch.device, tf32: str = "auto", root: str = "/") -> dict[str, Any]:
    """The members ``environment`` and ``gpu`` of the event ``started``; empty on the CPU.

    Args:
        device: the device of the rank.
        tf32: the option ``--tf32``.
        root: the folder that contains the files of Linux.
    """
    if device.type != "cuda":
        return {}
    reported = torch.cuda.get_device_properties(device)
    facts = [*_versions(), *_settings(), *_surroundings(device, reported, root)]
    if tf32 != "auto":
        facts.append("TF32 allowed" if tf32 == "allow" else "TF32 forbidden")
    gpu = {
        "name": reported.name,
        "major": reported.major,
        "minor": reported.minor,
        "multiprocessors": reported.multi_processor_count,
        "sm_mhz": reported.clock_rate // _KHZ_PER_MHZ,
        "memory_mhz": reported.memory_clock_rate // _KHZ_PER_MHZ,
        "memory_bus_bits": reported.memory_bus_width,
        "memory_bytes": reported.total_memory,
    }
    return {"environment": facts, "gpu": gpu}


def device_state(device: torch.device) -> dict[str, Any]:
    """The members ``gpu`` and ``outside_bytes`` of the event ``measured``, as NVML reports them."""
    if device.type != "cuda":
        return {}
    with open_nvml() as nvml:
        bus = _bus_of(torch.cuda.get_device_properties(device))
        state = None if nvml is None else nvml.state(bus)
    if state is None:
        return {}
    if (own := state.get("own_bytes")) is None:
        return {"gpu": state}
    outside = max(0, own - torch.cuda.memory_reserved(device))
    return {"gpu": state, "outside_bytes": outside}


def _versions() -> list[str]:
    facts = [f"torch {torch.__version__.partition('+')[0]}", f"CUDA {torch.version.cuda}"]
    if driver := _newest_cuda_of_driver():
        facts.append(f"driver for CUDA up to {driver // 1000}.{driver % 1000 // 10}")
    if cudnn := torch.backends.cudnn.version():  # 91900 is 9.19.0
        facts.append(f"cuDNN {cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}")
    if torch.distributed.is_nccl_available():
        facts.append("NCCL " + ".".join(map(str, torch.cuda.nccl.version()[:3])))
    return facts


def _settings() -> list[str]:
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith(_SETTINGS) and not name.endswith(_DESCRIPTIONS)
    )


def _surroundings(device: torch.device, reported: Any, root: str) -> list[str]:
    facts = []
    if driver := _driver_version(root):
        facts.append(f"driver {driver}")
    bus = _bus_of(reported)
    try:
        path = Path(root) / "sys/bus/pci/devices" / bus.lower() / "numa_node"
        node = int(path.read_text())
    except (OSError, ValueError):
        node = -1
    facts.append(f"GPU {device.index} at {bus}" + (f", NUMA node {node}" if node >= 0 else ""))
    return facts


def _bus_of(reported: Any) -> str:
    """The PCI address, as CUDA writes it."""
    return f"{reported.pci_domain_id:04X}:{reported.pci_bus_id:02X}:{reported.pci_device_id:02X}.0"


def _newest_cuda_of_driver() -> int:
    """The newest version of CUDA that the driver supports, such as 13000; 0 if it is unknown."""
    version = ctypes.c_int(0)
    try:
        failed = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return 0
    return 0 if failed else version.value


def _driver_version(root: str) -> str:
    """The version of the driver, such as 580.65.06; empty if it is unknown."""
    with open_nvml() as nvml:
        if nvml is not None and (version := nvml.driver_version()):
            return version
    try:
        return (Path(root) / "sys/module/nvidia/version").read_text().partition("\n")[0]
    except OSError:
        return ""
