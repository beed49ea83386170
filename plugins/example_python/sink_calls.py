"""An example of a third-party pass in Python.

    jointer apply FILE --python-pass sink_calls.py --passes 'sink_calls{operators=["aten.full.*"]}'

It is an ordinary function on a ``torch.fx.GraphModule``: training code can call it directly, and its
test does not need Jointer's programs.
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
    """Moves calls of some operators to just before their first use.

    Args:
        operators: Operator patterns, such as aten.full.*.
        most: Maximum number of calls to move; default: all.
    """
    order = {node: place for place, node in enumerate(gm.graph.nodes)}
    calls = [
        node
        for node in gm.graph.nodes
        if node.op == "call_function"
        and not node.all_input_nodes  # it reads nothing that another call could overwrite
        and any(fnmatch.fnmatchcase(str(node.target), each) for each in operators)
    ]
    moved = 0
    for done, node in enumerate(calls):
        jointer.progress(done / len(calls))
        users = sorted(node.users, key=order.__getitem__)
        if not users:
            jointer.decide(node, "kept", "Nothing reads it.")
        elif users[0] is node.next:
            jointer.decide(node, "kept", "It is already right before its first use.")
        elif most is not None and moved >= most:
            jointer.decide(node, "kept", "The maximum number of calls has been moved.")
        else:
            users[0].prepend(node)
            moved += 1
            jointer.decide(node, "moved", f"{users[0].name} is the first call that reads it.")
    return gm
