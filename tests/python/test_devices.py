"""The GPU of a rank of the Python backend. There is none here: torch's answers are replaced."""

from __future__ import annotations

import argparse
import ctypes
import io
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from conftest import ROOT
from support import call, document, output, placeholder, tensor

from jointer import bench, compile, environment, nvml
from jointer.errors import CaptureError
from jointer.events import Events

GPU = torch.device("cuda", 1)
load_library = ctypes.CDLL  # which the fixture `gpu` replaces
H200 = SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, clock_rate=1_980_000,
    memory_clock_rate=3_201_000, memory_bus_width=6144, total_memory=150_000_000_000,
    pci_domain_id=0, pci_bus_id=0xA8, pci_device_id=0,
)  # fmt: skip


class FakeDriver:
    """libcuda.so.1."""

    @staticmethod
    def cuDriverGetVersion(version: Any) -> int:  # noqa: N802
        version._obj.value = 13_020
        return 0


class FakeNvml:
    """libnvidia-ml.so.1."""

    def __init__(self) -> None:
        self.is_shut_down = False

    def nvmlInit_v2(self) -> int:  # noqa: N802
        return 0

    def nvmlSystemGetDriverVersion(self, text: Any, size: ctypes.c_uint) -> int:  # noqa: N802
        assert size.value == 80
        text.value = b"580.65.06"
        return 0

    def nvmlShutdown(self) -> int:  # noqa: N802
        self.is_shut_down = True
        return 0


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library that also stands in for NVML in the tests of the runner."""
    library = tmp_path_factory.mktemp("nvml") / "fake_nvml.so"
    source = ROOT / "tests/runner/fake_device/nvml.cpp"
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", source, "-o", library], check=True)
    return str(library)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A GPU without a driver's libraries."""
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: H200)
    monkeypatch.setattr(torch.cuda.nccl, "version", lambda: (2, 28, 9, "x"))
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91_900)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(ctypes, "CDLL", _missing)
    for name in list(environment.os.environ):
        if name.startswith(environment._SETTINGS):
            monkeypatch.delenv(name)
    return monkeypatch


def _missing(name: str) -> Any:
    raise OSError(name)


VERSION = torch.__version__.partition("+")[0]


def test_a_gpu_is_described_with_the_members_of_the_schema(
    gpu: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = FakeNvml()
    libraries = {"libcuda.so.1": FakeDriver, "libnvidia-ml.so.1": library}
    gpu.setattr(ctypes, "CDLL", libraries.__getitem__)
    gpu.setenv("NCCL_ALGO", "Ring")
    gpu.setenv("PYTORCH_ALLOC_CONF", "expandable_segments:True")
    gpu.setenv("CUDA_HOME", "/usr/local/cuda")
    gpu.setenv("NCCL_VERSION", "2.28.9-1")
    node = tmp_path / "sys/bus/pci/devices/0000:a8:00.0/numa_node"
    node.parent.mkdir(parents=True)
    node.write_text("1\n")
    members = environment.device_members(GPU, "forbid", str(tmp_path))
    assert members["environment"] == [
        f"torch {VERSION}",
        "CUDA 13.0",
        "driver for CUDA up to 13.2",
        "cuDNN 9.19.0",
        "NCCL 2.28.9",
        "NCCL_ALGO=Ring",
        "PYTORCH_ALLOC_CONF=expandable_segments:True",
        "driver 580.65.06",
        "GPU 1 at 0000:A8:00.0, NUMA node 1",
        "TF32 forbidden",
    ]
    assert library.is_shut_down
    schema = json.loads((ROOT / "resources/schema/runner.schema.json").read_text())
    started = schema["$defs"]["started"]["properties"]
    assert members.keys() <= started.keys()
    assert members["gpu"].keys() == started["gpu"]["properties"].keys()
    assert members["gpu"] == {
        "name": "NVIDIA H200", "major": 9, "minor": 0, "multiprocessors": 132, "sm_mhz": 1980,
        "memory_mhz": 3201, "memory_bus_bits": 6144, "memory_bytes": 150_000_000_000,
    }  # fmt: skip


def test_what_is_unknown_is_absent(gpu: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpu.setattr(torch.backends.cudnn, "version", lambda: None)
    gpu.setattr(dist, "is_nccl_available", lambda: False)
    facts = [f"torch {VERSION}", "CUDA 13.0", "GPU 1 at 0000:A8:00.0"]
    assert environment.device_members(GPU, root=str(tmp_path))["environment"] == facts
    version = tmp_path / "sys/module/nvidia/version"
    version.parent.mkdir(parents=True)
    version.write_text("570.1\n")
    facts.insert(2, "driver 570.1")
    assert environment.device_members(GPU, root=str(tmp_path))["environment"] == facts
    assert environment.device_members(torch.device("cpu")) == {}


def _state(library: str, settings: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("FAKE_NVML", settings)
    with nvml.open_nvml(library) as opened:
        assert opened is not None
        state = opened.state("0000:0A:00.0")
    assert state is not None
    return state


GIB = 1 << 30


def test_nvml_reports_the_state_of_the_schema(
    nvml_library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = {
        "sm_mhz": 1410, "max_sm_mhz": 1980, "memory_mhz": 2619, "milliwatts": 512_000,
        "celsius": 54, "used_bytes": 20 * GIB, "slowdowns": ["power limit"],
        "own_bytes": 19 * GIB, "other_bytes": 0,
    }  # fmt: skip
    assert _state(nvml_library, "", monkeypatch) == usual
    mig = {"mig": True, "other_processes": 2, "other_bytes": 2 * GIB}
    assert _state(nvml_library, "mig=1,others=3", monkeypatch) == usual | mig
    many = {"other_processes": 200, "other_bytes": 200 * GIB + (100 << 20)}
    assert _state(nvml_library, "others=200,draws=1", monkeypatch) == usual | many
    errors = {"uncorrected_ecc_errors": 2}
    assert _state(nvml_library, "ecc=2", monkeypatch) == usual | errors
    assert "milliwatts" not in _state(nvml_library, "without=1", monkeypatch)
    hidden = _state(nvml_library, "others=2,hidden=1", monkeypatch)
    assert not {"own_bytes", "other_bytes"} & hidden.keys() and hidden["other_processes"] == 2
    unlisted = _state(nvml_library, "others=2,own=0", monkeypatch)
    assert not {"own_bytes", "other_bytes", "other_processes"} & unlisted.keys()
    schema = json.loads((ROOT / "resources/schema/runner.schema.json").read_text())
    known = schema["$defs"]["measured"]["properties"]["gpu"]["properties"]
    assert (usual | mig | errors).keys() == known.keys()


def test_nvml_may_be_missing(nvml_library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with nvml.open_nvml("libno-such-nvml.so.1") as opened:
        assert opened is None
    monkeypatch.setenv("FAKE_NVML", "init=9")
    with nvml.open_nvml(nvml_library) as opened:
        assert opened is None
    monkeypatch.setenv("FAKE_NVML", "")
    with nvml.open_nvml(nvml_library) as opened:
        assert opened.state("0000:FF:00.0") is None
        assert opened._call("nvmlNoSuchFunction") == 13


def test_memory_outside_of_the_allocator(
    gpu: pytest.MonkeyPatch, nvml_library: str
) -> None:
    assert environment.device_state(torch.device("cpu")) == {}
    assert environment.device_state(GPU) == {}  # there is no library
    gpu.setattr(ctypes, "CDLL", lambda name: load_library(nvml_library))
    gpu.setattr(torch.cuda, "memory_reserved", lambda device: 16 * GIB)
    gpu.setattr(H200, "pci_bus_id", 0x0A)
    gpu.setenv("FAKE_NVML", "")
    state = environment.device_state(GPU)
    assert state["outside_bytes"] == 3 * GIB and state["gpu"]["celsius"] == 54


def test_reasons_to_doubt_a_measurement() -> None:
    assert nvml.doubts_about({"other_bytes": GIB - 1}) == []
    (shared,) = nvml.doubts_about({"other_processes": 1, "other_bytes": 3 * GIB // 2})
    assert shared.startswith(
        "1 other process is using the GPU at the same time, and other processes use 1.5 GiB of its "
    )
    broken, full = nvml.doubts_about({"uncorrected_ecc_errors": 2, "other_bytes": GIB})
    assert broken.startswith("the GPU has had 2 memory errors that ECC could not correct since")
    assert full == "other processes use 1 GiB of the GPU's memory, which the ranks cannot use"


# --- The choice of the device, and a whole rank ---


def _options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(["graph.json", *arguments])


def _rank(*arguments: str) -> bench._Rank:
    return bench._Rank(_options(*arguments), Events(io.StringIO()))


@pytest.fixture
def eight_ranks(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda index: None)
    monkeypatch.setenv("LOCAL_RANK", "5")
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    return monkeypatch


def test_each_rank_has_its_gpu(eight_ranks: pytest.MonkeyPatch) -> None:
    eight_ranks.setattr(torch.cuda, "device_count", lambda: 8)
    assert _rank()._device() == torch.device("cuda", 5)
    assert _rank("--solo", "3")._device() == torch.device("cuda", 0)
    eight_ranks.setenv("SLURM_PROCID", "5")
    assert _rank()._device() == torch.device("cuda", 5)


def test_slurm_can_give_each_task_one_gpu(eight_ranks: pytest.MonkeyPatch) -> None:
    eight_ranks.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(bench.Failure, match="local rank 5 sees only 1 CUDA device"):
        _rank()._device()
    eight_ranks.setenv("SLURM_PROCID", "5")
    assert _rank()._device() == torch.device("cuda", 0)


def test_a_gpu_that_cannot_be_used_is_not_passed_over_silently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).\n")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", refuse)
    why = "The NVIDIA driver on your system is too old (found version 11040)."
    with pytest.raises(bench.Failure) as failed:
        _rank("--on", "cuda")._device()
    assert failed.value.kind == "device"
    text = f"no CUDA device can be used: {why}; --on cpu runs on the CPU"
    assert str(failed.value) == text
    with pytest.raises(CaptureError) as refused:
        compile._device("cuda")
    assert str(refused.value) == f"no CUDA device can be used: {why}; compile with --on cpu"
    for is_here, note in ((True, f"{why}: the CPU runs the graph"), (False, "")):
        monkeypatch.setattr(bench, "has_gpu", lambda is_here=is_here: is_here)
        rank = _rank()
        assert rank._device() == torch.device("cpu")
        assert rank._note == note


def test_gpus_are_the_drivers_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    devices = tmp_path / "dev"
    devices.mkdir()
    (devices / "nvidiactl").touch()
    assert not environment.has_gpu(str(tmp_path))
    (devices / "nvidia0").touch()
    assert environment.has_gpu(str(tmp_path))
    for visible, is_seen in (("", False), ("-1", False), ("NoDevFiles", False), ("0", True)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert environment.has_gpu(str(tmp_path)) == is_seen


def _events_of(graph: Path, *arguments: str) -> list[dict[str, Any]]:
    """The events of a rank in this process."""
    stream = io.StringIO()
    options = _options("--iterations", "1", "--warmup", "1", "--on", "cpu", *arguments)
    options.program = str(graph)
    try:
        bench._Rank(options, Events(stream)).run()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    nodes = [
        placeholder("x", tensor([64])),
        call("y", "aten.sin.default", {"n": "x"}, val=tensor([64], storage=1)),
        output({"n": "y"}),
    ]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(document(*nodes, storages=[256, 256])))
    return path


def test_a_rank_reports_its_device_when_it_starts(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "watch_launcher", lambda: None)
    (started,) = [event for event in _events_of(graph) if event["event"] == "started"]
    assert not {"environment", "gpu"} & started.keys()
    members = {"environment": ["NCCL 2.28.9"], "gpu": {"name": "NVIDIA H200"}}
    monkeypatch.setattr(bench, "device_members", lambda device, tf32: members)
    (started,) = [event for event in _events_of(graph) if event["event"] == "started"]
    assert {key: started[key] for key in members} == members


def test_a_rank_reports_the_state_of_its_gpu(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "watch_launcher", lambda: None)
    members = {"gpu": {"other_processes": 1}, "outside_bytes": 5}
    monkeypatch.setattr(bench, "device_state", lambda device: members)
    events = _events_of(graph)
    (measured,) = [event for event in events if event["event"] == "measured"]
    assert {key: measured[key] for key in members} == members
    notes = [event["text"] for event in events if event["event"] == "note"]
    assert any(note.startswith("1 other process is using the GPU") for note in notes)
