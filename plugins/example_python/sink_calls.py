"""A pass of one's own in Python.

    jointer apply FILE --python-pass sink_calls.py --passes 'sink_calls{operators=["aten.full.*"]}'

It is an ordinary function on a ``torch.fx.GraphModule``: training code calls it as it is, and its
test needs no Jointer.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

import jointer
from torch import fx


@jointer.graph_pass(keeps_numerics=True, parameters={"most": {"least": 1}})
def sink_calls(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    operators: list[str] = ["aten.full.*", "aten.arange.*"],  # noqa: B006: never changed
    most: int | None = None,
) -> fx.GraphModule:
    """Calls of some operators go right before what reads them first.

    Args:
        operators: Patterns of operators, such as aten.full.*.
        most: How many calls are moved; none: all.
    """
    order = {node: place for place, node in enumerate(gm.graph.nodes)}
    calls = [
        node
        for node in gm.graph.nodes
        if node.op == "call_function"
        and not node.all_input_nodes  # nothing that it reads can be written to meanwhile
        and any(fnmatch.fnmatchcase(str(node.target), each) for each in operators)
    ]
    for done, node in enumerate(calls):
        jointer.progress(done / len(calls))
        users = sorted(node.users, key=order.__getitem__)
        if not users or users[0] is node.next:
            jointer.decide(node, "kept", "It stands where it is needed.")
        elif most is not None and done >= most:
            jointer.decide(node, "kept", "Enough calls were moved.")
        else:
            users[0].prepend(node)
            jointer.decide(node, "moved", f"{users[0].name} is the first that needs it.")
    return gm
