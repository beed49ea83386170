"""Reads ``.safetensors`` files.

A file is a length in eight bytes (little endian), a JSON header of that length with the dtype,
shape and offsets of each tensor, and then the data.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import torch

from .errors import CaptureError, first_line

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "U16": torch.uint16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "I64": torch.int64,
    "U64": torch.uint64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
    "C64": torch.complex64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
}


def read_safetensors(path: str) -> dict[str, torch.Tensor]:
    """The tensors of the file at ``path`` by name, on the CPU, in separate storages.

    Raises:
        CaptureError: the file is not a safetensors file, or is damaged.
        OSError: the file cannot be read.
    """
    raw = Path(path).read_bytes()
    try:
        (length,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8 : 8 + length])
        data = memoryview(raw)[8 + length :]
        return {
            name: _tensor(record, data) for name, record in header.items() if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, RuntimeError) as error:
        reason = first_line(error)
        raise CaptureError(f"{path}: not a complete safetensors file ({reason})") from None


def _tensor(record: dict, data: memoryview) -> torch.Tensor:
    dtype, shape = _DTYPES[record["dtype"]], [int(size) for size in record["shape"]]
    begin, end = record["data_offsets"]
    if not 0 <= begin <= end <= len(data) or end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"bytes {begin} to {end} of {len(data)} for {shape}")
    if begin == end:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).reshape(shape)
