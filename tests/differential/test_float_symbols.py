"""The program and Python compute the same hash for graphs with float symbols: live, captured and loaded graphs,
and all keys that older files use.
"""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

import jointer as helper
from jointer.document import read_document, write_document

SCRIPT = """
import torch

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.eps = torch.nn.Linear(8, 8), 1e-5

    def forward(self, x, scale):
        y = self.linear(x) * scale
        mean = y.sum(0) / (x.shape[0] / 3)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps) + torch.full_like(mean, x.shape[0] / 7)

step = torch.compile(Scaled(), backend="aot_eager", dynamic=True)
for rows, scale in ((4, 0.5), (6, 0.25)):
    step(torch.randn(rows, 8), scale).sum().backward()
"""


def quotients(x: torch.Tensor) -> torch.Tensor:
    return x.new_zeros(x.shape[0] * 2, x.shape[1]) * (x.shape[0] / 3) + 2.5 / x.shape[1]


def of_a_float(expression: Callable[[Any], Any]) -> fx.GraphModule:
    """A placeholder with a float symbol, as traced from a scalar, and calls with expressions of it."""
    env = ShapeEnv()
    name = torch._dynamo.source.ConstantSource("eps")
    symbol = env.create_unspecified_symbol(1e-05, name, DimDynamic.DYNAMIC)
    eps = env.create_symfloatnode(symbol, hint=1e-05)
    graph = fx.Graph()
    node = graph.placeholder("eps")
    node.meta["val"] = eps
    doubled = graph.call_function(torch.ops.aten.mul.Scalar, (node, expression(eps)))
    doubled.meta["val"] = [eps * expression(eps), None]
    graph.output((doubled,))
    return fx.GraphModule(nn.Module(), graph)


def texts(document: dict[str, Any]) -> str:
    return json.dumps([[n.get("args"), n.get("val")] for n in document["nodes"]])


def agree(gm: fx.GraphModule | None, path: Path, jointer: Callable[..., Any], tmp_path: Path) -> None:
    document = read_document(path)
    hashes = {helper.document_hash(document), helper.graph_hash(helper.load(path)), jointer("info", path)["hash"]}
    hashes |= {helper.graph_hash(gm)} if gm is not None else set()
    older = json.loads(json.dumps(document).replace('"symfloat"', '"symint"'))
    write_document(older, tmp_path / "older.json")
    written = tmp_path / "written.json"
    recipe = {
        "format": "jointer-recipe",
        "version": 1,
        "graphs": {"graph": {"nodes": len(document["nodes"]), "hash": helper.document_hash(document)}},
        "edits": [],
    }
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    jointer("apply", path, "--recipe", tmp_path / "recipe.json", "-o", written)
    hashes.add(helper.document_hash(read_document(written)))
    hashes.add(helper.graph_hash(helper.load(written)))
    assert len(hashes) == 1, hashes
    if any(name in texts(document) for name in ("zf", "zuf")):  # otherwise the symbol's type is unknown
        assert jointer("info", tmp_path / "older.json")["hash"] in hashes
    assert helper.document_hash(older) in hashes


@pytest.mark.parametrize(
    "expression", [lambda eps: eps, lambda eps: 2 * eps, lambda eps: eps**2 + 1], ids=["eps", "2*eps", "power"]
)
def test_a_float_symbol(expression: Any, jointer: Callable[..., Any], tmp_path: Path) -> None:
    gm = of_a_float(expression)
    path = helper.capture(gm, tmp_path / "graph.json.zst")
    assert texts(read_document(path)).count('"symfloat": "') == 3
    agree(gm, path, jointer, tmp_path)


def test_quotients_of_sizes(jointer: Callable[..., Any], tmp_path: Path) -> None:
    gm = make_fx(quotients, tracing_mode="symbolic")(torch.randn(6, 5))
    path = helper.capture(gm, tmp_path / "graph.json.zst")
    assert '"symfloat": "' in texts(read_document(path))
    agree(gm, path, jointer, tmp_path)


def test_a_compiled_model(jointer: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "jointer", "run", "--out", str(tmp_path / "out"), "--", str(tmp_path / "train.py")],
        capture_output=True, text=True, check=False, cwd=ROOT / "resources" / "python",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (path,) = (tmp_path / "out").glob("*.joint.json.zst")
    variables = read_document(path)["symbols"]["vars"]
    assert any(variable.get("type") == "float" for variable in variables.values())
    agree(None, path, jointer, tmp_path)
