"""Memory used by nodes: parts of one buffer, views, and nodes that must keep their order."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch
from recipes import find, names, recipe
from support import trace
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

import jointer
from jointer.effects import memory_of
from jointer.memory_region import may_overlap, region_of


def chunks(x: torch.Tensor) -> Any:
    buffer = torch.zeros_like(x)
    buffer[:, 0:2].copy_(x[:, 0:2])
    buffer[:, 2:4].copy_(x[:, 2:4])
    return buffer[0].relu(), buffer.sum()


def graph() -> fx.GraphModule:
    return trace(chunks, torch.randn(4, 4))


def keep_order(gm: fx.GraphModule, a: str, b: str) -> bool:
    first, second = memory_of(find(gm, a)), memory_of(find(gm, b))
    assert first.keeps_order_with(second) == second.keeps_order_with(first)
    return first.keeps_order_with(second)


def test_writes_to_parts_of_a_buffer() -> None:
    gm = graph()
    assert names(gm) == [
        "x_1", "zeros_like", "slice_1", "slice_2", "copy_", "slice_3", "slice_4", "copy__1",
        "select", "relu", "sum_1", "output",
    ]  # fmt: skip
    assert not keep_order(gm, "copy_", "copy__1")
    assert keep_order(gm, "copy_", "relu") and keep_order(gm, "copy__1", "sum_1")
    assert not keep_order(gm, "relu", "sum_1")
    assert not keep_order(gm, "copy_", "slice_3") and not keep_order(gm, "copy__1", "select")
    change = {"move": ["slice_3", "slice_4", "copy__1"], "before": "slice_2"}
    jointer.apply_recipe(gm, recipe([change]))


def test_reading_a_part_of_a_buffer() -> None:
    gm = graph()
    with pytest.raises(jointer.RecipeError, match="one of them writes to memory that the other uses"):
        jointer.apply_recipe(gm, recipe([{"move": ["copy__1"], "before": "output"}]))


def test_resizing_memory() -> None:
    graph_ = fx.Graph()
    with FakeTensorMode():
        value = torch.empty(8)
    x = graph_.placeholder("x")
    view = graph_.call_function(torch.ops.aten.slice.Tensor, (x, 0, 0, 4))
    resize = graph_.call_function(torch.ops.aten.resize_.default, (x, [2]))
    graph_.output((view, resize))
    x.meta["val"], view.meta["val"], resize.meta["val"] = value, value[:4], value
    assert memory_of(view).keeps_order_with(memory_of(resize))


def random_slice(chance: Random, whole: torch.Tensor) -> torch.Tensor:
    part = whole
    for dim, size in enumerate(whole.shape):
        start = chance.randrange(size)
        part = part.narrow(dim, start, chance.randint(1, size - start))
        part = torch.ops.aten.slice.Tensor(part, dim, 0, part.shape[dim], chance.randint(1, 3))
    return part.transpose(0, 1) if chance.random() < 0.3 else part


def test_random_slices() -> None:
    """Regions reported as disjoint have no element in common."""
    chance = Random(0)
    apart = 0
    for _ in range(400):
        whole = torch.zeros(4, 6, 5)
        a, b = random_slice(chance, whole), random_slice(chance, whole)
        a.fill_(1)
        common = bool(b.any())
        overlap = may_overlap(region_of(a), region_of(b))
        assert overlap == may_overlap(region_of(b), region_of(a))
        assert overlap or not common
        apart += not overlap
    assert apart > 100
