"""Operations and kernels that we predict for small programs, one for each family of operators, compared with
Inductor's: on a GPU, and on the CPU, where other rules decide what fuses. Kernels of the joint graphs of small
models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import SHARED
from kernel_families import families
from kernel_models import models
from test_lowering import compare

ONLY_TORCH = ("2.15",)
HAS_TOOLS = (SHARED / "tools" / "inductor_oracle.py").is_file()
#: Where the operations before fusion differ: in the nodes of the graph behind them.
DIFFERS_BEFORE_FUSION = {"float8", "rowwise_float8"}
#: Rules of Inductor that the prediction does not have.
MISSING = {
    "blocks": "a reduction of blocks fuses with the reduction before it",
    "pools": "positions in overlapping windows are minima of expressions",
    "swin": "loops of positions that wrap around are ordered as if they had no strides",
}
IN_EVERY_RUN = {"gpt2_fused", "qwen", "resnet"}
pytestmark = pytest.mark.skipif(not HAS_TOOLS, reason="shared tools are missing")


def cases() -> list[Any]:
    found = []
    for name in [*families(), *models()]:
        marks = [] if name in families() or name in IN_EVERY_RUN else [pytest.mark.slow]
        if name in MISSING:
            marks.append(pytest.mark.xfail(reason=MISSING[name], strict=True))
        found.append(pytest.param(name, marks=marks))
    return found


@pytest.mark.parametrize("name", cases())
def test_same_kernels_as_inductor(name: str, tmp_path: Path, jointer: Callable[..., Any]) -> None:
    capture, reference = tmp_path / f"{name}.json.zst", tmp_path / f"{name}.kernels.json.zst"
    script = Path(__file__).with_name("kernel_families.py")
    asked = subprocess.run([sys.executable, str(script), name, str(capture), str(reference)], capture_output=True,
                           text=True, env={**os.environ, "JOINTER_SHARED": str(SHARED)})
    if not reference.is_file():
        pytest.fail(asked.stderr[-2000:], pytrace=False)
    _, differing, _ = compare(reference, "2.15", capture)
    if name in families() and name not in DIFFERS_BEFORE_FUSION:
        assert not differing, [(row["name"], differs) for row, _, differs in differing]
    theirs: Any = json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(reference.read_bytes()))
    ours = jointer("kernels", capture, "--source", "predicted", "--torch", "2.15")
    assert [(row["name"], row["kind"], row["bytes"]) for row in ours["kernels"]] == [
        (row["name"], row["kind"], row["bytes"]) for row in theirs["nodes"]]
    assert ours["peak_bytes"] == theirs["memory"]["after"]["peak_allocfree"]
