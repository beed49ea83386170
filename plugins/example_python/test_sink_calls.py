"""Tests the pass as training code calls it: ``python -m pytest test_sink_calls.py``."""

from __future__ import annotations

import torch
from sink_calls import sink_calls
from torch.fx.experimental.proxy_tensor import make_fx


def _late(x: torch.Tensor) -> torch.Tensor:
    zero = torch.ops.aten.full.default([4, 4], 0.0)
    return x.mm(x).mm(x) + zero


def test_what_is_made_early_goes_to_its_reader() -> None:
    x = torch.randn(4, 4)
    gm = make_fx(_late)(x)
    expected = gm(x)
    sink_calls(gm, [x], operators=["aten.full.*"])
    gm.recompile()
    names = [node.name for node in gm.graph.nodes]
    assert names.index("full") + 1 == names.index("add")
    assert torch.equal(gm(x), expected)


def test_calls_with_inputs_stay() -> None:
    gm = make_fx(_late)(torch.randn(4, 4))
    before = [node.name for node in gm.graph.nodes]
    sink_calls(gm, [], operators=["aten.mm.*"])
    assert [node.name for node in gm.graph.nodes] == before


def _one_early(x: torch.Tensor) -> torch.Tensor:
    y = x + torch.ops.aten.full.default([4, 4], 1.0)
    zero = torch.ops.aten.full.default([4, 4], 0.0)
    return y.mm(x) + zero


def test_most_counts_only_moved_calls() -> None:
    gm = make_fx(_one_early)(torch.randn(4, 4))
    sink_calls(gm, [], operators=["aten.full.*"], most=1)
    names = [node.name for node in gm.graph.nodes]
    assert names.index("full_1") + 1 == names.index("add_1")
