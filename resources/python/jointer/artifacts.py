"""Compiled packages as files: names, manifests, and the cache.

A package ``NAME.pt2`` is an AOTInductor archive; ``NAME.json`` next to it records its source and
how to call it (docs/running.md). The cache stores both under a key: a digest of everything that the
compiled code depends on. Files are written atomically, and if a package has a manifest, it is
complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from .document import replace_file

FORMAT = "jointer-compiled"
VERSION = 1

#: Incremented whenever the packages for a given key change.
_GENERATION = 2

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def cache_folder() -> Path:
    """The folder of the cache: ``JOINTER_COMPILED`` if set, otherwise ``jointer/compiled`` in
    ``XDG_CACHE_HOME`` or ``~/.cache``."""
    if folder := os.environ.get("JOINTER_COMPILED"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "jointer" / "compiled"


def package_name(graph: str, phase: str, rank: int, method: str, digest: str) -> str:
    """The name of a package, without suffix."""
    label = _UNSAFE.sub("_", graph).strip("._") or "graph"
    return f"{label}.{phase}.rank{rank}.{method}.{digest[:12]}"


def cache_key(facts: Mapping[str, Any]) -> str:
    """The cache key of a package made from ``facts`` (JSON) by this torch."""
    text = json.dumps(
        {**facts, "torch": torch.__version__, "generation": _GENERATION}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def capability(device_type: str) -> str:
    """The target of machine code for the device: ``sm_90``, ``AVX512 of <model> <digest>``."""
    if device_type == "cuda":
        major, minor = torch.cuda.get_device_capability()
        return f"sm_{major}{minor}"
    model, flags = _processor()
    digest = hashlib.sha256(flags.encode()).hexdigest()[:8]
    return f"{torch.backends.cpu.get_cpu_capability()} of {model} {digest}"


def _processor() -> tuple[str, str]:
    """The processor's name and its instruction sets."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    return (
        found.get("model name") or platform.machine(),
        found.get("flags") or found.get("Features") or "",
    )


def processor_name() -> str:
    """The name of the machine's processor."""
    return _processor()[0]


class Cache:
    """A cache of packages by key. If processes run concurrently, only one compiles a package."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder()

    def get(
        self,
        key: str,
        make: Callable[[Path], Mapping[str, Any]],
        waiting: Callable[[], None] = lambda: None,
    ) -> tuple[Path, dict[str, Any], bool]:
        """The package under ``key``, its manifest, and True if it was cached.

        Args:
            key: from ``cache_key``.
            make: writes the package to the given path and returns its manifest.
            waiting: called if another process is compiling the package.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        package = self._folder / f"{key}.pt2"
        if (known := self._description(package)) is not None:
            return package, known, True
        with self._lock(key, waiting):
            if (known := self._description(package)) is not None:
                return package, known, True
            with tempfile.TemporaryDirectory(dir=self._folder, prefix=".making.") as work:
                made = Path(work) / "package.pt2"
                description = dict(make(made))
                os.replace(made, package)
            write_json(description, package.with_suffix(".json"))
        return package, description, False

    def _description(self, package: Path) -> dict[str, Any] | None:
        try:
            known = json.loads(package.with_suffix(".json").read_text())
        except (OSError, ValueError):
            return None
        is_ours = isinstance(known, dict) and known.get("version") == VERSION
        return known if is_ours and package.is_file() else None

    @contextlib.contextmanager
    def _lock(self, key: str, waiting: Callable[[], None]) -> Iterator[None]:
        with open(self._folder / f"{key}.lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def place(package: Path, description: Mapping[str, Any], folder: Path, name: str) -> Path:
    """Put ``package`` and its manifest into ``folder`` as ``name``, and return the new path."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.pt2"
    with tempfile.TemporaryDirectory(dir=folder, prefix=".placing.") as work:
        copy = Path(work) / "package.pt2"
        try:
            os.link(package, copy)
        except OSError:
            shutil.copyfile(package, copy)
        os.replace(copy, target)
    write_json(description, folder / f"{name}.json")
    return target


def write_json(value: Any, path: Path) -> None:
    """Write ``value`` atomically."""
    replace_file(path, f"{json.dumps(value, indent=1)}\n".encode(), 0o644)
