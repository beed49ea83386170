"""Removes ``control_deps``, with which torch's passes order calls for Inductor.

``control_deps`` wraps one call and names the nodes that must run before it. In a capture, the order
of the nodes already expresses this, and the wrapper would hide the call. Therefore the call is
unwrapped.
"""

from __future__ import annotations

from torch import fx
from torch._ops import HigherOrderOperator


def unwrap_control_deps(gm: fx.GraphModule) -> int:
    """Replace every ``control_deps`` in ``gm`` with the call that it wraps, and return their
    number.

    Raises:
        ValueError: a ``control_deps`` does not wrap exactly one call.
    """
    wrapped = [node for node in gm.graph.nodes if _is_control_deps(node)]
    for node in wrapped:
        _unwrap(gm, node)
    return len(wrapped)


def _is_control_deps(node: fx.Node) -> bool:
    return isinstance(node.target, HigherOrderOperator) and node.target.name() == "control_deps"


def _unwrap(gm: fx.GraphModule, node: fx.Node) -> None:
    _, attribute, *given = node.args
    assert isinstance(attribute, fx.Node)
    inside = gm.get_submodule(str(attribute.target)).graph
    calls = [each for each in inside.nodes if each.op not in ("placeholder", "output")]
    if len(calls) != 1 or inside.output_node().args[0] is not calls[0]:
        raise ValueError(f"{node.name} does not wrap exactly one call in control_deps")
    values = dict(zip(inside.find_nodes(op="placeholder"), given, strict=True))
    node.target = calls[0].target
    node.args = fx.map_arg(calls[0].args, values.__getitem__)
    node.kwargs = fx.map_arg(calls[0].kwargs, values.__getitem__)
    if not attribute.users:
        gm.graph.erase_node(attribute)
        gm.delete_submodule(str(attribute.target))
