"""Creates the process groups to which a recipe moves collectives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from support import trace
from torch import fx
from torch.testing._internal.distributed.fake_pg import FakeStore

import jointer
from jointer.groups import describe_group, make_twins, restore_groups

gather = torch.ops._c10d_functional.all_gather_into_tensor.default


@pytest.fixture
def gathered() -> fx.GraphModule:
    """An all-gather in the world of two."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    world = dist.group.WORLD.group_name
    wait = torch.ops._c10d_functional.wait_tensor.default
    return trace(lambda x: wait(gather(x, 2, world)), torch.ones(4))


def move(gm: fx.GraphModule, group: str) -> dict[str, Any]:
    """A recipe that moves the all-gather to ``group``."""
    (node,) = gm.graph.find_nodes(op="call_function", target=gather)
    change = {"replace": node.name, "args": [{"n": node.args[0].name}, 2, group]}
    graph = {"nodes": len(gm.graph.nodes), "hash": jointer.graph_hash(gm)}
    edits = [{"title": "A separate stream", "changes": [change]}]
    return {"format": "jointer-recipe", "version": 1, "graphs": {"graph": graph}, "edits": edits}


def test_a_recipe_pass_creates_the_twins_that_it_names(gathered: fx.GraphModule) -> None:
    twin = f"{dist.group.WORLD.group_name}_fsdp_extra"
    assert describe_group(twin) is None
    jointer.recipe_pass(move(gathered, twin))(gathered)
    made = describe_group(twin)
    assert made is not None and made["ranks"] == [0, 1] and made["backend"] == "fake"
    assert make_twins(gathered) == []  # it exists already
    assert gathered(torch.ones(4)).shape == (8,)


def test_a_group_with_an_unknown_name_is_not_created(gathered: fx.GraphModule) -> None:
    jointer.recipe_pass(move(gathered, "elsewhere_extra"))(gathered)
    assert describe_group("elsewhere_extra") is None


def test_nothing_is_created_without_process_groups(gathered: fx.GraphModule) -> None:
    dist.destroy_process_group()
    assert make_twins(gathered) == []


def test_nothing_is_restored_if_no_group_contains_the_rank() -> None:
    restore_groups({"tp": {"ranks": [1, 2]}}, rank=0, world_size=4)
    assert not dist.is_initialized()
