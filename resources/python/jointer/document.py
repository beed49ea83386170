"""Reads and writes capture documents.

A document is the JSON object of the native capture format. Files are written atomically. Paths that
end in ``.zst`` are compressed with zstd; the reader detects compression from the content, so
renamed files can be read too.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .errors import CaptureError, byte_of

FORMAT = "jointer-capture"
VERSION = 1

#: The first four bytes of every zstd frame.
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_LEVEL = 12


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the capture at ``path``.

    Raises:
        CaptureError: the file is not a capture, is damaged, or has an unknown version.
        OSError: the file cannot be read.
    """
    raw = Path(path).read_bytes()
    try:
        document = json.loads(_decompress(raw, path) if raw[:4] == _ZSTD_MAGIC else raw)
    except UnicodeDecodeError as error:
        raise CaptureError(f"{path}: byte {error.start} is not UTF-8 text: not a capture") from None
    except json.JSONDecodeError as error:
        raise CaptureError(f"{path}: invalid JSON near byte {byte_of(error)} ({error.msg})") from None
    check_document(document, path)
    return document


def check_document(document: Any, where: str | os.PathLike[str]) -> None:
    """Raise ``CaptureError`` unless ``document`` is a capture of a known version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise CaptureError(f'{where}: not a capture: expected `format` to be "{FORMAT}"')
    version = document.get("version")
    if version != VERSION:
        raise CaptureError(
            f"{where}: capture version {version} is not supported: this program reads "
            f"version {VERSION}; use a newer Jointer"
        )


def write_document(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write ``document`` to ``path``, and create missing folders.

    The text is written to a temporary file in the same folder, which is then renamed: readers see
    the old file or the new one, and failures leave no partial files.

    Raises:
        CaptureError: ``path`` ends in ``.zst`` and there is no zstd module.
        OSError: the file cannot be written.
    """
    path = Path(path)
    data = json.dumps(
        document, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()
    if path.suffix == ".zst":
        data = _compress(data, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data, 0o666 & ~_umask())


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Write ``data`` atomically to a file with the permissions ``mode``."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _compress(data: bytes, path: Path) -> bytes:
    if module := _import("zstandard"):
        return module.ZstdCompressor(level=_ZSTD_LEVEL).compress(data)
    if module := _import("compression.zstd"):
        return module.compress(data, level=_ZSTD_LEVEL)
    raise CaptureError(
        f"{path}: zstd is not available; run `pip install zstandard`, or give a path that ends in "
        ".json"
    )


def _decompress(data: bytes, path: str | os.PathLike[str]) -> bytes:
    try:
        if module := _import("zstandard"):
            return module.ZstdDecompressor().decompressobj().decompress(data)
        if module := _import("compression.zstd"):
            return module.decompress(data)
    except Exception as error:
        raise CaptureError(f"{path}: damaged zstd data ({error}); capture again") from None
    raise CaptureError(f"{path}: zstd is not available; run `pip install zstandard`")


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
