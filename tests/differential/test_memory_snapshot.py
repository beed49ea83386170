"""Reads CUDA memory snapshots, pickled by Python in every protocol that torch has used."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import BIN, ROOT

sys.path.insert(0, str(ROOT / "tests" / "fuzz"))

from make_memory_snapshots import FOLDER, snapshot  # noqa: E402  (found by the line above)

GRAPH = ROOT / "resources" / "samples" / "llama_debug_tp2.joint.json.zst"
PROTOCOLS = pytest.mark.parametrize("protocol", range(2, 6))


def rounded(size: int) -> int:
    return -(-size // 512) * 512


def simulated(seed: int, entries: int, ring: int) -> tuple[dict[str, Any], list[int], list[int]]:
    """A run of an allocator with a history of ``ring`` entries, and both curves over them."""
    chance = random.Random(seed)
    frames = [{"filename": f"/src/{i}.py", "line": i, "name": f"f{i}"} for i in range(300)]
    live: dict[int, int] = {}
    segments: dict[int, int] = {}
    trace: list[dict[str, Any]] = []
    allocated, reserved = [0], [0]
    address = 1 << 40

    def record(action: str, addr: int, size: int) -> None:
        trace.append(
            {
                "action": action,
                "addr": addr,
                "size": size,
                "stream": 0,
                "time_us": 1_700_000_000_000_000 + 7 * len(trace),
                "compile_context": "N/A",
                "user_metadata": "",
                "frames": chance.sample(frames, 3),
            }
        )
        allocated.append(sum(map(rounded, live.values())))
        reserved.append(sum(segments.values()))

    while len(trace) < entries:
        if live and chance.random() < 0.48:
            addr = chance.choice(list(live))
            size = live.pop(addr)
            record("free_requested", addr, size)
            record("free_completed", addr, size)
            continue
        size, address = chance.randint(1, 5_000_000), address + (1 << 30)
        if chance.random() < 0.3:
            segments[address] = 20 << 20
            record("segment_alloc", address, segments[address])
        live[address] = size
        record("alloc", address, size)
        if segments and chance.random() < 0.1:
            addr = chance.choice(list(segments))
            record("segment_free", addr, segments.pop(addr))
            reserved[-1] = sum(segments.values())
    blocks = [
        {"address": addr, "size": rounded(size), "requested_size": size, "state": "active_allocated", "frames": []}
        for addr, size in live.items()
    ]
    state = [{"device": 1, "address": addr, "total_size": size, "blocks": []} for addr, size in segments.items()]
    state.append({"device": 1, "address": 0, "total_size": 0, "blocks": blocks})
    state.append({"device": 0, "address": 0, "total_size": 1 << 30, "blocks": []})
    kept = len(trace[-ring:])
    document = {"segments": state, "device_traces": [[], trace[-ring:]], "allocator_settings": {"x": 0.5}}
    return document, allocated[-kept - 1 :], reserved[-kept - 1 :]


def levels(curve: list[list[float]]) -> list[int]:
    """The values of a curve, in order."""
    return [int(value) for index, (_, value) in enumerate(curve) if index == 0 or value != curve[index - 1][1]]


def distinct(values: list[int]) -> list[int]:
    return [value for index, value in enumerate(values) if index == 0 or value != values[index - 1]]


@PROTOCOLS
@pytest.mark.parametrize("ring", [10**9, 700], ids=["whole", "overflowed"])
def test_curves_are_those_of_the_allocator(protocol: int, ring: int, tmp_path: Path, jointer: Any) -> None:
    document, allocated, reserved = simulated(seed=protocol, entries=3000, ring=ring)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(document, protocol=protocol))
    said = jointer("memory", GRAPH, "--snapshot", path, "--profile")["measured"]
    assert said["device_index"] == 1
    assert said["entries"] == len(document["device_traces"][1])
    assert said["begins_before"] == (ring == 700)
    assert levels(said["profile"]) == distinct(allocated)
    assert levels(said["reserved_profile"]) == distinct(reserved)
    assert (said["peak_bytes"], said["reserved_peak_bytes"]) == (max(allocated), max(reserved))
    assert said["notes"] == []


@PROTOCOLS
def test_the_documented_shape(protocol: int, tmp_path: Path, jointer: Any) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(snapshot(), protocol=protocol))
    assert (FOLDER / f"protocol{protocol}.pickle").read_bytes() == path.read_bytes(), "the corpus has this shape"
    said = jointer("memory", GRAPH, "--snapshot", path, "--profile")["measured"]
    assert said["profile"] == [[0, 0], [0.01, 1024], [0.02, 1536], [0.03, 512]]
    assert said["reserved_peak_bytes"] == 2 << 20
    assert said["notes"] == ["1 out-of-memory error"]


def test_torch_reads_the_same(tmp_path: Path) -> None:
    """The viewer that ships with torch accepts our input: the format is upstream's."""
    from torch.cuda import _memory_viz

    text = _memory_viz.trace({**snapshot(), "segments": []})
    for line in ("a = cudaMalloc(139637976727552, 2.0MiB)", "b = a[0:1000.0B]", "c = a[1024:512.0B]"):
        assert line in text


class Attack:
    def __reduce__(self) -> Any:
        return os.system, ("touch attacked",)


@PROTOCOLS
@pytest.mark.parametrize("what", [Attack(), {1, 2}, torch.float32, range(3)], ids=["call", "set", "global", "range"])
def test_objects_are_never_made(what: Any, protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({**snapshot(), "extra": what}, protocol=protocol))
    done = subprocess.run(
        [BIN / "jointer", "memory", GRAPH, "--snapshot", path], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.startswith(f"jointer: {path}: not a pickle of plain values: byte ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "attacked").exists()
