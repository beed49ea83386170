"""The memory that nodes use, and the orders that result from it.

Two nodes must stay in order if one writes to bytes that the other reads or writes. Taking a view
reads nothing, so a view may move past writes to its memory, but not past anything that may change
the layout of the memory. ``core/graph/memory_access.cpp`` has the same rules.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, fx
from torch._ops import OpOverload

from .aliasing import is_getitem, is_view, nodes_in
from .memory_region import Region, may_overlap, region_of


class Use(enum.IntEnum):
    """How a node uses memory."""

    VIEW = 0
    READ = 1
    WRITE = 2
    #: Changes, or may change, the size of the storage or the layout of tensors in it.
    RESIZE = 3


class Memory:
    """The memory that one or several nodes use."""

    def __init__(self) -> None:
        self._uses: dict[int, set[tuple[Use, Region | None]]] = {}
        self._writes = False

    def add(self, tensor: Tensor, use: Use, is_whole: bool) -> None:
        """Add a use. ``is_whole``: true if the whole storage of the tensor is used, not only the
        tensor's bytes."""
        region = None if is_whole else region_of(tensor)
        self._writes = self._writes or use >= Use.WRITE
        self._uses.setdefault(tensor.untyped_storage()._cdata, set()).add((use, region))

    def join(self, other: Memory) -> None:
        """Add everything that ``other`` uses."""
        for storage, uses in other._uses.items():
            self._uses.setdefault(storage, set()).update(uses)
        self._writes = self._writes or other._writes

    def storages(self) -> Iterable[int]:
        """The storages that are used."""
        return self._uses.keys()

    def uses(self) -> Iterator[tuple[int, Use, Region | None]]:
        """Storages, how they are used, and the part that is used; ``None`` for the whole storage or
        an unknown part."""
        for storage, uses in self._uses.items():
            for use, region in uses:
                yield storage, use, region

    def keeps_order_with(self, other: Memory) -> bool:
        """True if one of the two writes to memory that the other uses."""
        return (self._writes or other._writes) and any(
            must_keep_order(a, b) and may_overlap(here, there)
            for storage in self._uses.keys() & other._uses.keys()
            for a, here in self._uses[storage]
            for b, there in other._uses[storage]
        )


def memory_of(node: fx.Node) -> Memory:
    """The memory of the inputs and results of ``node``, and how it is used."""
    memory = Memory()
    values = [each.meta.get("val") for each in node.all_input_nodes]
    result = node.meta.get("val")
    if _only_takes_views(node, values):
        for tensor in _tensors(result):
            memory.add(tensor, Use.VIEW, False)
        return memory
    schema = node.target._schema if isinstance(node.target, OpOverload) else None
    is_whole = node.op == "call_function" and (schema is None or _reaches_beyond(schema.name))
    for tensor in _tensors([result, *values]):
        memory.add(tensor, Use.READ, is_whole)
    if schema is None or not schema.is_mutable:
        return memory
    given = dict(zip((each.name for each in schema.arguments), node.args, strict=False))
    given |= node.kwargs
    use = Use.WRITE if _keeps_layout(node.target) else Use.RESIZE
    for argument in schema.arguments:
        if argument.alias_info and argument.alias_info.is_write:
            for each in nodes_in(given.get(argument.name)):
                for tensor in _tensors(each.meta.get("val")):
                    memory.add(tensor, use, is_whole or use is Use.RESIZE)
    return memory


def may_write(node: fx.Node) -> bool:
    """False if ``memory_of`` finds no writes."""
    return isinstance(node.target, OpOverload) and node.target._schema.is_mutable


def storages_of(node: fx.Node) -> Iterator[int]:
    """The storages of the inputs and results of ``node``; ``memory_of`` finds no others."""
    for each in (node, *node.all_input_nodes):
        for tensor in _tensors(each.meta.get("val")):
            yield tensor.untyped_storage()._cdata


def must_keep_order(a: Use, b: Use) -> bool:
    """True if two nodes that use the same bytes in these ways must stay in order."""
    if Use.RESIZE in (a, b):
        return True
    return (a is Use.WRITE and b is not Use.VIEW) or (b is Use.WRITE and a is not Use.VIEW)


def _only_takes_views(node: fx.Node, inputs: list[Any]) -> bool:
    """True for views and elements of tuples, but not for views that had to copy."""
    if is_getitem(node):
        return not isinstance(inputs[0], Tensor)
    if not is_view(node.target) and node.target is not torch.ops.aten._unsafe_view.default:
        return False
    given = {each.untyped_storage()._cdata for each in _tensors(inputs)}
    return all(each.untyped_storage()._cdata in given for each in _tensors(node.meta.get("val")))


def _reaches_beyond(name: str) -> bool:
    """True if the operator may reach bytes of the storage outside its input."""
    return "as_strided" in name or "reinterpret_tensor" in name


def _keeps_layout(target: OpOverload) -> bool:
    """True if the operator only writes bytes and does not change sizes or strides."""
    return torch.Tag.inplace_view not in target.tags and "resize" not in target.name()


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
