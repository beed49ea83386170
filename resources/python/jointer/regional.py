"""Finds the regions of a graph that Inductor compiles; the rest runs operator by operator.

Nodes are marked by ``custom["compile_with_inductor"]`` (upstream's ``regional_inductor``) or by a
selector. Terms: a *region* is a set of marked nodes that one package computes. From the position of
its first node on, it runs as soon as its inputs are available; the order of all other nodes stays.

Steps, in one walk over the program with one open region:

1. A marked node joins the open region, or opens one.
2. An unmarked node closes the region if it uses a result of the region, writes memory that the
   region touches, or touches memory that the region writes. Therefore the position at which the
   region runs does not matter to the other nodes between those of the region.
3. A mark with other options opens a new region.

A ``getitem`` of a region's node belongs to the region. A ``getitem`` of another node does not, and
neither do sizes, so that the inputs and outputs of a region are tensors and integers.

Cost: one walk over nodes and edges. Deviation: upstream merges partitions at any distance and sorts
the graph again (``CapabilityBasedPartitioner``); here the order, which was measured and edited, is
preserved.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, fx, nn

from .effects import Memory, memory_of
from .encode import HEAD
from .errors import CaptureError
from .selectors import selects_call

MARK = "compile_with_inductor"


@dataclass
class Region:
    """Nodes computed by one package."""

    index: int
    #: The names of the nodes, in order. The package runs in their place.
    nodes: list[str]
    #: The nodes as a graph, with placeholders named after the inputs, and a tuple of outputs.
    gm: fx.GraphModule
    #: Inductor options of the mark.
    options: dict[str, Any]


def find_regions(gm: fx.GraphModule, selectors: Sequence[str] = ()) -> list[Region]:
    """The regions of ``gm``, in order.

    Raises:
        CaptureError: a selector matches no node.
    """
    marked = _marked(gm.graph, selectors)
    walk = _Walk(marked)
    for node in gm.graph.nodes:
        walk.visit(node)
    walk.close()
    return [
        Region(i, [n.name for n in group], _extract(gm, group), walk.options[i])
        for i, group in enumerate(walk.groups)
    ]


def _marked(graph: fx.Graph, selectors: Sequence[str]) -> dict[fx.Node, dict[str, Any]]:
    """Marked nodes and the options of their marks."""
    marked: dict[fx.Node, dict[str, Any]] = {}
    missed = dict.fromkeys(selectors)
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        custom = node.meta.get("custom")
        if isinstance(custom, dict) and MARK in custom:
            asked = custom[MARK]
            options = asked.get("inductor_configs") if isinstance(asked, dict) else None
            marked[node] = dict(options or {})
        for selector in selectors:
            if selects_call(selector, node):
                marked.setdefault(node, {})
                missed.pop(selector, None)
    if missed:
        raise CaptureError(
            f"{next(iter(missed))!r} selects no node; mark a node by its name, or calls by "
            "'FQN_PATTERN::OPERATOR'"
        )
    return marked


@dataclass
class _Walk:
    """The state of a walk over the program."""

    marked: dict[fx.Node, dict[str, Any]]
    groups: list[list[fx.Node]] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    _open: dict[fx.Node, None] = field(default_factory=dict)
    _asked: dict[str, Any] = field(default_factory=dict)
    _memory: Memory = field(default_factory=Memory)

    def visit(self, node: fx.Node) -> None:
        """Process the next node of the program."""
        if node.op == "output":
            return
        joins = self._joins(node)
        if joins and self._open and not self._follows(node):
            self.close()
        elif not joins and self._open and self._disturbs(node):
            self.close()
        if joins and node.target is operator.getitem and node.args[0] not in self._open:
            joins = False
        if joins:
            self._asked = self.marked.get(node, self._asked)
            self._open[node] = None
            self._memory.join(memory_of(node))

    def close(self) -> None:
        """Close the open region."""
        if self._open:
            self.groups.append(list(self._open))
            self.options.append(self._asked)
        self._open, self._memory = {}, Memory()

    def _joins(self, node: fx.Node) -> bool:
        if node.op != "call_function" or not _is_computed(node):
            return False
        if node.target is operator.getitem:
            return node.args[0] in self._open
        return node in self.marked

    def _follows(self, node: fx.Node) -> bool:
        return node.target is operator.getitem or self.marked[node] == self._asked

    def _disturbs(self, node: fx.Node) -> bool:
        if any(each in self._open for each in node.all_input_nodes):
            return True
        return self._memory.keeps_order_with(memory_of(node))


def _is_computed(node: fx.Node) -> bool:
    """True if the node returns tensors, or a list of them."""
    value = node.meta.get("val")
    return isinstance(value, (Tensor, list, tuple))


def _extract(gm: fx.GraphModule, group: list[fx.Node]) -> fx.GraphModule:
    """``group`` as a separate graph."""
    inside = set(group)
    root, graph = nn.Module(), fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for node in _inputs(group, inside, gm):
        made[node] = graph.placeholder(node.name)
        made[node].name = node.name
        made[node].meta["val"] = node.meta.get("val")
    for node in group:
        for each in node.all_input_nodes:
            if each not in made:  # the body of a higher-order operator
                setattr(root, each.target, getattr(gm, each.target))
                made[each] = graph.node_copy(each)
        made[node] = graph.node_copy(node, made.__getitem__)
        made[node].name = node.name
    graph.output(tuple(made[node] for node in group if _is_result(node, inside)))
    result = fx.GraphModule(root, graph)
    result.meta[HEAD] = gm.meta.get(HEAD) or {}
    return result


def _inputs(group: list[fx.Node], inside: set[fx.Node], gm: fx.GraphModule) -> list[fx.Node]:
    found: dict[fx.Node, None] = {}
    for node in group:
        for each in node.all_input_nodes:
            if each not in inside and not _is_body(each, gm):
                found[each] = None
    return list(found)


def _is_body(node: fx.Node, gm: fx.GraphModule) -> bool:
    return node.op == "get_attr" and isinstance(getattr(gm, node.target, None), fx.GraphModule)


def _is_result(node: fx.Node, inside: set[fx.Node]) -> bool:
    return any(user not in inside for user in node.users)
