"""From a training run to its kernels and back: a training run is captured, a wait and a collective are moved in the
predicted kernels on the command line, and the training runs again with the recipe, compiled by Inductor, on two Gloo
ranks.

``tests/python/test_kernel_order.py`` has the cases in which a recipe does not fit.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from test_day import RANKS, ROOT, jointer, run

TRAINER = ROOT / "tests" / "python" / "trainer_in_order.py"
GATHER, WAIT = "all_gather_into_tensor", "wait_tensor"


def train(**scenario: Any) -> list[dict[str, Any]]:
    """The results of a training run, by rank."""
    path = os.pathsep.join(filter(None, [str(ROOT / "resources" / "python"), os.environ.get("PYTHONPATH", "")]))
    launched = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", RANKS]
    out = run(*launched, TRAINER, json.dumps([scenario]), TORCHINDUCTOR_VEC_ISA_OK="1", PYTHONPATH=path)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return sorted(lines, key=lambda line: line["rank"])


def test_a_move_on_the_command_line_reaches_the_training(tmp_path: Path) -> None:
    plain = train(capture=str(tmp_path / "rank{rank}.json"))
    half = (tmp_path / "rank0.pair.json", "--half", "forward", "--source", "predicted")
    kernels = jointer("kernels", *half)["kernels"]
    starts, waits, products = (
        [kernel["nodes"][0] for kernel in kernels if kernel["kind"] == kind]
        for kind in ("collective", "wait", "extern")
    )
    assert [len(each) for each in (starts, waits, products)] == [2, 2, 2]
    recipe = tmp_path / "forward.order.json"
    jointer(
        *("kernels", *half, "--export", recipe),
        *("--move", f"{waits[1]} before {products[1]}", "--move", f"{starts[1]} before {waits[0]}"),
    )
    drawn = train(recipes=[str(recipe)])
    for before, after in zip(plain, drawn, strict=True):
        assert after["losses"] == before["losses"]
        assert after["calls"][0] == [GATHER, GATHER, WAIT, "mm", WAIT, "mm"] != before["calls"][0]
        forward = after["reports"][0]
        assert len(forward["applied"]) == 2 and not forward["skipped"] and not forward["difference"]
