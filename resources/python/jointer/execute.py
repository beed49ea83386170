"""Runs a rebuilt graph operator by operator on real tensors, each freed after its last use.

Terms: a *plan* lists the nodes of a graph, each with the values that can be freed after it. The
*ledger* counts the bytes of the storages that a run holds on the graph's device, each storage once
even if several tensors share it. The inputs of a collective live until its wait, as the
communication may still read them.

Cost: a plan is linear in the graph, and a run is linear in the plan; the ledger adds a few
dictionary operations per tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, fx

from .device_errors import text_of
from .retarget import captured_target
from .signature import graph_outputs

#: Operators that start a collective, and operators that wait for one.
_COLLECTIVES = ("_c10d_functional.", "_c10d_functional_autograd.")
_WAITS = frozenset({"_c10d_functional.wait_tensor.default"})


class NodeError(Exception):
    """A node failed; ``__cause__`` is the exception."""

    def __init__(self, node: fx.Node, error: BaseException) -> None:
        super().__init__(f"{captured_target(node)}: {text_of(error)}")
        self.node = node.name
        self.error = error


class MemoryLimit(Exception):
    """A run holds more bytes than allowed."""


def is_wait(node: fx.Node) -> bool:
    """True if the node waits for a collective."""
    return node.op == "call_function" and captured_target(node) in _WAITS


def is_collective(node: fx.Node) -> bool:
    """True if the node starts a collective."""
    is_ours = node.op == "call_function" and captured_target(node).startswith(_COLLECTIVES)
    return is_ours and not is_wait(node)


@dataclass
class Step:
    """A node, and the nodes whose values are not needed after it."""

    node: fx.Node
    #: Index among all nodes of the program.
    position: int
    frees: list[fx.Node] = field(default_factory=list)


def plan(gm: fx.GraphModule, first_position: int, kept: set[fx.Node]) -> list[Step]:
    """The nodes of ``gm`` in order, each with the nodes whose values are freed after it.

    Args:
        gm: the graph.
        first_position: position of the graph's first node.
        kept: nodes whose values are not freed after their last use.
    """
    steps = [Step(node, first_position + i) for i, node in enumerate(gm.graph.nodes)]
    last: dict[fx.Node, int] = {}
    for index, step in enumerate(steps):
        last[step.node] = index
        for each in step.node.all_input_nodes:
            last[each] = index
        if is_wait(step.node):
            for start in collectives_of_wait(step.node):
                for each in start.all_input_nodes:
                    last[each] = index
    for node, index in last.items():
        if node.op not in ("get_attr", "output") and node not in kept:
            steps[index].frees.append(node)
    return steps


def collectives_of_wait(wait: fx.Node) -> Iterator[fx.Node]:
    """The collectives that ``wait`` waits for, even if they return a list."""
    for each in wait.all_input_nodes:
        if each.target is operator.getitem:
            each = each.args[0]
        if is_collective(each):
            yield each


class Ledger:
    """Bytes of the storages that are held."""

    def __init__(self, device: torch.device, limit: int = 0) -> None:
        self._device_type = device.type
        self._limit = limit
        self._held: dict[int, list[Any]] = {}
        self.bytes = 0
        self.peak = 0

    def add(self, value: Any) -> None:
        """Hold the tensors of ``value``."""
        for tensor in tensors_of(value):
            if tensor.device.type != self._device_type or tensor.layout is not torch.strided:
                continue
            storage = tensor.untyped_storage()
            entry = self._held.get(storage._cdata)
            if entry is not None:
                entry[0] += 1
                continue
            # Holding the storage prevents reuse of its address.
            self._held[storage._cdata] = [1, storage.nbytes(), storage]
            self.bytes += storage.nbytes()
        if self.bytes > self.peak:
            self.peak = self.bytes
            if 0 < self._limit < self.bytes:
                raise MemoryLimit(f"{self.bytes} bytes allocated, over the limit of {self._limit}")

    def remove(self, value: Any) -> None:
        """Release the tensors of ``value``."""
        for tensor in tensors_of(value):
            if tensor.device.type != self._device_type or tensor.layout is not torch.strided:
                continue
            key = tensor.untyped_storage()._cdata
            entry = self._held[key]
            entry[0] -= 1
            if entry[0] == 0:
                self.bytes -= entry[1]
                del self._held[key]


def tensors_of(value: Any) -> Iterator[Tensor]:
    """The tensors in a value."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_of(each)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from tensors_of(each)


#: Runs one node, given its arguments. Replaced to measure or to substitute calls.
Call = Callable[[Step, tuple, dict], Any]


def call_target(step: Step, args: tuple, kwargs: dict) -> Any:
    """Run a node unchanged."""
    return step.node.target(*args, **kwargs)


class Run:
    """One run of a graph's plan. ``values`` holds values until they are freed."""

    def __init__(
        self,
        gm: fx.GraphModule,
        steps: list[Step],
        ledger: Ledger | None = None,
        call: Call = call_target,
        after: Callable[[Step, int, int], None] | None = None,
        at_node: Callable[[int], None] = lambda position: None,
    ) -> None:
        """
        Args:
            gm: the graph.
            steps: from ``plan``.
            ledger: counts the bytes that the run holds.
            call: runs a node.
            after: called after each call with the bytes held before and after its frees.
            at_node: called with the position of each call before it runs.
        """
        self._at_node = at_node
        self._gm = gm
        self._steps = steps
        self._ledger = ledger
        self._call = call
        self._after = after
        self.values: dict[fx.Node, Any] = {}

    def bind_constants(self) -> None:
        """Set the constants of the graph, which are never freed."""
        for step in self._steps:
            if step.node.op == "get_attr":
                self._set(step.node, attrgetter(step.node.target)(self._gm))

    def bind(self, inputs: Mapping[str, Any]) -> None:
        """Set the inputs, by placeholder name."""
        for step in self._steps:
            if step.node.op == "placeholder":
                self._set(step.node, inputs[step.node.name])

    def run(self) -> list[Any]:
        """Run every node and return the graph's outputs."""
        with torch.no_grad():
            for step in self._steps:
                if step.node.op == "call_function":
                    self._step(step)
                elif step.node.op == "placeholder" and not step.node.users:
                    self._free(step)
        outputs = graph_outputs(self._gm.graph)
        return [self.values[each] if isinstance(each, fx.Node) else each for each in outputs]

    def drop(self, nodes: Iterable[fx.Node]) -> None:
        """Free the values of ``nodes``."""
        for node in nodes:
            self._drop(node)

    def end(self) -> None:
        """Free every value."""
        self.drop(list(self.values))

    def _step(self, step: Step) -> None:
        node = step.node
        self._at_node(step.position)
        try:
            args = fx.node.map_arg(node.args, self.values.__getitem__)
            kwargs = fx.node.map_arg(node.kwargs, self.values.__getitem__)
            self._set(node, self._call(step, args, kwargs))
            del args, kwargs
        except Exception as error:
            raise NodeError(node, error) from error
        before = self._ledger.bytes if self._ledger else 0
        self._free(step)
        if self._after and self._ledger:
            self._after(step, before, self._ledger.bytes)

    def _free(self, step: Step) -> None:
        for node in step.frees:
            if node in self.values:
                self._drop(node)

    def _set(self, node: fx.Node, value: Any) -> None:
        self.values[node] = value
        if self._ledger:
            self._ledger.add(value)

    def _drop(self, node: fx.Node) -> None:
        value = self.values.pop(node)
        if self._ledger:
            self._ledger.remove(value)
