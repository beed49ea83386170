"""The ``torch.compile`` backend: captures are written, and training is unchanged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch._functorch import config as functorch_config

import jointer
from jointer.document import read_document


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.norm = nn.LayerNorm(8)
        self.register_buffer("scale", torch.full((8,), 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + nn.functional.gelu(layer(self.norm(x))) * self.scale
        return x


def train(backend: str | Callable[..., Any]) -> list[torch.Tensor]:
    """Losses and final parameters of a few steps."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Model()
    compiled = torch.compile(model, backend=backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(4):
        loss = compiled(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return [*losses, *(p.detach() for p in model.parameters())]


@pytest.mark.parametrize("inner", ["eager", "aot_eager", "inductor"])
def test_training_is_the_same(inner: str, tmp_path: Path) -> None:
    expected = train(inner)
    path = tmp_path / "rank{rank}.{kind}.{n}.json"
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="jointer")
        results = train(jointer.backend(path, inner=inner, pair=True, model="m"))
    for a, b in zip(results, expected, strict=True):
        assert torch.equal(a, b)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "rank0.joint.0.json",
        "rank0.pair.0.json",
    ]
    joint = read_document(tmp_path / "rank0.joint.0.json")
    pair = read_document(tmp_path / "rank0.pair.0.json")
    assert joint["kind"] == "joint" and pair["kind"] == "pair"
    assert joint["info"] == {"model": "m"}
    assert functorch_config.joint_custom_pass is None


def test_parameters_are_named(tmp_path: Path) -> None:
    train(jointer.backend(tmp_path / "a.json", pair=True))
    document = read_document(tmp_path / "a.json")
    named = [r["desc"] for r in document["nodes"] if r["op"] == "placeholder"]
    assert {"type": "ParamAOTInput", "target": "layers.1.bias"} in named
    assert {"type": "BufferAOTInput", "target": "scale"} in named
    assert [each["type"] for each in named].count("PlainAOTInput") == 1
    gradients = [each for each in document["nodes"][-1]["desc"] if each][1:]
    assert {each["grad_of"]["type"] for each in gradients} == {"ParamAOTInput"}
    paths = {row[-1][0] for row in document["modules"]}
    assert {"layers.0", "layers.1", "norm"} <= paths
    backward = read_document(tmp_path / "a.pair.json")["backward"]
    assert backward["nodes"][-1]["desc"][-1] is None or gradients


def test_captured_graph_computes_the_gradients(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, x = Model(), torch.randn(4, 8)
    model(x).sum().backward()
    expected = {name: p.grad.clone() for name, p in model.named_parameters()}
    torch.compile(model, backend=jointer.backend(tmp_path / "a.json"))(x).sum().backward()
    gm = jointer.load(tmp_path / "a.json")
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    inputs = []
    for node in gm.graph.find_nodes(op="placeholder"):
        desc = node.meta["desc"]
        is_tangent = node.name.startswith("tangents")
        inputs.append(tensors[desc.target] if hasattr(desc, "target") else x)
        inputs[-1] = torch.ones(4, 8) if is_tangent else inputs[-1]
    with torch.no_grad():
        results = gm(*inputs)
    for desc, result in zip(gm.graph.output_node().meta["desc"], results, strict=True):
        if hasattr(desc, "grad_of"):
            torch.testing.assert_close(result, expected[desc.grad_of.target])


def test_every_graph_is_captured(tmp_path: Path) -> None:
    @torch.compile(backend=jointer.backend(tmp_path / "{n}.json"))
    def broken_in_two(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    broken_in_two(torch.ones(3, requires_grad=True)).sum().backward()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.json", "1.json"]
    with torch.no_grad():
        broken_in_two(torch.ones(4))
    assert len(list(tmp_path.iterdir())) == 2  # nothing to train, no joint graph


def test_capturing_sees_every_backend(tmp_path: Path) -> None:
    with jointer.capturing(tmp_path / "{n}.{kind}.json", pair=True):
        for backend in ("eager", "aot_eager", "aot_eager_decomp_partition"):
            train(backend)
    assert len(list(tmp_path.glob("*.joint.json"))) == 3
    assert len(list(tmp_path.glob("*.pair.json"))) == 3
    train("aot_eager")
    assert len(list(tmp_path.iterdir())) == 6


def test_an_existing_pass_runs_first(tmp_path: Path) -> None:
    def rename(gm: fx.GraphModule, inputs: object) -> fx.GraphModule:
        gm.meta["seen"] = True
        next(iter(gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default))).meta[
            "custom"
        ] = {"by": "another pass"}
        return gm

    with functorch_config.patch(joint_custom_pass=rename):
        compiled = torch.compile(torch.sin, backend=jointer.backend(tmp_path / "a.json"))
        compiled(torch.ones(2, requires_grad=True)).sum().backward()
    nodes = read_document(tmp_path / "a.json")["nodes"]
    assert any(r.get("custom") == {"by": "another pass"} for r in nodes)


def test_training_continues_if_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    expected = train("aot_eager")
    with pytest.warns(RuntimeWarning, match="jointer: a graph was not captured"):
        results = train(jointer.backend(tmp_path / "file" / "a.json", pair=True))
    assert all(torch.equal(a, b) for a, b in zip(results, expected, strict=True))
