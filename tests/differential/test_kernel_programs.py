"""Our scheduler of kernels compared with Inductor's for small programs: loops that are reordered, inputs that are
changed in place, scans, concatenations, sums over rows and columns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import SHARED, output_of
from kernel_programs import programs

ONLY_TORCH = ("2.15",)
HAS_TOOLS = (SHARED / "tools" / "inductor_oracle.py").is_file()
pytestmark = pytest.mark.skipif(not HAS_TOOLS, reason="shared tools are missing")


@pytest.mark.parametrize("name", programs())
def test_same_kernels_as_inductor(name: str, tmp_path: Path) -> None:
    reference = tmp_path / f"{name}.json.zst"
    script = Path(__file__).with_name("kernel_programs.py")
    environment = {**os.environ, "JOINTER_SHARED": str(SHARED)}
    asked = subprocess.run([sys.executable, str(script), name, str(reference)], capture_output=True, text=True,
                           env=environment)
    assert reference.is_file(), asked.stderr[-2000:]
    theirs: Any = json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(reference.read_bytes()))
    ours = json.loads(output_of("kernel_schedule", reference))

    def kernels(rows: list[dict[str, Any]]) -> list[Any]:
        return [(row["name"], row["kind"], row["bytes"], row["memory"]) for row in rows]

    assert ours["fused_order"] == theirs["order_before_reorder"]
    assert kernels(ours["kernels"]) == kernels(theirs["nodes"])
    assert ours["peak"] == theirs["memory"]["after"]["peak_allocfree"]
