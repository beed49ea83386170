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


def test_no_more_than_most() -> None:
    gm = make_fx(_late)(torch.randn(4, 4))
    before = [node.name for node in gm.graph.nodes]
    sink_calls(gm, [], operators=["aten.mm.*"])  # calls with inputs stay
    assert [node.name for node in gm.graph.nodes] == before
