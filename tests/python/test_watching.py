"""graph_trainer's functions are wrapped in every module that imports them.

A small package with torchtitan's names stands in for it, since only the watching is tested.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import jointer
from jointer.document import read_document

PACKAGE = "torchtitan.experiments.graph_trainer"
TRACER = """
from dataclasses import dataclass, field
from torch.fx.experimental.proxy_tensor import make_fx

@dataclass
class Traced:
    gm: object
    state_fqns: list
    num_flat_outputs: int
    input_subclass_layouts: dict = field(default_factory=dict)
    output_subclass_layouts: dict = field(default_factory=dict)

def minimal_fx_tracer(fn, module=None):
    def trace(*inputs):
        state = dict(module.named_parameters()) | dict(module.named_buffers())
        gm = make_fx(fn, tracing_mode="fake")(*state.values(), *inputs)
        for node in gm.graph.nodes:
            node.meta["autograd_backward"] = node.name.startswith("mul")
        return Traced(gm, list(state), len(gm.graph.output_node().args[0]))
    return trace
"""
PASSES = """
def apply_graph_passes(gm, example_inputs, passes, *, compile_config=None):
    for each in passes:
        gm = each(gm, example_inputs)
    return gm
"""
BUILDER = """
from types import SimpleNamespace

def _annotate_graph_pp_modules(modules, *, stage_index):
    modules.seen = stage_index

def build(gm, stage):
    modules = SimpleNamespace(fw=gm, full_bw=None, bw_di=gm, bw_dw=gm)
    _annotate_graph_pp_modules(modules, stage_index=stage)
    assert modules.seen == stage
"""
TRAINER = """
from .make_fx_tracer import minimal_fx_tracer
from .passes import apply_graph_passes

def train(model):
    step = lambda weight, bias, scale, x: [(x @ weight).sum(), weight * 2, bias * 2]
    return minimal_fx_tracer(step, module=model)(torch.ones(2, 4))

import torch
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes torchtitan's stand-in importable, with none of its modules loaded before or after."""
    folder = tmp_path / "lib" / PACKAGE.replace(".", "/")
    (folder / "graph_pp").mkdir(parents=True)
    for path in (folder, folder / "graph_pp", *folder.parents[:2]):
        (path / "__init__.py").write_text("")
    texts = {"make_fx_tracer": TRACER, "passes": PASSES, "trainer": TRAINER}
    for name, text in {**texts, "graph_pp/graph_builder": BUILDER}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    held = {name: sys.modules.pop(name) for name in list(sys.modules) if "torchtitan" in name}
    yield
    for name in [name for name in sys.modules if "torchtitan" in name]:
        del sys.modules[name]
    sys.modules.update(held)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 4))
        self.bias = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("scale", torch.ones(1))


def double(gm: torch.fx.GraphModule, example_inputs: object) -> torch.fx.GraphModule:
    return torch.fx.GraphModule(gm, gm.graph)


@pytest.mark.parametrize("imported", ["before", "after"])
def test_a_step_and_its_passes(imported: str, tmp_path: Path) -> None:
    if imported == "before":
        __import__(f"{PACKAGE}.trainer")
    out = tmp_path / "captures"
    with jointer.capturing(out / "{n}.{kind}.json", each_pass=True) as recorder:
        __import__(f"{PACKAGE}.trainer")
        trainer = sys.modules[f"{PACKAGE}.trainer"]
        traced = trainer.train(Model())
        trainer.apply_graph_passes(traced.gm, [], [double, double])
    assert recorder.written == 3
    trainer.train(Model())  # no longer watched
    assert sorted(path.name for path in out.iterdir()) == [
        "0.train_step.after_01_double.json",
        "0.train_step.after_02_double.json",
        "0.train_step.json",
    ]
    for path in out.iterdir():
        *inputs, _ = (each.get("desc") for each in read_document(path)["nodes"][:4]), None
        first, second, third, x = inputs[0]
        assert first == {"type": "ParamAOTInput", "target": "weight"}
        assert second == {"type": "ParamAOTInput", "target": "bias"}
        assert third == {"type": "BufferAOTInput", "target": "scale"} and x is None
        loss, *gradients = read_document(path)["nodes"][-1]["desc"]
        assert loss["type"] == "PlainAOTOutput"
        assert [each["grad_of"]["target"] for each in gradients] == ["weight", "bias"]


def test_a_custom_pass_finds_the_names(tmp_path: Path) -> None:
    __import__(f"{PACKAGE}.trainer")
    trainer = sys.modules[f"{PACKAGE}.trainer"]
    traced = trainer.train(Model())  # reachable: a variable of the caller
    save = jointer.capture_pass(tmp_path / "step.json")
    trainer.apply_graph_passes(traced.gm, [], [save])
    nodes = read_document(tmp_path / "step.json")["nodes"]
    assert [each.get("desc", {}).get("target") for each in nodes[:4]] == [
        "weight", "bias", "scale", None,
    ]  # fmt: skip
    # No module can be found, so inputs with gradients count as parameters.
    assert nodes[2]["desc"]["type"] == "BufferAOTInput"


def test_stages_of_a_pipeline(tmp_path: Path) -> None:
    with jointer.capturing(tmp_path / "{n}.{kind}.json") as recorder:
        __import__(f"{PACKAGE}.graph_pp.graph_builder")
        builder = sys.modules[f"{PACKAGE}.graph_pp.graph_builder"]
        gm = torch.fx.experimental.proxy_tensor.make_fx(torch.sin, tracing_mode="fake")(
            torch.ones(2)
        )
        builder.build(gm, 0)
        builder.build(gm, 3)
    assert recorder.written == 3
    document = read_document(tmp_path / "1.stages.json")
    assert [(each["name"], each["role"]) for each in document["stages"]] == [
        (f"stage{stage}.{role}", role)
        for stage in (0, 3)
        for role in ("forward", "backward_input", "backward_weight")
    ]
