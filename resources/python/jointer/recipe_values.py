"""Computes the values of nodes that a recipe creates, and compares them with its records.

In a traced graph, the value is computed by the operator on fake tensors, so that symbolic sizes are
those of the trace. In a loaded graph, or if the operator cannot be run, the value is the recorded
one, which preserves the capture's expressions. Storages in a record are described in
``docs/recipe.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves

from .arguments import torch_constant
from .errors import CaptureError, RecipeError, first_line
from .hashing import value_text
from .symbols import Assumptions
from .values import ValueDecoder, ValueEncoder, as_returned

Json = Any


class NodeValues:
    """Creates values for the nodes of one graph."""

    def __init__(
        self,
        graph: fx.Graph,
        find: Callable[[str], fx.Node],
        assumptions: Assumptions,
        is_loaded: bool,
    ) -> None:
        self._find = find
        self._assumptions = assumptions
        self._is_loaded = is_loaded
        known = _first_fake(node.meta.get("val") for node in graph.nodes)
        self._mode = known.fake_mode if known is not None else FakeTensorMode()
        self._device = str(known.device) if known is not None else "cpu"

    def value(self, node: fx.Node, record: Json) -> Any:
        """The value of ``node``, which ``record`` describes.

        Raises:
            RecipeError: the operator returns a different value, or the record is damaged.
        """
        computed = self._computed(node)
        if computed is not None:
            _check_equal(node, computed, record)
        if computed is not None and not self._is_loaded:
            return computed
        try:
            return self._recorded(node, record)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, RecipeError):
                raise
            reason = first_line(error)
            raise RecipeError(f"the value of {node.name}: {reason}") from None

    def _computed(self, node: fx.Node) -> Any:
        """The operator's result for the values of the arguments; ``None`` if it cannot be run."""
        if any("val" not in each.meta for each in node.all_input_nodes):
            return None
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
        try:
            with self._mode:
                return node.target(*args, **kwargs)
        except Exception:  # any error of an operator about its arguments
            return None

    def _recorded(self, node: fx.Node, record: Json) -> Any:
        storages = _Storages(node.name, self._find, self._assumptions)
        located = self._located(record, storages)
        decoder = ValueDecoder(storages.sizes, self._assumptions, self._mode)
        decoder.share(storages.shared)
        return as_returned(node.target, decoder.value(located))

    def _located(self, record: Json, storages: _Storages) -> Json:
        """``record`` with storages replaced by their numbers."""
        if not isinstance(record, dict):
            return record
        if "t" in record:
            tensor = {"device": self._device, **record["t"]}
            shape = [int(self._assumptions.number(each)) for each in tensor["shape"]]
            if "layout" not in tensor and "stride" not in tensor:
                tensor["stride"] = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
            tensor.setdefault("offset", 0)
            return {"t": {**tensor, "storage": storages.index(tensor, shape)}}
        if "list" in record:
            return {"list": [self._located(each, storages) for each in record["list"]]}
        if "dict" in record:
            inner = record["dict"].items()
            return {"dict": {key: self._located(each, storages) for key, each in inner}}
        return record


class _Storages:
    """The storages of one node's tensors, numbered in order of appearance."""

    def __init__(
        self, name: str, find: Callable[[str], fx.Node], assumptions: Assumptions
    ) -> None:
        self.sizes: list[Json] = []
        #: Storages of other nodes, by number.
        self.shared: dict[int, torch.UntypedStorage] = {}
        self._name = name
        self._find = find
        self._assumptions = assumptions
        self._of_tensor: list[int] = []

    def index(self, tensor: Json, shape: list[int]) -> int:
        """The number of the storage of ``tensor``."""
        number = self._choose(tensor.get("storage"), tensor, shape)
        self._of_tensor.append(number)
        return number

    def _choose(self, named: Json, tensor: Json, shape: list[int]) -> int:
        if isinstance(named, dict) and "of" in named:
            which = int(named.get("tensor", 0))
            if named["of"] == self._name:
                return self._of_tensor[which]
            value = self._find(named["of"]).meta.get("val")
            tensors = [each for each in tree_leaves(value) if isinstance(each, torch.Tensor)]
            self.shared[len(self.sizes)] = tensors[which].untyped_storage()
            return self._add(0)
        if isinstance(named, dict) and "bytes" in named:
            return self._add(named["bytes"])
        return self._add(self._extent(tensor, shape))

    def _add(self, size: Json) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    def _extent(self, tensor: Json, shape: list[int]) -> int:
        """The size of the tensor in bytes."""
        if 0 in shape:
            return 0
        number = self._assumptions.number
        steps = [int(number(each)) for each in tensor.get("stride", ())]
        last = sum((size - 1) * step for size, step in zip(shape, steps, strict=False))
        return (int(number(tensor["offset"])) + last + 1) * torch_constant(tensor["dtype"]).itemsize


def _first_fake(values: Iterable[Any]) -> FakeTensor | None:
    for value in values:
        for leaf in tree_leaves(value):
            if isinstance(leaf, FakeTensor):
                return leaf
    return None


def _check_equal(node: fx.Node, computed: Any, record: Json) -> None:
    """Raise if the operator returns a dtype or shape other than the recorded one."""
    try:
        here, then = value_text(ValueEncoder().value(computed)), value_text(record)
    except CaptureError:
        return  # nothing to compare
    # In another trace, the same expression may be written differently.
    if "sym:" not in here and "sym:" not in then and here != then:
        raise RecipeError(f"{node.name} would return {here}, but the recipe records {then}")
