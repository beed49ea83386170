"""A flat training step with its tags applied gives bitwise equal outputs in less memory.

Tested in the runner, in torch on the graph with the replayed recipe, and by comparison with torch's own pass.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import HERE, bench, output_of, run_ranks
from files import write_safetensors
from flat_step import flat_step
from torch import fx
from torch._functorch._activation_checkpointing import (
    remat_using_tags_for_fwd_loss_bwd_graph_pass as torchs,
)

import jointer

QUICK = ("--threads=1", "--iterations=2", "--warmup=0")
PRESETS = ("default", "full", "eager")


@dataclass
class Step:
    gm: fx.GraphModule
    values: list[torch.Tensor]
    outputs: list[torch.Tensor]
    capture: Path
    inputs: Path
    expected: Path

    def recipe(self, preset: str) -> Path:
        out = self.capture.with_name(f"{preset}.json")
        output_of("policy_recipe", self.capture, preset, out)
        return out


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Step]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("flat")
    gm, inputs = flat_step()
    values = list(inputs.values())
    outputs = gm(*values)
    write_safetensors(folder / "inputs.safetensors", inputs)
    write_safetensors(
        folder / "expected.safetensors", {str(i): each for i, each in enumerate(outputs)}
    )
    jointer.capture(gm, folder / "step.json", name="step")
    yield Step(
        gm,
        values,
        outputs,
        folder / "step.json",
        folder / "inputs.safetensors",
        folder / "expected.safetensors",
    )
    torch.set_num_threads(threads)


def run(step: Step, graph: Path) -> dict[str, Any]:
    """The report on a run's outputs, and on the peak of a step."""
    code, result = bench(graph, f"--inputs={step.inputs}", f"--expected={step.expected}", *QUICK)
    assert code == 0, result
    return {**result["verify"], "peak": result["measured"]["peak_bytes"]}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_runner_computes_the_same(step: Step, preset: str, tmp_path: Path) -> None:
    edited = tmp_path / "edited.json"
    output_of("jointer", "apply", step.capture, "--recipe", step.recipe(preset), "-o", edited)
    plain, answer = run(step, step.capture), run(step, edited)
    assert plain["bitwise"], plain
    assert answer["bitwise"], answer
    assert answer["peak"] < plain["peak"]


OFFLOAD = "tag_with_memory_policy{policy=sac_and_offload},apply_cpu_offload,selective_activation_remat"


def test_offloaded_values_are_reloaded(step: Step) -> None:
    """Copies to the host and back, with recomputed values between them."""
    arguments = (f"--inputs={step.inputs}", f"--expected={step.expected}", "--profile", *QUICK)
    code, result = bench(step.capture, *arguments, "--passes", OFFLOAD)
    assert code == 0, result
    assert result["verify"]["bitwise"], result["verify"]
    targets = {each["target"] for each in result["explained"]["operators"]}
    predicted, measured = result["predicted"]["peak_bytes"], result["measured"]["peak_bytes"]
    assert abs(measured - predicted) <= 0.01 * predicted, targets


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FSDP over two ranks: a folder with the graph, inputs and outputs of each."""
    folder = tmp_path_factory.mktemp("two_ranks")
    for ran in run_ranks([sys.executable, HERE / "flat_step.py", folder], 2):
        assert ran.code == 0, ran.err
    return folder


@pytest.mark.parametrize(
    "passes",
    [
        "tag_with_memory_policy{policy=full},selective_activation_remat",
        pytest.param(OFFLOAD, marks=pytest.mark.slow),
    ],
)
def test_two_ranks_compute_the_same(passes: str, two_ranks: Path) -> None:
    """Gathered parameters are recomputed in the backward."""
    peaks = []
    for given in ((), ("--passes", passes)):
        code, result = bench(
            two_ranks / "step.{rank}.json", "--ranks=2",
            f"--inputs={two_ranks}/inputs.{{rank}}.safetensors",
            f"--expected={two_ranks}/expected.{{rank}}.safetensors", "--profile", *QUICK, *given,
        )  # fmt: skip
        assert code == 0, result
        for rank in result["ranks"]:
            assert [each["bitwise"] for each in rank["verified"]] == [True], rank
        predicted, measured = result["predicted"]["peak_bytes"], result["measured"]["peak_bytes"]
        assert abs(measured - predicted) <= 0.01 * predicted
        peaks.append(measured)
    assert peaks[1] < peaks[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_replay_computes_the_same(step: Step, preset: str) -> None:
    gm = copy.deepcopy(step.gm)
    report = jointer.apply_recipe(gm, step.recipe(preset))
    assert report.as_recorded and not report.skipped
    names = [node.name for node in gm.graph.nodes]
    assert any(name.endswith("_recomputed") for name in names)
    for here, then in zip(gm(*step.values), step.outputs, strict=True):
        assert torch.equal(here, then)


@pytest.mark.parametrize("preset", PRESETS)
def test_torchs_own_pass_creates_the_same_calls(
    step: Step, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Attention without dropout is not random, but torch decides by operator.
    monkeypatch.setattr(torchs, "has_recomputable_rng_ops", lambda gm: False)
    ours, tagged = copy.deepcopy(step.gm), copy.deepcopy(step.gm)
    recipe = step.recipe(preset)
    jointer.apply_recipe(ours, recipe)
    document = jointer.recipe.read_recipe(recipe)
    jointer.apply_recipe(
        tagged,
        {
            "format": "jointer-recipe",
            "version": 1,
            "edits": [{"changes": document.edits[0].changes}],
        },
    )
    for node in tagged.graph.nodes:
        if node.meta.get("autograd_backward"):
            node.meta["custom"] = {**node.meta.get("custom", {}), "remat_pass_tag": "is_backward"}
    theirs = torchs.remat_using_tags_for_fwd_loss_bwd_graph(tagged)
    # torch also removes dead code, and renumbers names except those of the copies.
    ours.graph.eliminate_dead_code()
    assert calls(ours) == calls(theirs)


def calls(gm: fx.GraphModule) -> list[tuple[str, str]]:
    return [
        (node.name if node.name.endswith("_recomputed") else "", str(node.target))
        for node in gm.graph.nodes
        if node.op == "call_function"
    ]
