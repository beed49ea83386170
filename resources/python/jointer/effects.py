"""The memory effects of a node: storages that it reads or allocates, and that it writes to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor, fx


def storages_of(value: Any) -> set[int]:
    """The storages of the tensors in a node's value."""
    if isinstance(value, Tensor):
        return {value.untyped_storage()._cdata}
    if isinstance(value, (list, tuple)):
        return set().union(*map(storages_of, value))
    return set()


def memory_of(node: fx.Node) -> tuple[set[int], set[int]]:
    """The storages that a node reads or allocates, and those that it writes to."""
    nodes = (node, *node.all_input_nodes)
    touched = set().union(*(storages_of(each.meta.get("val")) for each in nodes))
    written: set[int] = set()
    schema = getattr(node.target, "_schema", None)
    if schema is not None and schema.is_mutable:
        values = dict(zip((a.name for a in schema.arguments), node.args, strict=False))
        values |= node.kwargs
        for argument in schema.arguments:
            if argument.alias_info and argument.alias_info.is_write:
                for each in _nodes(values.get(argument.name)):
                    written |= storages_of(each.meta.get("val"))
    return touched, written


def _nodes(value: Any) -> Iterable[fx.Node]:
    found: list[fx.Node] = []
    fx.map_arg(value, found.append)
    return found
