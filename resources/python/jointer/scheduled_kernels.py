"""The nodes of Inductor's scheduler, described so that they can be compared with a recipe and with
other ranks.

A collective is identified by its number in the sequence of collectives, which Inductor keeps, and a
wait by its collective. Other kernels are identified by the nodes of the graph that run in them.
Passes rename nodes, so a node counts under its own name and under those of the nodes that it
replaced (``from_node``), always together with its operator. If no name is left, the number of the
call among the calls of its operator decides.

Inductor makes each collective depend on the result of the previous one, and thereby on its wait.
Such a dependency only keeps the order of collectives. Here, it counts as a dependency on the start
of the previous collective.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .compiled_order import Collective, KernelName

#: ``torch._inductor.scheduler.BaseSchedulerNode``, whose class differs between versions.
SchedulerNode = Any

_COMPUTED = frozenset({"pointwise", "reduction", "mix_order_reduction", "foreach", "template"})


class ScheduledKernels:
    """The nodes of a scheduler, in their original order.

    Attributes:
        nodes: the scheduler's nodes.
        collectives: the collectives, in order.
        before: by node, the places of the nodes on which it depends directly.
        lines: by node, a text that is equal on every rank that runs the same program.
    """

    def __init__(self, nodes: Sequence[SchedulerNode]) -> None:
        self.nodes = list(nodes)
        self._kinds = [_kind(node) for node in nodes]
        self._starts = [i for i, kind in enumerate(self._kinds) if kind == "collective"]
        groups: list[str] = []
        self.collectives = [_collective(nodes[i], groups) for i in self._starts]
        makers = {name: i for i, node in enumerate(nodes) for name in node.get_buffer_names()}
        self._inputs = [
            sorted(
                {
                    dep.name
                    for dep in node.unmet_dependencies
                    if dep.name in makers and not _chains_collectives(node, dep)
                }
            )
            for node in nodes
        ]
        self.before = [
            {makers[name] for name in names} - {i} for i, names in enumerate(self._inputs)
        ]
        for earlier, later in zip(self._starts, self._starts[1:], strict=False):
            self.before[later].add(earlier)
        self._waits = self._find_waits()
        self._find_calls()
        self.lines = [self._line(i) for i in range(len(nodes))]

    def communicates(self, place: int) -> bool:
        """True for the start and for the wait of a collective."""
        return self._kinds[place] in ("collective", "wait")

    def name(self, place: int) -> str:
        """The node's name in messages."""
        calls = self._names[place]
        return next(iter(calls))[0] if calls else str(self.nodes[place].get_name())

    def find(self, wanted: KernelName) -> int | None:
        """The place of the kernel with this name; ``None`` if there is none."""
        if wanted.kind == "collective":
            number = wanted.collective
            is_known = number is not None and 0 <= number < len(self._starts)
            return self._starts[number] if is_known and number is not None else None
        if wanted.kind == "wait":
            number = wanted.collective
            waits = self._waits.get(number, []) if number is not None else []
            return waits[wanted.wait] if 0 <= wanted.wait < len(waits) else None
        names = {(call.name, call.target) for call in wanted.nodes}
        numbers = {(call.target, call.number) for call in wanted.nodes}
        best: tuple[int, int, int, int] | None = None
        found = None
        for place, kind in enumerate(self._kinds):
            if kind in ("collective", "wait"):
                continue
            same_names = len(names & self._names[place].keys())
            same_numbers = len(numbers & self._numbers[place])
            if same_names == 0 and same_numbers == 0:
                continue
            is_same_kind = kind == ("computed" if wanted.kind in _COMPUTED else "other")
            extra = len(self._numbers[place])
            score = (same_names, int(is_same_kind), same_numbers, -extra)
            if best is None or score > best:
                best, found = score, place
        return found

    def _find_waits(self) -> dict[int, list[int]]:
        """The waits of each collective, by its number."""
        starts = {place: number for number, place in enumerate(self._starts)}
        found: dict[int, list[int]] = {}
        for place, kind in enumerate(self._kinds):
            if kind != "wait":
                continue
            for other in sorted(self.before[place], reverse=True):
                # A collective with several results has a node for each of them.
                for start in (other, *self.before[other]):
                    if start in starts and self._leads_to(start, other):
                        found.setdefault(starts[start], []).append(place)
                        break
                else:
                    continue
                break
        return found

    def _leads_to(self, start: int, other: int) -> bool:
        return start == other or type(self.nodes[other].node).__name__ == "MultiOutput"

    def _find_calls(self) -> None:
        """Find the nodes of the graph that run in each kernel."""
        parts = [[part.node for part in node.get_nodes()] for node in self.nodes]
        # By node, its position in its graph, and its number among the calls of its operator.
        positions: dict[Any, tuple[int, int]] = {}
        for origin in (each for ops in parts for op in ops for each in _origins(op)):
            if origin not in positions:
                positions.update(_positions(origin.graph))
        own: dict[int, Any] = {}  # by op that is not a loop: the last of its origins
        for op in (op for ops in parts for op in ops):
            known = [each for each in _origins(op) if each in positions]
            if known and not _is_loops(op):
                own[id(op)] = max(known, key=lambda each: positions[each][0])
        externs = set(own.values())
        self._names: list[dict[tuple[str, str], None]] = []
        self._numbers: list[set[tuple[str, int | None]]] = []
        for ops in parts:
            calls: list[Any] = []
            for op in ops:
                if id(op) in own:
                    calls.append(own[id(op)])
                else:
                    calls += [
                        each for each in _origins(op) if each in positions and each not in externs
                    ]
            calls.sort(key=lambda each: positions[each][0])
            self._names.append(dict.fromkeys(name for each in calls for name in _names(each)))
            self._numbers.append({(str(each.target), positions[each][1]) for each in calls})

    def _line(self, place: int) -> str:
        node = self.nodes[place]
        targets = sorted({target for target, _ in self._numbers[place]})
        text = f"{node.get_name()} {self._kinds[place]} {' '.join(targets)}"
        if self._kinds[place] == "collective":
            text += f" {self.collectives[self._starts.index(place)]}"
        return f"{text} after {' '.join(self._inputs[place])}"


def _kind(node: SchedulerNode) -> str:
    from torch._inductor.utils import contains_collective, contains_wait

    if contains_collective(node):
        return "collective"
    if contains_wait(node):
        return "wait"
    return "computed" if any(_is_loops(part.node) for part in node.get_nodes()) else "other"


def _chains_collectives(node: SchedulerNode, dep: Any) -> bool:
    """True for a dependency that Inductor adds to keep the order of collectives. Any other
    dependency without data is due to a buffer that the node changes."""
    from torch._inductor.dependencies import WeakDep
    from torch._inductor.utils import contains_collective

    if not isinstance(dep, WeakDep) or not contains_collective(node):
        return False
    changes = [each for each in node.get_outputs() if each.get_name() == dep.mutating_buf]
    return bool(changes) and not any(each.get_mutations() for each in changes)


def _is_loops(op: Any) -> bool:
    from torch._inductor import ir

    return isinstance(op, (ir.ComputedBuffer, ir.TemplateBuffer))


def _origins(op: Any) -> list[Any]:
    return [] if op is None else list(op.get_origins())


def _positions(graph: Any) -> dict[Any, tuple[int, int]]:
    counts: dict[str, int] = {}
    found = {}
    for place, node in enumerate(graph.nodes):
        number = -1
        if node.op == "call_function":
            number = counts.get(str(node.target), 0)
            counts[str(node.target)] = number + 1
        found[node] = (place, number)
    return found


def _names(node: Any) -> Iterator[tuple[str, str]]:
    """The names of a node and of those that it replaced, with their operators."""
    yield node.name, str(node.target)
    sources = list(node.meta.get("from_node") or ())
    while sources:
        source = sources.pop()
        if getattr(source, "name", ""):
            yield source.name, str(source.target)
        sources += getattr(source, "from_node", None) or ()


def _collective(node: SchedulerNode, groups: list[str]) -> Collective:
    from torch._inductor.utils import is_collective

    op = next(part.node for part in node.get_nodes() if is_collective(part.node))
    target = str(op.op_overload)
    group, ranks = _group(op)
    if group is not None and group not in groups:
        groups.append(group)
    inputs = op.inputs if "coalesced" in target else op.inputs[:1]
    dtype = None
    numel: int | None = 0
    for each in inputs:
        size = _number(each.get_numel())
        numel = None if size is None or numel is None else numel + size
        dtype = dtype or str(each.get_dtype()).removeprefix("torch.")
    return Collective(
        target=target,
        group=None if group is None else groups.index(group),
        ranks=ranks,
        dtype=dtype if numel is not None else None,
        numel=numel,
    )


def _group(op: Any) -> tuple[str | None, int | None]:
    """The name and the size of a collective's process group, if they are known."""
    from torch.distributed import distributed_c10d as c10d

    given = [*op.constant_args, *(getattr(op, "kwargs", None) or {}).values()]
    for each in reversed(given):
        if isinstance(each, str):
            try:
                return each, c10d._resolve_process_group(each).size()
            except Exception:  # not a group: another argument, or a group of another process
                continue
        if hasattr(each, "group_name") and callable(getattr(each, "size", None)):
            return str(each.group_name), int(each.size())
    return None, None


def _number(size: Any) -> int | None:
    try:
        return int(size)
    except TypeError:  # symbolic
        return None
