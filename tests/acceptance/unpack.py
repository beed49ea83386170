"""Reads compressed captures on a machine whose Python has no zstd module, through libzstd."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

def readable(capture: Path, folder: Path) -> Path:
    """The capture itself, or a decompressed copy in ``folder`` if Python could not read it."""
    if capture.suffix != ".zst" or importlib.util.find_spec("zstandard"):
        return capture
    copy = folder / capture.stem
    if not copy.exists():
        copy.write_bytes(_decompressed(capture.read_bytes()))
    return copy


class _Buffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def _decompressed(data: bytes) -> bytes:
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_createDStream.restype = ctypes.c_void_p
    zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
    zstd.ZSTD_decompressStream.argtypes = [ctypes.c_void_p] + 2 * [ctypes.POINTER(_Buffer)]
    zstd.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
    stream = zstd.ZSTD_createDStream()
    block = ctypes.create_string_buffer(1 << 20)
    source = ctypes.create_string_buffer(data, len(data))
    given = _Buffer(ctypes.addressof(source), len(data), 0)
    parts = []
    try:
        while True:
            taken = _Buffer(ctypes.addressof(block), len(block), 0)
            left = zstd.ZSTD_decompressStream(stream, ctypes.byref(taken), ctypes.byref(given))
            if zstd.ZSTD_isError(ctypes.c_size_t(left)):
                raise ValueError("damaged zstd data")
            parts.append(block.raw[: taken.at])
            if left == 0:
                return b"".join(parts)
            if taken.at == 0 and given.at == given.size:
                raise ValueError("the zstd data ends early")
    finally:
        zstd.ZSTD_freeDStream(stream)
