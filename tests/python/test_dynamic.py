"""Graphs with symbolic sizes: expressions, hints and the symbol tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from support import assert_round_trip, graph_of, through_json, trace
from torch import nn
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import jointer
from jointer.document import read_document
from jointer.encode import encode_graph


def record(document: dict[str, Any], target: str) -> dict[str, Any]:
    return next(r for r in document["nodes"] if r["target"] == target)


def test_dynamic_compile_keeps_expressions_and_hints(tmp_path: Path) -> None:
    path = tmp_path / "dynamic.json"
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
    compiled = torch.compile(model, backend=jointer.backend(path), dynamic=True)
    compiled(torch.randn(8, 16)).sum().backward()
    document = read_document(path)
    size = record(document, "primals_3")["val"]
    assert size["hint"] == 8
    symbol = size["symint"]
    assert document["symbols"]["vars"][symbol] == {"min": "2", "max": "int_oo", "hint": 8}
    batch = {"sym": symbol, "hint": 8}
    assert record(document, "aten.gelu.default")["val"]["t"]["shape"] == [batch, 32]
    assert {"sym": f"128*{symbol}", "hint": 1024} in document["storages"]

    gm = jointer.load(path)
    assert through_json(encode_graph(gm)) == document
    assert jointer.graph_hash(gm) == jointer.document_hash(document)
    (gelu,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.gelu.default)
    assert gelu.meta["val"].shape == (8, 32)
    wider = jointer.load(path, assume={symbol: 100})
    (gelu,) = wider.graph.find_nodes(op="call_function", target=torch.ops.aten.gelu.default)
    assert gelu.meta["val"].shape == (100, 32)
    assert gelu.meta["val"].untyped_storage().nbytes() == 12800


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_unbacked_symbols_have_no_hint(tmp_path: Path) -> None:
    path = tmp_path / "unbacked.json"

    @torch.compile(backend=jointer.backend(path), fullgraph=True)
    def masked(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        count = (x[:, 0] > 0).sum().item()
        torch._check(count >= 0)
        torch._check(count <= 8)
        return x[:count] @ weight

    weight = torch.randn(8, 8, requires_grad=True)
    assert masked(torch.ones(8, 8), weight).shape == (8, 8)
    document = read_document(path)
    symbol = record(document, "aten._local_scalar_dense.default")["val"]["symint"]
    assert document["symbols"]["vars"][symbol] == {"min": "0", "max": "8", "hint": None}
    assert f"{symbol} <= 8" in document["symbols"]["deferred_asserts"][symbol]
    assert record(document, "aten.mm.default")["val"]["t"]["shape"] == [{"sym": symbol}, 8]
    gm = jointer.load(path)
    assert through_json(encode_graph(gm)) == document
    (product, _) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)
    assert product.meta["val"].shape == (8, 8)  # 64, but within the symbol's range


def test_symbolic_arguments_booleans_and_floats() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        rows = x.shape[0]
        return x.new_zeros(rows * 2, x.shape[1]) * (rows / 3)

    gm = trace(f, torch.randn(6, 5), mode="symbolic")
    loaded = assert_round_trip(gm)
    assert jointer.graph_hash(gm) == jointer.graph_hash(loaded)
    values = [r["val"] for r in encode_graph(gm)["nodes"] if "symint" in (r.get("val") or {})]
    assert any(v["symint"].startswith("2*") and v["hint"] == 12 for v in values)
    reals = [r["val"] for r in encode_graph(gm)["nodes"] if "symfloat" in (r.get("val") or {})]
    assert any(v["hint"] == 2.0 and isinstance(v["hint"], float) for v in reals)


def test_real_symbols() -> None:
    number = ShapeEnv().create_unbacked_symfloat()
    gm = graph_of(value=number)
    document = encode_graph(gm)
    value = document["nodes"][1]["val"]
    assert value == {"symfloat": str(number.node.expr), "hint": None}
    described = document["symbols"]["vars"][str(number.node.expr)]
    assert described == {"type": "float", "hint": None, "min": None, "max": None}
    assert_round_trip(gm)
