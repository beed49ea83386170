"""Caches the vector instruction sets that the compiler and the processor support.

In every process, Inductor tests each set by loading a test library in a new Python process. This
takes 15 s on a machine with two cores. The result depends only on the compiler, the processor and
torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import torch

from .artifacts import capability, write_json


@contextlib.contextmanager
def without_trials(folder: Path) -> Iterator[None]:
    """Skip the tests inside the context if all sets are known to work.

    If this is unknown, test them and store the result in ``folder``.
    """
    from torch._inductor import cpu_vec_isa

    with contextlib.ExitStack() as stack:
        if platform.machine() == "x86_64" and _all_work(folder):
            for each in cpu_vec_isa.supported_vec_isa_list:
                stack.enter_context(mock.patch.object(type(each), "__bool__", lambda self: True))
        yield


def _all_work(folder: Path) -> bool:
    from torch._inductor import config, cpu_vec_isa

    if config.cpp.vec_isa_ok is not None:
        return config.cpp.vec_isa_ok
    path = folder / f"vec-isa.{_digest()}.json"
    try:
        return bool(json.loads(path.read_text())["all_work"])
    except (OSError, ValueError, KeyError, TypeError):
        flags = cpu_vec_isa.x86_isa_checker()
        candidates = [
            isa
            for isa in cpu_vec_isa.supported_vec_isa_list
            if all(flag in flags for flag in str(isa).split())
        ]
        all_work = len(cpu_vec_isa.valid_vec_isa_list()) == len(candidates)
        folder.mkdir(parents=True, exist_ok=True)
        write_json({"all_work": all_work, "sets": [str(isa) for isa in candidates]}, path)
        return all_work


def _digest() -> str:
    from torch._inductor.cpp_builder import get_cpp_compiler

    compiler = get_cpp_compiler()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    facts = [torch.__version__, capability("cpu"), compiler, version.stdout]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
