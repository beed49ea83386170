"""Storages are inferred from both operators and fake tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import assert_round_trip, record_of, through_json, trace
from torch import fx

from jointer.encode import SPLIT, encode_graph

aten = torch.ops.aten


def storage(gm: fx.GraphModule, name: str) -> Any:
    """The storage of a node's value, or those of its values."""
    value = record_of(gm, name)["val"]
    if "t" in value:
        return value["t"]["storage"]
    return [each["t"]["storage"] for each in value["list"]]


def call(gm: fx.GraphModule, name: str) -> fx.Node:
    return next(node for node in gm.graph.nodes if node.name == name)


def recompute(gm: fx.GraphModule, *names: str) -> fx.GraphModule:
    """``gm`` with these calls repeated before the output, with the same values: the result of
    torchtitan's rematerialization.
    """
    copies: dict[fx.Node, fx.Node] = {}
    output = gm.graph.output_node()
    with gm.graph.inserting_before(output):
        for name in names:
            node = call(gm, name)
            copies[node] = gm.graph.node_copy(node, lambda each: copies.get(each, each))
            copies[node].meta = dict(node.meta)
    output.args = ((*output.args[0], *copies.values()),)
    gm.recompile()
    return gm


def step(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x @ x
    return (y.view(-1), y.relu())


def test_a_recomputed_call_has_its_own_memory() -> None:
    gm = recompute(trace(step, torch.ones(4, 4)), "mm", "view", "relu")
    assert storage(gm, "mm") == storage(gm, "view")
    assert len({storage(gm, name) for name in ("mm", "mm_1", "relu", "relu_1")}) == 4
    assert storage(gm, "view_1") == storage(gm, "mm_1")  # the copy's, since it reads the copy
    document = encode_graph(gm)
    assert document[SPLIT] == 2
    assert [document["storages"][storage(gm, name)] for name in ("mm", "mm_1")] == [64, 64]


def test_separate_storages_stay_separate() -> None:
    document = encode_graph(assert_round_trip(recompute(trace(step, torch.ones(4, 4)), "mm")))
    assert document[SPLIT] == 1


def test_a_graph_without_copies_is_unchanged() -> None:
    def views(x: torch.Tensor) -> list[torch.Tensor]:
        parts = aten.split.Tensor(x.clone(), 2)
        return [*parts, parts[0].t(), aten._unsafe_view.default(x @ x, [16])]

    gm = trace(views, torch.ones(4, 4))
    assert SPLIT not in encode_graph(gm)
    (owner,) = {storage(gm, name) for name in ("clone", "getitem", "getitem_1", "t")}
    assert storage(gm, "split") == [owner, owner]
    assert storage(gm, "mm") == storage(gm, "_unsafe_view")


def test_results_of_a_recomputed_call_belong_to_it() -> None:
    gm = trace(lambda x: torch.max(x, 0), torch.ones(4, 4))
    copies = recompute(gm, "max_1", "getitem", "getitem_1")
    first, second = storage(copies, "max_1"), storage(copies, "max_2")
    assert not set(first) & set(second)
    assert [storage(copies, name) for name in ("getitem_2", "getitem_3")] == second


@pytest.mark.parametrize("operator", ["add_", "out"])
def test_a_write_is_to_its_argument(operator: str) -> None:
    def write(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        return y.add_(1) if operator == "add_" else torch.add(x, 1, out=y)

    gm = trace(write, torch.ones(4, 4))
    written = next(n.name for n in gm.graph.nodes if n.name.startswith("add"))
    assert storage(gm, written) == storage(gm, "clone")
    assert SPLIT not in encode_graph(gm)


def test_inputs_may_share_memory() -> None:
    gm = trace(lambda x, y: x + y, torch.ones(4), torch.ones(4))
    first, second = gm.graph.find_nodes(op="placeholder")
    second.meta["val"] = first.meta["val"]
    assert storage(gm, first.name) == storage(gm, second.name)
    assert SPLIT not in encode_graph(gm)


def test_a_view_has_the_storage_of_its_argument() -> None:
    gm = trace(lambda x: ((x + 1).t(), (x * 2).t()), torch.ones(4, 4))
    call(gm, "t_1").meta["val"] = call(gm, "t").meta["val"]
    assert storage(gm, "t_1") == storage(gm, "mul")


def test_graphs_are_not_changed() -> None:
    gm = recompute(trace(step, torch.ones(4, 4)), "mm")
    before = call(gm, "mm_1").meta["val"].untyped_storage()._cdata
    assert through_json(encode_graph(gm)) == through_json(encode_graph(gm))
    assert call(gm, "mm_1").meta["val"].untyped_storage()._cdata == before
