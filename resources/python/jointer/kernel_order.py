"""Applies recipes of compiled order when ``torch.compile`` compiles.

``compile_options`` returns the options for ``torch.compile``; ``order_pass`` returns the pass
alone, for ``torch._inductor.config.reorder_for_compute_comm_overlap_passes``. ``docs/recipes.md``
shows how to use both.

Steps, for each graph that Inductor schedules
  1. The recipe's graph that has the scheduler's sequence of collectives is chosen.
  2. The kernels that moves name are found (``scheduled_kernels``). A move is skipped, and reported,
     if a kernel is not found, if both kernels are one, or if a dependency would not hold.
  3. If the graph has collectives, all ranks compare what they schedule, their recipes and the order
     that they would use. If anything differs, every rank keeps the original order and reports the
     difference: ranks that start collectives in different orders would wait for each other forever.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .compiled_order import CompiledOrder, GraphOrder, Move, read_compiled_order
from .counted import counted
from .scheduled_kernels import ScheduledKernels, SchedulerNode

Source = str | os.PathLike[str] | Mapping[str, Any]

log = logging.getLogger("jointer")


@dataclass(frozen=True)
class SkippedMove:
    """A move that was not applied."""

    move: str
    reason: str

    def __str__(self) -> str:
        return f"{self.move}: {self.reason}"


@dataclass
class OrderReport:
    """The result of applying recipes to one graph."""

    #: ``forward``, ``backward`` or ``graph``.
    graph: str
    #: Why the order is unchanged: the recipe is for another program, or ranks differ; ``None`` if
    #: neither is the case.
    difference: str | None = None
    applied: list[str] = field(default_factory=list)
    skipped: list[SkippedMove] = field(default_factory=list)
    #: Kernels that moves name but the scheduler does not have.
    not_found: list[str] = field(default_factory=list)
    #: The collectives and waits in their new order, by the names of their nodes.
    communication: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.difference:
            return f"the order is unchanged ({self.graph}): {self.difference}"
        moves = counted(len(self.applied), "move")
        lines = [f"{moves} applied, {len(self.skipped)} skipped ({self.graph})"]
        return "\n".join(lines + [f"skipped: {each}" for each in self.skipped])


class OrderPass:
    """A pass of Inductor's scheduler that applies recipes of compiled order.

    ``reports`` collects a report for each graph.
    """

    def __init__(self, recipes: Sequence[CompiledOrder], group: Any = None) -> None:
        self.reports: list[OrderReport] = []
        self._recipes = list(recipes)
        self._group = group

    def __call__(self, nodes: list[SchedulerNode]) -> list[SchedulerNode]:
        kernels = ScheduledKernels(nodes)
        report = OrderReport(_half())
        graph = self._choose(kernels, report)
        order = list(range(len(nodes)))
        if graph is not None:
            order = _Moves(kernels, report).apply(graph.moves)
        if kernels.collectives and (difference := self._disagreement(kernels, order)):
            report = OrderReport(report.graph, difference=difference)
            order = list(range(len(nodes)))
        moved = [nodes[place] for place in order]
        report.communication = [
            kernels.name(place) for place in order if kernels.communicates(place)
        ]
        self.reports.append(report)
        is_bad = report.skipped or (report.difference and kernels.collectives)
        log.log(logging.WARNING if is_bad else logging.INFO, "%s: %s", self._where(), report)
        return moved

    def __deepcopy__(self, memo: Any) -> OrderPass:
        return self  # Inductor copies its settings

    def __reduce__(self) -> NoReturn:
        # Inductor pickles its settings into the keys of its caches. A rank that found the graph in
        # a cache would not run the pass, and the others would wait for it.
        raise TypeError("an order pass cannot be pickled, so that Inductor caches no graph")

    def _where(self) -> str:
        return ", ".join(recipe.where for recipe in self._recipes)

    def _choose(self, kernels: ScheduledKernels, report: OrderReport) -> GraphOrder | None:
        """The graph of the recipes that has the scheduler's collectives."""
        likely = [
            graph
            for recipe in self._recipes
            for graph in recipe.graphs
            if graph.key in ("graph", report.graph)
        ]
        if not likely:
            report.difference = f"the recipe moves no kernels of a {report.graph} graph"
        for graph in likely:
            if not (difference := _difference(graph, kernels)):
                report.difference = None
                report.graph = graph.key
                return graph
            report.difference = report.difference or difference
        return None

    def _disagreement(self, kernels: ScheduledKernels, order: Sequence[int]) -> str:
        """The first difference between ranks; empty if there is none."""
        import torch.distributed as dist

        if not dist.is_available() or not dist.is_initialized():
            return ""
        if dist.get_world_size(self._group) < 2 or dist.get_backend(self._group) == "fake":
            return ""
        recipes = " ".join(recipe.digest for recipe in self._recipes)
        parts = {
            "recipe": _digest([recipes]),
            "program": _digest(kernels.lines),
            "order": _digest([str(place) for place in order]),
        }
        ranks = _gathered(parts, self._group)
        differing = [
            rank for rank, theirs in enumerate(ranks) if theirs["program"] != ranks[0]["program"]
        ]
        if differing:  # the same list on every rank, so all of them gather again
            lines = _gathered(kernels.lines, self._group)
            return _first_difference(lines, differing[0], self._group)
        for what in ("recipe", "order"):
            for rank, theirs in enumerate(ranks):
                if theirs[what] != ranks[0][what]:
                    one, other = _global_rank(rank, self._group), _global_rank(0, self._group)
                    return f"the {what} of rank {one} is not that of rank {other}"
        return ""


def order_pass(*recipes: Source, group: Any = None) -> OrderPass:
    """A pass for ``torch._inductor.config.reorder_for_compute_comm_overlap_passes``.

    The files are read immediately, so that errors appear before training starts.

    Args:
        recipes: paths of recipes of compiled order, or their contents. The first one that has the
            collectives of a graph is applied to it.
        group: the process group whose ranks compile the same program; by default, all ranks. Every
            rank of it must compile the same number of graphs with collectives.

    Raises:
        RecipeError: a recipe is invalid; the message says where.
        OSError: a file cannot be read.
    """
    return OrderPass([read_compiled_order(each) for each in recipes], group)


def compile_options(*recipes: Source, group: Any = None) -> dict[str, Any]:
    """The ``options`` of ``torch.compile`` that apply recipes of compiled order.

    Inductor's own moves of collectives run first, as when the recipe was made, since they would
    undo its moves if they ran later. Inductor's caches are turned off, since a rank that finds a
    graph in a cache does not reorder it.

    Raises:
        RecipeError, OSError: as in ``order_pass``.
    """
    from torch._inductor import comms, config

    replay = order_pass(*recipes, group=group)
    options: dict[str, Any] = {
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": [replay],
        "force_disable_caches": True,
    }
    overlap = getattr(config, "aten_distributed_optimizations", None)
    if getattr(overlap, "enable_simple_overlap", False) and hasattr(comms, "simple_overlap"):
        options["aten_distributed_optimizations.enable_simple_overlap"] = False
        options["reorder_for_compute_comm_overlap_passes"] = ["simple_overlap", replay]
    return options


class _Moves:
    """The order of kernels while moves are applied, as places in the original order."""

    def __init__(self, kernels: ScheduledKernels, report: OrderReport) -> None:
        self._kernels = kernels
        self._report = report
        self._order = list(range(len(kernels.nodes)))

    def apply(self, moves: Sequence[Move]) -> list[int]:
        for move in moves:
            kernel, anchor = (self._kernels.find(each) for each in (move.kernel, move.anchor))
            missing = [
                str(name)
                for name, found in ((move.kernel, kernel), (move.anchor, anchor))
                if found is None
            ]
            if kernel is None or anchor is None:
                self._report.not_found += missing
                self._skip(move, f"not found: {', '.join(missing)}")
            elif kernel == anchor:
                self._skip(move, "Inductor has fused both into one kernel")
            elif reason := self._move(kernel, anchor, move.before):
                self._skip(move, reason)
            else:
                self._report.applied.append(str(move))
        return self._order

    def _skip(self, move: Move, reason: str) -> None:
        self._report.skipped.append(SkippedMove(str(move), reason))

    def _move(self, kernel: int, anchor: int, before: bool) -> str:
        """Move one kernel; if a dependency does not allow it, only return the reason."""
        at = self._order.index(kernel)
        rest = self._order[:at] + self._order[at + 1 :]
        to = rest.index(anchor) + (0 if before else 1)
        needed, name = self._kernels.before, self._kernels.name
        for other in rest[to:at]:  # the kernel would run before these
            if other in needed[kernel]:
                return f"{name(kernel)} needs {name(other)}, which would run later"
        for other in rest[at:to]:  # the kernel would run after these
            if kernel in needed[other]:
                return f"{name(other)} needs {name(kernel)}, which would run later"
        self._order = [*rest[:to], kernel, *rest[to:]]
        return ""


def _half() -> str:
    from torch._inductor.virtualized import V

    return "backward" if getattr(V.graph, "is_backward", False) else "forward"


def _difference(graph: GraphOrder, kernels: ScheduledKernels) -> str:
    """How the scheduler's collectives differ from those of the recipe; empty if they do not."""
    expected, found = graph.collectives, kernels.collectives
    for number, (theirs, own) in enumerate(zip(expected, found, strict=False)):
        if not theirs.fits(own):
            return (
                f"the recipe was made for another program: collective {number} is {own}, the "
                f"recorded one {theirs}"
            )
    if len(expected) != len(found):
        return (
            "the recipe was made for another program: it has "
            f"{counted(len(found), 'collective')}, the recorded one {len(expected)}"
        )
    return ""


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _gathered(own: Any, group: Any) -> list[Any]:
    """``own`` of every rank of the group."""
    import torch.distributed as dist
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    found: list[Any] = [None] * dist.get_world_size(group)
    with unset_fake_temporarily():
        dist.all_gather_object(found, own, group=group)
    return found


def _global_rank(rank: int, group: Any) -> int:
    """The global rank of a rank of the group."""
    import torch.distributed as dist

    return rank if group is None else dist.get_global_rank(group, rank)


def _first_difference(lines: Sequence[Sequence[str]], rank: int, group: Any) -> str:
    first, theirs = lines[0], lines[rank]
    one, other = _global_rank(0, group), _global_rank(rank, group)
    for place, (a, b) in enumerate(zip(first, theirs, strict=False)):
        if a != b:
            return (
                f"ranks schedule different programs: kernel {place} is `{b}` on rank {other}, "
                f"`{a}` on rank {one}"
            )
    return (
        f"ranks schedule different programs: {counted(len(theirs), 'kernel')} on rank {other}, "
        f"{len(first)} on rank {one}"
    )
