"""Restores torch's symbolic numbers for scalars known only at run time, while a pass runs.

A loaded graph has plain numbers in place of symbolic ones. That suffices for the sizes of tensors,
but passes check whether a call returns a ``torch.SymInt``, since such values are always saved.
Therefore, while a pass runs, the value of a call that returns a symbolic integer is a ``SymInt``
with the number as its hint. Afterwards the numbers are restored.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._pytree import tree_map_only

from .host_values import fake_mode
from .symbols import SymbolicInt


class SymbolicScalars:
    """The symbolic integers that calls of a graph return."""

    def __init__(self, gm: fx.GraphModule) -> None:
        self._gm = gm
        self._env: ShapeEnv | None = None
        self._made: dict[str, torch.SymInt] = {}
        self._was: dict[Any, SymbolicInt] = {}

    def make_real(self) -> None:
        """Set a ``SymInt`` as the value of every call that returns a symbolic integer."""
        for node in self._gm.graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, SymbolicInt):
                node.meta["val"] = self._real(value)

    def _real(self, value: SymbolicInt) -> torch.SymInt:
        if self._env is None:
            self._env = _shape_env(self._gm)
        made = self._made.get(value.expression)
        if made is None:
            symbol = self._env.create_unspecified_symbol(
                int(value),
                ConstantSource(f"scalar{len(self._made)}"),
                dynamic_dim=DimDynamic.DYNAMIC,
            )
            made = self._env.create_symintnode(symbol, hint=int(value))
            self._made[value.expression] = made
            self._was[symbol] = value
        return made

    def restore(self, gm: fx.GraphModule) -> None:
        """Restore the numbers in ``gm``, wherever the pass moved them."""
        if self._env is None:
            return
        for node in gm.graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = tree_map_only(torch.SymInt, self._number, node.meta["val"])
            args = tree_map_only(torch.SymInt, self._number, (node.args, node.kwargs))
            node.args, node.kwargs = args

    def _number(self, value: torch.SymInt) -> Any:
        if value.node.shape_env is not self._env or not value.node.has_hint():
            return value
        return self._was.get(value.node.expr, int(value.node.hint))


def _shape_env(gm: fx.GraphModule) -> ShapeEnv:
    """The shape environment of the graph's fake tensors, created if it does not exist."""
    mode = fake_mode(gm)
    if mode is None:
        return ShapeEnv()
    if mode.shape_env is None:
        mode.shape_env = ShapeEnv()
    return mode.shape_env
