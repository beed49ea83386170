"""Runs torch's own reordering functions (torch._inductor.comms and memory) on the calls of a capture.

Inductor runs them on scheduler nodes. Here, a stand-in has the parts of a node's interface that they
use, built from ``reordering_answers calls``: the same dependencies, costs and memory (makers, users, what
stays allocated) as in the C++ passes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

from torch._inductor import comms, config_comms, memory
from torch._inductor.virtualized import V
from torch.utils._ordered_set import OrderedSet


class Buffer:
    def __init__(self, name: str, size: int, users: list[Node]) -> None:
        self.name = name
        self.mpi_buffer = memory.MemoryPlanningInfoForBuffer(
            size_alloc=size,
            size_free=size,
            succ_nodes=OrderedSet(users),
            succ_nodes_for_ordering=OrderedSet(users),
        )

    def get_name(self) -> str:
        return self.name


class Node:
    """One call. Calls that must run after it depend on its buffer ``order_N``, which takes no
    memory.
    """

    def __init__(self, index: int, call: dict[str, Any]) -> None:
        self.index, self.call = index, call
        self.name = call["name"]
        self.is_start, self.is_wait = call["is_start"], call["is_wait"]
        kernel = "torch.ops._dtensor.shard_dim_alltoall.default" if call["is_sync"] else ""
        self.node = SimpleNamespace(python_kernel_name=kernel, is_wait=self.is_wait)
        self.outputs = [Buffer(f"order_{index}", 0, [])]
        self.unmet_dependencies: list[Any] = [SimpleNamespace(name=f"order_{each}") for each in call["before"]]
        self.nodes: list[Node] = []

    def get_name(self) -> str:
        return self.name

    def get_outputs(self) -> list[Buffer]:
        return self.outputs

    def get_buffer_names(self) -> list[str]:
        return [each.get_name() for each in self.outputs]

    def get_operation_names(self) -> list[str]:
        return [self.name]

    def get_estimated_runtime(self) -> float:
        return float(self.call["ns"])

    def add_fake_dep(self, dep: Any) -> None:
        if dep.name.startswith("order_"):
            self.unmet_dependencies.append(dep)

    @property
    def ancestors(self) -> set[str]:
        seen, open_ = set(), list(self.call["before"])
        while open_:
            each = open_.pop()
            if each not in seen:
                seen.add(each)
                open_.extend(self.nodes[each].call["before"])
        return {self.nodes[each].name for each in seen}


class Calls:
    """The calls of a single-graph capture, created anew for each function."""

    def __init__(self, described: dict[str, Any]) -> None:
        assert len(described["stretches"]) == 1
        self.nodes = [Node(i, call) for i, call in enumerate(described["calls"])]
        self.inputs: dict[str, memory.FreeableInputBuffer] = {}
        self.outputs: set[str] = set()
        for node in self.nodes:
            node.nodes = self.nodes
        for i, item in enumerate(described["items"]):
            name = f"item_{i}"
            buffer = Buffer(name, item["bytes"], [self.nodes[each] for each in item["users"]])
            if item["is_kept"]:
                self.outputs.add(name)
            if item["maker"] is None:
                self.inputs[name] = memory.FreeableInputBuffer(name, buffer.mpi_buffer)
            else:
                self.nodes[item["maker"]].outputs.append(buffer)

    def plan(self, described: dict[str, Any]) -> dict[str, Buffer]:
        """Input of memory.py's sorts: predecessors and successors, with collectives in their order.
        """
        comms.decide_global_ordering_of_comms(self.nodes, {}, {})
        after: dict[int, list[Node]] = {i: [] for i in range(len(self.nodes))}
        before: list[list[Node]] = []
        for node in self.nodes:
            found = OrderedSet(int(dep.name.removeprefix("order_")) for dep in node.unmet_dependencies)
            before.append([self.nodes[each] for each in found])
            for each in found:
                after[each].append(node)
        used: list[list[Any]] = [[] for _ in self.nodes]
        buffers = {each.get_name(): each for node in self.nodes for each in node.outputs}
        for i, item in enumerate(described["items"]):
            name = f"item_{i}"
            for user in item["users"]:
                if item["maker"] is not None or not item["is_kept"]:
                    used[user].append(buffers.get(name) or self.inputs[name])
        for i, node in enumerate(self.nodes):
            node.mpi_node = memory.MemoryPlanningInfoForNode(
                index=i,
                size=sum(each.mpi_buffer.size_alloc for each in node.outputs),
                pred_buffers=OrderedSet(used[i]),
                pred_nodes=OrderedSet(before[i]),
                succ_nodes=OrderedSet(after[i]),
            )
        return buffers


@contextlib.contextmanager
def stand_ins(calls: Calls, **config: Any) -> Iterator[None]:
    """Stand-ins for the functions with which torch queries scheduler nodes."""

    def contains_collective(node: Node, accepts: Callable[[Node], bool] | None = None) -> bool:
        return node.is_start and (accepts is None or accepts(node))

    graph = SimpleNamespace(graph_inputs=calls.inputs, get_output_names=lambda: calls.outputs)
    with (
        V.set_graph_handler(graph),
        config_comms.patch(config),
        mock.patch.multiple(
            comms,
            contains_collective=contains_collective,
            contains_wait=lambda node: node.is_wait,
            is_wait=lambda node: node.is_wait,
            contains_gemm_like=lambda node: node.call["is_gemm"],
            get_freeable_input_buf=lambda nodes, inputs: calls.inputs,
        ),
    ):
        yield


def names(nodes: list[Node]) -> list[str]:
    return [node.name for node in nodes]


def scheduled_for_comm(described: dict[str, Any], function: str) -> list[str]:
    calls = Calls(described)
    with stand_ins(calls):
        nodes = comms.decide_global_ordering_of_comms(calls.nodes, {}, {})
        return names(getattr(comms, function)(nodes))


def moved(described: dict[str, Any], function: str, **config: Any) -> tuple[list[str], dict[str, Any]]:
    """The order, and torch's notes on every collective or wait."""
    calls = Calls(described)
    with stand_ins(calls, **config):
        nodes, stats = getattr(comms, function)(calls.nodes)
        return names(nodes), {node.name: info for node, info in stats.items()}


def sorted_for_memory(described: dict[str, Any], method: str) -> list[str]:
    calls = Calls(described)
    with stand_ins(calls):
        buffers = calls.plan(described)
        if method == "lpmf":
            freeable = {name: each for name, each in calls.inputs.items() if name not in calls.outputs}
            made = calls.outputs - calls.inputs.keys()
            return names(memory.topological_sort_lpmf(calls.nodes, freeable, buffers, OrderedSet(made)))
        return names(getattr(memory, f"topological_sort_{method}")(calls.nodes))
