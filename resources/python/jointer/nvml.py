"""NVIDIA's management library, which may be missing. See app/runner/gpu/gpu_monitor.cpp.

A library may lack functions, or report errors; the values that they return are then left out.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .counted import counted

_SUCCESS, _TOO_SMALL, _NOT_FOUND = 0, 7, 13
_SM_CLOCK, _MEMORY_CLOCK, _GPU_SENSOR = 1, 2, 0
_UNCORRECTED, _VOLATILE = 1, 0  # kinds of errors, and of their counters
_MAX_PROCESSES = 1 << 16
_UNKNOWN_MEMORY, _NO_INSTANCE = (1 << 64) - 1, (1 << 32) - 1
_GIB = 1 << 30

#: NVML's reasons for reduced clocks, without idle clocks, sync boost, and clocks set by an
#: application or for a display.
_SLOWDOWNS = {
    0x004: "power limit",
    0x008: "hardware slowdown",
    0x020: "temperature",
    0x040: "temperature, by hardware",
    0x080: "power brake",
}


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class Nvml:
    """The library, between its start and its end."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def driver_version(self) -> str:
        """The version of the driver, such as 580.65.06; empty if it is unknown."""
        text = ctypes.create_string_buffer(80)  # NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
        size = ctypes.c_uint(len(text))
        known = self._call("nvmlSystemGetDriverVersion", text, size) == _SUCCESS
        return text.value.decode() if known else ""

    def state(self, bus: str) -> dict[str, Any] | None:
        """The state of the GPU at this PCI address, with the members of ``gpu`` in the event
        ``measured``; ``None`` if there is no such GPU."""
        device = ctypes.c_void_p()
        found = self._call(
            "nvmlDeviceGetHandleByPciBusId_v2", bus.encode(), ctypes.byref(device)
        )
        if found != _SUCCESS:
            return None
        numbers = {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", device, _SM_CLOCK),
            "max_sm_mhz": self._number("nvmlDeviceGetMaxClockInfo", device, _SM_CLOCK),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", device, _MEMORY_CLOCK),
            "milliwatts": self._number("nvmlDeviceGetPowerUsage", device),
            "celsius": self._number("nvmlDeviceGetTemperature", device, _GPU_SENSOR),
            "uncorrected_ecc_errors": self._number(
                "nvmlDeviceGetTotalEccErrors",
                device,
                _UNCORRECTED,
                _VOLATILE,
                of=ctypes.c_ulonglong,
            ),
        }
        state: dict[str, Any] = {name: value for name, value in numbers.items() if value}
        memory = _Memory()
        if self._call("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory)) == _SUCCESS:
            state["used_bytes"] = memory.used
        reasons = self._number(
            "nvmlDeviceGetCurrentClocksThrottleReasons", device, of=ctypes.c_ulonglong
        )
        if slowdowns := [text for bit, text in _SLOWDOWNS.items() if (reasons or 0) & bit]:
            state["slowdowns"] = slowdowns
        mode, pending = ctypes.c_uint(0), ctypes.c_uint(0)
        modes = (ctypes.byref(mode), ctypes.byref(pending))
        if self._call("nvmlDeviceGetMigMode", device, *modes) == _SUCCESS and mode.value:
            state["mig"] = True
        return {**state, **self._processes(device)}

    def _processes(self, device: ctypes.c_void_p) -> dict[str, Any]:
        """This process's memory, and the other processes on the GPU or, if it is divided, on this
        process's instance."""
        computing = self._listed("nvmlDeviceGetComputeRunningProcesses_v3", device)
        own = next((each for each in computing if each.pid == os.getpid()), None)
        if own is None:  # as in a container that has its own process numbers
            return {}
        drawing = self._listed("nvmlDeviceGetGraphicsRunningProcesses_v3", device)
        others = {
            each.pid: each
            for each in [*drawing, *computing]
            if each.pid != own.pid and own.gpu_instance in (_NO_INSTANCE, each.gpu_instance)
        }
        members: dict[str, Any] = {}
        if own.memory != _UNKNOWN_MEMORY:
            members["own_bytes"] = own.memory
        if count := len(others.keys() & {each.pid for each in computing}):
            members["other_processes"] = count
        if all(each.memory != _UNKNOWN_MEMORY for each in others.values()):
            members["other_bytes"] = sum(each.memory for each in others.values())
        return members

    def _listed(self, function: str, device: ctypes.c_void_p) -> list[_Process]:
        size = 64
        while True:
            processes, count = (_Process * size)(), ctypes.c_uint(size)
            status = self._call(function, device, ctypes.byref(count), processes)
            if status == _TOO_SMALL and size < _MAX_PROCESSES:
                size *= 2
                continue
            return list(processes[: count.value]) if status == _SUCCESS else []

    def _number(
        self, function: str, device: ctypes.c_void_p, *kinds: int, of: Any = ctypes.c_uint
    ) -> int | None:
        value = of(0)
        status = self._call(function, device, *kinds, ctypes.byref(value))
        return value.value if status == _SUCCESS else None

    def _call(self, name: str, *arguments: Any) -> int:
        function = getattr(self._library, name, None)
        return _NOT_FOUND if function is None else function(*arguments)


@contextmanager
def open_nvml(library: str = "libnvidia-ml.so.1") -> Iterator[Nvml | None]:
    """The library; ``None`` if it is missing or cannot be initialized."""
    try:
        loaded = ctypes.CDLL(library)
        works = loaded.nvmlInit_v2() == _SUCCESS
    except (OSError, AttributeError):
        works = False
    if not works:
        yield None
        return
    try:
        yield Nvml(loaded)
    finally:
        loaded.nvmlShutdown()


def doubts_about(state: dict[str, Any]) -> list[str]:
    """Reasons to doubt a measurement, as in core/bench/gpu_doubts.cpp."""
    doubts = []
    if errors := state.get("uncorrected_ecc_errors", 0):
        text = counted(
            errors,
            "memory error that ECC could not correct",
            "memory errors that ECC could not correct",
        )
        doubts.append(
            f"the GPU has had {text} since its driver was loaded: outputs may be wrong, and steps "
            "may fail; reset the GPU, or use another one"
        )
    used = state.get("other_bytes", 0)
    size = f"{used / _GIB:.3g} GiB"
    if others := state.get("other_processes", 0):
        text = counted(others, "other process is", "other processes are")
        memory = f", and other processes use {size} of its memory" if used else ""
        doubts.append(
            f"{text} using the GPU at the same time{memory}: step times are doubtful; run the "
            "benchmark on an idle GPU"
        )
    elif used >= _GIB:
        doubts.append(f"other processes use {size} of the GPU's memory, which the ranks cannot use")
    return doubts
