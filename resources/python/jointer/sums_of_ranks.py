"""The collectives of a program that add the values of more than two ranks.

Floating-point addition is not associative, and libraries choose the order of the addends by an
element's place in the message. C++ follows the same rule (core/bench/sums_of_ranks.h).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, fx

from .aliasing import is_getitem, is_view
from .execute import tensors_of
from .groups import group_names
from .program import Program

#: Reductions whose results do not depend on the order of the operands.
_EXACT = frozenset({"max", "min", "band", "bor", "bxor"})
_COPIES = frozenset({"aten::clone", "aten::_to_copy", "prims::convert_element_type"})
_COMMUTES = 2

#: The largest difference of such sums, relative to an output's largest magnitude: a few roundings
#: of the coarsest floating-point type in which the program computes.
_HALF_BOUND, _SINGLE_BOUND = 2e-2, 1e-4


def sums_of_ranks(program: Program) -> set[str]:
    """The texts of these collectives, one per kind; for a bucket, with its members in order."""
    sums: set[str] = set()
    for part in program.parts:
        for node in part.gm.graph.nodes:
            if text := _sum_text(node, program.groups):
                sums.add(text)
    return sums


def bound_of_roundings(program: Program) -> float:
    """The bound for sums in a different order."""
    nodes = (node for part in program.parts for node in part.gm.graph.nodes)
    tensors = (t for node in nodes for t in tensors_of(node.meta.get("val")))
    halves = any(t.dtype.is_floating_point and t.dtype.itemsize < 4 for t in tensors)
    return _HALF_BOUND if halves else _SINGLE_BOUND


def _sum_text(node: fx.Node, groups: Mapping[str, Any]) -> str:
    """The text of ``node``; empty if it is not such a collective."""
    name = _schema_name(node)
    if not name.startswith(("_c10d_functional::all_reduce", "_c10d_functional::reduce_scatter")):
        return ""
    group = next(group_names(node), "")
    reduction = next((a for a in node.args if isinstance(a, str) and a != group), "")
    ranks = len((groups.get(group) or {}).get("ranks") or [])
    if ranks <= _COMMUTES or reduction in _EXACT:
        return ""
    inputs = [(i, t) for i in node.all_input_nodes for t in tensors_of(i.meta.get("val"))]
    if not any(t.dtype.is_floating_point or t.dtype.is_complex for _, t in inputs):
        return ""
    texts = [f"{t.dtype}[{t.numel()}]{_members_text(i)}" for i, t in inputs]
    return f"{name} {reduction} {group}: {' '.join(texts)}"


def _members_text(node: fx.Node) -> str:
    """`` of a[4] b[4]`` for a bucket, whose input comes from a call that reads a list of
    tensors."""
    source = _source(node)
    lists = (a for a in source.args if isinstance(a, (list, tuple)))
    for members in lists:
        nodes = [each for each in members if isinstance(each, fx.Node)]
        if len(nodes) > 1:
            return " of " + " ".join(f"{_source(n).name}[{_numel(n)}]" for n in nodes)
    return ""


def _source(node: fx.Node) -> fx.Node:
    """Follows views, copies and casts towards the start of the graph."""
    while node.op == "call_function" and len(node.all_input_nodes) == 1:
        target = node.target
        if not (is_view(target) or is_getitem(node) or _schema_name(node) in _COPIES):
            break
        node = node.all_input_nodes[0]
    return node


def _schema_name(node: fx.Node) -> str:
    return getattr(getattr(node.target, "_schema", None), "name", "")


def _numel(node: fx.Node) -> int:
    value = node.meta.get("val")
    return value.numel() if isinstance(value, Tensor) else 0
