"""Writes tensors to a safetensors file."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import torch

_NAMES = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
    torch.complex64: "C64",
}


def write_safetensors(path: str | Path, tensors: Mapping[str, torch.Tensor]) -> None:
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        flat = tensor.detach().resolve_conj().contiguous().reshape(-1)
        blob = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))
