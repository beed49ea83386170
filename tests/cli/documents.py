"""Makes small captures to damage, and zstd frames without a zstd library."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def tensor(storage: int, *shape: Any, dtype: str = "float32", **members: Any) -> Document:
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= size if isinstance(size, int) else size["hint"]
    return {
        "t": {
            "shape": list(shape),
            "stride": stride,
            "offset": 0,
            "dtype": dtype,
            "device": "cuda:0",
            "storage": storage,
            **members,
        }
    }


def node(name: str, op: str, target: str, args: list[Any], val: Any, **members: Any) -> Document:
    return {"name": name, "op": op, "target": target, "args": args, "kwargs": {}, "val": val} | members


def n(name: str) -> Document:
    return {"n": name}


def capture() -> Document:
    """A joint graph with one of each: a group, a symbol, a view, a collective, tables."""
    s0 = {"sym": "s0", "hint": 8}
    return {
        "format": "jointer-capture",
        "version": 1,
        "kind": "joint",
        "name": "small",
        "torch": "2.11.0",
        "rank": 0,
        "world_size": 2,
        "info": {"model": "small"},
        "groups": {"0": {"ranks": [0, 1], "desc": "mesh_tp", "backend": "nccl"}},
        "symbols": {
            "vars": {"s0": {"min": 1, "max": 64, "hint": 8}},
            "replacements": {},
            "deferred_asserts": {},
        },
        "triton_kernels": {},
        "constants": {},
        "storages": [256, {"sym": "16*s0", "hint": 128}, {"sym": "32*s0", "hint": 256}, 1024],
        "modules": [[["L['self']", "Model"], ["L['self'].wq", "Linear"]]],
        "stacks": ["model.py:1 in forward"],
        "nodes": [
            node("primals_1", "placeholder", "primals_1", [], tensor(0, 8, 8),
                 desc={"type": "ParamAOTInput", "target": "wq.weight"}),
            node("primals_2", "placeholder", "primals_2", [], tensor(1, s0, 4),
                 desc={"type": "PlainAOTInput"}),
            node("t", "call_function", "aten.t.default", [n("primals_1")], tensor(0, 8, 8),
                 stack=0, module=0, seq_nr=1, partitioner_tag="is_forward"),
            node("cat", "call_function", "aten.cat.default", [[n("primals_2"), n("primals_2")], 1],
                 tensor(2, s0, 8), stack=0, module=0, seq_nr=2),
            node("mm", "call_function", "aten.mm.default", [n("cat"), n("t")], tensor(2, s0, 8),
                 recompute="MUST_SAVE"),
            node("ar", "call_function", "_c10d_functional.all_reduce.default",
                 [n("mm"), "sum", "0"], tensor(3, s0, 8)),
            node("wait", "call_function", "_c10d_functional.wait_tensor.default", [n("ar")],
                 tensor(3, s0, 8)),
            node("output", "output", "output", [[n("wait"), None]], None),
        ],
    }  # fmt: skip


def half(kind: str) -> Document:
    """One half of a pair: the backward reads `mul`, which the forward saves."""
    def base(nodes: list[Document]) -> Document:
        return {
            "format": "jointer-capture", "version": 1, "kind": kind, "name": f"small.{kind}",
            "groups": {}, "storages": [512, 512, 512], "modules": [], "stacks": [], "nodes": nodes,
        }  # fmt: skip

    if kind == "forward":
        return base([
            node("primals_1", "placeholder", "primals_1", [], tensor(0, 128)),
            node("mul", "call_function", "aten.mul.Tensor", [n("primals_1"), 2], tensor(1, 128)),
            node("output", "output", "output", [[n("mul")]], None),
        ])  # fmt: skip
    return base([
        node("mul", "placeholder", "mul", [], tensor(0, 128)),
        node("tangents_1", "placeholder", "tangents_1", [], tensor(1, 128)),
        node("grad", "call_function", "aten.mul.Tensor", [n("mul"), n("tangents_1")], tensor(2, 128)),
        node("output", "output", "output", [[n("grad")]], None),
    ])  # fmt: skip


def at(document: Document, name: str) -> Document:
    """The node with that name."""
    return next(record for record in document["nodes"] if record["name"] == name)


def write(path: Path, document: Document | bytes) -> Path:
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return path


def changed(document: Document) -> Document:
    return copy.deepcopy(document)


# --- zstd (RFC 8878) ---

MAGIC = b"\x28\xb5\x2f\xfd"
BLOCK = 128 << 10
WINDOW = b"\x38"  # 128 KiB


def _block(kind: int, size: int, last: bool, content: bytes) -> bytes:
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def stored(data: bytes) -> bytes:
    """A frame of raw blocks."""
    starts = range(0, max(len(data), 1), BLOCK)
    return MAGIC + b"\x00" + WINDOW + b"".join(
        _block(0, len(data[i : i + BLOCK]), i == starts[-1], data[i : i + BLOCK]) for i in starts
    )


def bomb(size: int, byte: bytes = b" ", declares: int | None = None) -> bytes:
    """A frame that unpacks to `size` bytes, 32,768 times its own size."""
    header = b"\x00" + WINDOW if declares is None else b"\xc0" + WINDOW + struct.pack("<Q", declares)

    def blocks() -> Iterator[bytes]:
        count = size // BLOCK
        for i in range(count):
            yield _block(1, BLOCK, i + 1 == count, byte)

    return MAGIC + header + b"".join(blocks())
