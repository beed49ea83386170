"""The orders that moves must preserve, compared with a check of every pair, and the cost of the check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from jointer.effects import Memory, memory_of
from jointer.errors import RecipeError
from jointer.graph_editor import GraphEditor
from jointer.kept_orders import check_kept_orders

ATEN = torch.ops.aten


class Builder:
    """Builds a graph of calls whose values are given."""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        #: The value of all unused results.
        with FakeTensorMode():
            self.result = torch.empty(1)

    def buffer(self, *sizes: int) -> fx.Node:
        with FakeTensorMode():
            value = torch.empty(*sizes)
        node = self.graph.placeholder(f"x{len(self.graph.nodes)}")
        node.meta["val"] = value
        return node

    def call(self, target: Any, *args: Any, val: Any) -> fx.Node:
        node = self.graph.call_function(target, args)
        node.meta["val"] = val
        return node

    def part(self, of: fx.Node, dim: int, start: int, end: int, step: int = 1) -> fx.Node:
        value = ATEN.slice.Tensor(of.meta["val"], dim, start, end, step)
        return self.call(ATEN.slice.Tensor, of, dim, start, end, step, val=value)

    def fill(self, of: fx.Node) -> fx.Node:
        return self.call(ATEN.fill_.Scalar, of, 1.0, val=of.meta["val"])

    def read(self, of: fx.Node) -> fx.Node:
        return self.call(ATEN.relu.default, of, val=self.result)

    def random(self, of: fx.Node) -> fx.Node:
        return self.call(ATEN.rand_like.default, of, val=self.result)

    def editor(self) -> GraphEditor:
        self.graph.output(())
        return GraphEditor(fx.GraphModule(nn.Module(), self.graph))


def random_graph(chance: Random) -> Builder:
    """Reads and writes of parts of a few buffers, resizes, and random numbers."""
    builder = Builder()
    tensors = [builder.buffer(4, 6) for _ in range(chance.randint(1, 3))]
    weights = [chance.random() ** 2 for _ in range(7)]
    for _ in range(chance.randint(5, 40)):
        of = chance.choice(tensors)
        kind = chance.choices(range(7), weights)[0]
        if kind == 0:
            dim = chance.randrange(2)
            start = chance.randrange(of.meta["val"].shape[dim])
            tensors.append(builder.part(of, dim, start, start + 2, chance.randint(1, 2)))
        elif kind == 1:
            builder.fill(of)
        elif kind == 2:
            builder.read(of)
        elif kind == 3:
            builder.random(of)
        elif kind == 4 and chance.random() < 0.3:
            builder.call(ATEN.resize_.default, of, [2], val=of.meta["val"])
        elif kind == 5:
            both = of, chance.choice(tensors)
            builder.call(ATEN._foreach_mul.Scalar, both, 2.0, val=[each.meta["val"] for each in both])
        elif kind == 6 and chance.random() < 0.3:
            builder.call(lambda x: x, of, val=of.meta["val"])
    return builder


def refused_by_pairs(
    before: list[fx.Node], now: list[fx.Node], moved: Iterable[fx.Node], changed: set[fx.Node]
) -> str | None:
    """The reason why the move is refused, found by comparing each moved node with all nodes."""
    was = {node: i for i, node in enumerate(before)}
    place = {node: i for i, node in enumerate(now)}

    def draws(node: fx.Node) -> bool:
        return node.target is ATEN.rand_like.default

    for node in (each for each in moved if each not in changed):
        for other in (each for each in now if each not in changed):
            if (was[node] < was[other]) == (place[node] < place[other]):
                continue
            side = "after" if was[other] < was[node] else "before"
            stays = f"{node.name} must stay {side} {other.name}: "
            if memory_of(node).keeps_order_with(memory_of(other)):
                return stays + "one of them writes to memory that the other uses"
            if draws(node) and draws(other):
                return stays + "their effects must keep their order"
    return None


def refused(editor: GraphEditor) -> str | None:
    """The reason why the check refuses the moves. Dependencies are ignored; they are checked elsewhere."""
    try:
        check_kept_orders(editor._stood, editor._changed)
    except RecipeError as error:
        return str(error)
    return None


def test_random_moves_compared_with_all_pairs() -> None:
    chance = Random(1)
    answers: dict[str, int] = {}
    for _ in range(500):
        graph = random_graph(chance)
        editor = graph.editor()
        before = list(graph.graph.nodes)
        calls = [node.name for node in before if node.op == "call_function"]
        if not calls:
            continue
        for _ in range(3):
            start = editor.mark()
            before = list(graph.graph.nodes)
            for _ in range(chance.randint(1, 3)):
                block = chance.sample(calls, min(len(calls), chance.randint(1, 4)))
                place = chance.choice([*calls, "output"])
                if place not in block:
                    editor.apply({"move": block, "before": place})
            if not editor._stood:
                continue
            if chance.random() < 0.3:
                editor._changed.add(chance.choice(before))
            now = list(graph.graph.nodes)
            expected = refused_by_pairs(before, now, editor._stood, editor._changed)
            assert refused(editor) == expected
            kind = expected.partition(": ")[2] if expected else ""
            answers[kind] = answers.get(kind, 0) + 1
            if chance.random() < 0.5:
                editor.undo(start)
    assert len(answers) == 3 and min(answers.values()) > 100


def test_a_move_that_only_the_groups_refuse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is still raised if the comparison of pairs, which finds the node to name, finds none."""
    builder = Builder()
    buffer = builder.buffer(8)
    write, read = builder.fill(buffer), builder.read(buffer)
    editor = builder.editor()
    monkeypatch.setattr(Memory, "keeps_order_with", lambda self, other: False)
    editor.apply({"move": [read.name], "before": write.name})
    assert refused(editor) == (
        f"{read.name} cannot be moved there: it would swap places with a node that uses the same "
        "memory"
    )


def parts_of_a_buffer(builder: Builder, count: int, other: int) -> list[fx.Node]:
    """Writes to parts of a buffer, which move past writes to its other parts."""
    buffer = builder.buffer(2 * count)
    parts = [builder.part(buffer, 0, i, i + 1) for i in range(2 * count)]
    writes = [builder.fill(part) for part in parts]
    for i in range(other):
        builder.fill(parts[count + i % count])
    return writes[:count]


def columns_of_a_buffer(builder: Builder, count: int, other: int) -> list[fx.Node]:
    """Reads of all columns except one, which move past writes to that column."""
    buffer = builder.buffer(64, 100)
    rest = builder.part(buffer, 1, 0, 99)
    column = builder.part(buffer, 1, 99, 100)
    moved = [builder.read(rest) for _ in range(count)]
    for _ in range(other):
        builder.fill(column)
    return moved


def reads_of_a_buffer(builder: Builder, count: int, other: int) -> list[fx.Node]:
    """Reads of a buffer; other nodes write to parts of it, but not in the range of the moves."""
    buffer = builder.buffer(count)
    parts = [builder.part(buffer, 0, i, i + 1) for i in range(count)]
    first = builder.read(builder.buffer(8))
    for part in parts:
        builder.fill(part)
    moved = [builder.read(buffer) for _ in range(count)]
    for _ in range(other):
        builder.read(buffer)
    return [first, *moved]  # the first makes the writes a part of the span


def random_numbers(builder: Builder, count: int, other: int) -> list[fx.Node]:
    """Draws of random numbers, which move past writes."""
    moved = [builder.random(builder.buffer(8)) for _ in range(count)]
    written = builder.buffer(8)
    for _ in range(other):
        builder.fill(written)
    return moved


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [parts_of_a_buffer, columns_of_a_buffer, reads_of_a_buffer, random_numbers],
    ids=lambda make: make.__name__,
)
def test_cost(make: Callable[[Builder, int, int], list[fx.Node]]) -> None:
    """The check is linear in the span: 2,000 of 20,000 nodes move, which is 40 million pairs."""
    builder = Builder()
    moved = make(builder, 2000, 20000)
    editor = builder.editor()
    editor.mark()
    editor.apply({"move": [node.name for node in moved], "before": "output"})
    begin = time.process_time()
    assert refused(editor) is None
    assert time.process_time() - begin < 4
