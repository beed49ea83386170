"""Torch's own answer for a capture that can be run: eager, one thread, deterministic.

``python eager.py GRAPH INPUTS OUT`` with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set as torchrun
sets them; ``{rank}`` in the paths stands for the rank. OUT holds the outputs by their index.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))
import jointer  # noqa: E402

_DTYPES = {
    "F32": torch.float32,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "C64": torch.complex64,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def read_safetensors(path: str) -> dict[str, torch.Tensor]:
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = _DTYPES[entry["dtype"]]
        tensor = torch.empty(entry["shape"], dtype=dtype)
        if end > begin:
            tensor = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype)
        tensors[name] = tensor.reshape(entry["shape"])
    return tensors


def write_safetensors(path: str, tensors: dict[str, torch.Tensor]) -> None:
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def main(graph: str, inputs: str, out: str) -> None:
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if size > 1:
        dist.init_process_group("gloo")
    gm = jointer.load(graph.replace("{rank}", str(rank)))
    given = read_safetensors(inputs.replace("{rank}", str(rank)))
    arguments = [given[node.name] for node in gm.graph.nodes if node.op == "placeholder"]
    with torch.no_grad():
        outputs = torch.fx.Interpreter(gm).run(*arguments)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    kept = {str(i): value for i, value in enumerate(outputs) if value is not None}
    write_safetensors(out.replace("{rank}", str(rank)), kept)
    if size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
