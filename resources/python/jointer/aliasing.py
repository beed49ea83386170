"""The storages that a call's results can share, according to its operator.

The identity of fake storages is not a reliable sign of aliasing: if a pass copies ``meta["val"]``
to a new call (as for torchtitan's recomputed calls), two calls have one fake storage, although each
allocates memory. Therefore the operator decides: a result shares memory only with the arguments
that the schema marks.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload

#: Operators that return their first argument's memory although the schema does not say so.
_SILENT = frozenset({"aten::_unsafe_view", "_c10d_functional::wait_tensor"})


def aliased_arguments(node: fx.Node) -> Iterator[fx.Node]:
    """The arguments whose memory the results of ``node`` may share, beginning with those that its
    schema marks.

    If there is no schema (higher-order operators, Python functions), and for composite operators,
    these are all arguments.
    """
    if node.op not in ("call_function", "call_method", "call_module"):
        return
    if not isinstance(node.target, OpOverload):
        yield from node.all_input_nodes
        return
    for position, name in _positions(node.target):
        value = node.args[position] if position < len(node.args) else node.kwargs.get(name)
        yield from nodes_in(value)
    if _is_composite(node.target):
        yield from node.all_input_nodes


def is_view(target: Any) -> bool:
    """True if the schema says that a call returns its argument's memory without writing to it."""
    if not isinstance(target, OpOverload):
        return False
    returned = [each.alias_info for each in target._schema.returns if each.alias_info]
    return bool(returned) and not any(each.is_write for each in returned)


def is_getitem(node: fx.Node) -> bool:
    """True if ``node`` selects one result of another call."""
    return node.target is operator.getitem and isinstance(node.args[0], fx.Node)


@functools.cache
def _positions(target: OpOverload) -> tuple[tuple[int, str], ...]:
    """Index and name of the arguments whose memory the results may share."""
    schema = target._schema
    if schema.name in _SILENT:
        return ((0, schema.arguments[0].name),)
    if not any(each.alias_info for each in schema.returns):
        return ()
    arguments = list(enumerate(schema.arguments))
    aliased = [(i, each.name) for i, each in arguments if each.alias_info]
    if any(each.alias_info and each.alias_info.is_write for each in schema.arguments):
        # After ``set_``, the first argument is in the memory of another argument.
        aliased += [(i, each.name) for i, each in arguments if not each.alias_info]
    return tuple(aliased)


@functools.cache
def _is_composite(target: OpOverload) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(
        target.name(), "CompositeImplicitAutograd"
    )


def nodes_in(value: Any) -> list[fx.Node]:
    """The nodes in an argument."""
    found: list[fx.Node] = []
    fx.map_arg(value, found.append)
    return found
