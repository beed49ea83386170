"""Kernels that we predict for the graphs of a model as Inductor gets them, compared with Inductor's: decomposed, after
the passes on the joint graph, and partitioned by `torch.compile`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED
from half_models import half_models
from kernel_models import models
from test_kernels import KERNELS, is_view
from test_lowering import Row, read

ONLY_TORCH = ("2.15",)
HAS_TOOLS = (SHARED / "tools" / "inductor_oracle.py").is_file()
#: Positions as Inductor has them before it knows the loops: docs/estimates.md.
POSITIONS = "a repeated value that is read through a slice counts as computed once"
#: Rules of Inductor that the prediction does not have, by graph.
MISSING = {
    "gemma.backward": POSITIONS,
    "mixtral.forward": "a reduction and a loop over rows of what it reads are one kernel in stages",
    "qwen.backward": POSITIONS,
    "segmentation.backward": "positions in windows are minima of expressions",
}
#: Without a backward.
WHOLE_STEPS = {"optimizer_step", "training_step"}
#: The first case, which is in every run.
QUICK = ("auto_encoder", "llama", "optimizer_step")
pytestmark = pytest.mark.skipif(not HAS_TOOLS, reason="shared tools are missing: tools/inductor_oracle.py")


def cases() -> list[Any]:
    others = sorted({**models(), **half_models("")}.keys() - {*QUICK})
    return [pytest.param(QUICK, id="in_every_run"), *[pytest.param((name,), id=name) for name in others]]


def compared(capture: Path, answer: Path, jointer: Callable[..., Any]) -> tuple[list[str], str]:
    """The properties that differ, and the numbers as a line of text: ours and, if they differ, Inductor's."""
    targets = {node["name"]: node["target"] for node in read(capture)["nodes"] if node["op"] == "call_function"}
    expected = read(answer)
    found = jointer("kernels", capture, "--source", "predicted", "--torch", "2.15")

    def groups(rows: list[Row], nodes: str) -> dict[str, set[frozenset[str]]]:
        """The kernels in which each node runs, as sets of nodes."""
        kernels: dict[str, set[frozenset[str]]] = defaultdict(set)
        for row in rows:
            computed = frozenset(name for name in row[nodes] if name in targets and not is_view(targets[name]))
            for name in computed:
                kernels[name].add(computed)
        return kernels

    def figures(rows: list[Row], peak: int) -> dict[str, Any]:
        names = {row["name"] for row in expected["nodes"]} & {row["name"] for row in found["kernels"]}
        return {"kernels": [(row["name"], row["kind"]) for row in rows if row["kind"] in KERNELS],
                "bytes": [(row["name"], row["bytes"]) for row in rows],
                "order": [row["name"] for row in rows if row["name"] in names], "peak": peak}

    theirs, ours = groups(expected["nodes"], "computes"), groups(found["kernels"], "nodes")
    elsewhere = [name for name, kernels in theirs.items() if kernels != ours.get(name)]
    theirs_of = figures(expected["nodes"], expected["memory"]["after"]["peak_allocfree"])
    ours_of = figures(found["kernels"], found["peak_bytes"])
    differing = ["nodes"] * bool(elsewhere) + [name for name in theirs_of if theirs_of[name] != ours_of[name]]
    numbers = [{"kernels": len(each["kernels"]), "bytes": sum(size for _, size in each["bytes"]), "peak": each["peak"]}
               for each in (ours_of, theirs_of)]
    line = [f"{100 * (1 - len(elsewhere) / max(len(theirs), 1)):.1f} % of {len(theirs)} nodes in the same kernel"]
    for name, mine in numbers[0].items():
        line.append(f"{name} {mine:,}" + (f" ({numbers[1][name]:,})" if mine != numbers[1][name] else ""))
    line.append("order differs" if "order" in differing else "same order")
    return differing, ", ".join(line)


def wrong_graphs(name: str, folder: Path, jointer: Callable[..., Any]) -> list[str]:
    """The graphs of a model that differ and should not, and those that should and do not."""
    script = Path(__file__).with_name("kernel_halves.py")
    asked = subprocess.run([sys.executable, str(script), name, str(folder)], capture_output=True, text=True,
                           env={**os.environ, "JOINTER_SHARED": str(SHARED)})
    if asked.returncode != 0:
        pytest.fail(asked.stderr[-2000:], pytrace=False)
    answers = sorted(folder.glob(f"{name}.*.kernels.json.zst"))
    assert len(answers) == (1 if name in WHOLE_STEPS else 2)
    wrong = []
    for answer in answers:
        graph = answer.name.removesuffix(".kernels.json.zst")
        differing, figures = compared(folder / f"{graph}.json.zst", answer, jointer)
        print(f"{graph}: {figures}")
        if bool(differing) != (graph in MISSING):
            wrong.append(f"{graph}: {', '.join(differing) or 'equal, but in MISSING'}: {figures}")
    return wrong


@pytest.mark.parametrize("names", cases())
def test_same_kernels_as_inductor(names: tuple[str, ...], tmp_path: Path, jointer: Callable[..., Any]) -> None:
    wrong = [line for name in names for line in wrong_graphs(name, tmp_path, jointer)]
    assert not wrong, "\n".join(wrong)
