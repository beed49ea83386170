"""Checks that moved nodes preserve the orders that memory and random numbers require.

Two nodes must stay in order if one writes to memory that the other uses (``effects``), or if both
draw random numbers.

Terms. Span: all nodes between the outermost former and current positions of moved nodes. If two
nodes change their order, both are in the span and at least one of them has moved. Group: nodes of
the span that use the same bytes of a storage in the same way, or all nodes that draw random
numbers.

Steps. Only storages that a moved node uses and that a node of the span writes to matter; their uses
are grouped. Every moved node is compared with whole groups. A group is sorted by former position
and stores, for every n, the last current position of its first n nodes and the first current
position of its last n nodes, so one binary search finds out if the node moved past any of them.

Cost: linear in the span, plus, for each moved node, a binary search per group that it conflicts
with, or a single one for all of these groups if they have few nodes. If many regions of one storage
overlap each other, they are compared pairwise.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn

import torch
from torch import fx
from torch._ops import OpOverload

from .effects import Memory, Use, may_write, memory_of, must_keep_order, storages_of
from .errors import RecipeError
from .memory_region import Region, may_overlap

#: By moved node: its former sort key, and its former neighbors.
Stood = Mapping[fx.Node, tuple[Any, fx.Node, fx.Node]]


def check_kept_orders(stood: Stood, changed: set[fx.Node]) -> None:
    """Raise ``RecipeError`` if a node moved past another node although the two must stay in order.

    ``changed``: nodes that the edit added or replaced, whose order does not matter.
    """
    _Check(stood, changed).run()


class _Place(NamedTuple):
    """Positions of a node in the span, before the move and now."""

    before: int
    now: int


class _Group:
    """Nodes that conflict with the same other nodes."""

    def __init__(self, places: Iterable[_Place]) -> None:
        self.places = sorted(places)
        self._before = [each.before for each in self.places]
        now = [each.now for each in self.places]
        self._last_of_first = [-1, *accumulate(now, max)]
        self._first_of_last = [*accumulate(reversed(now), min, initial=len(now) and max(now) + 1)]

    def has_exchanged(self, with_: _Place) -> bool:
        """True if a node of the group moved past the one at ``with_``."""
        earlier = bisect_left(self._before, with_.before)
        later = len(self._before) - bisect_right(self._before, with_.before)
        return self._last_of_first[earlier] > with_.now or (
            later > 0 and self._first_of_last[later] < with_.now
        )


class _Storage:
    """The groups of nodes that use a storage."""

    def __init__(self) -> None:
        self._places: dict[tuple[Use, Region | None], list[_Place]] = {}
        self._moved: dict[tuple[Use, Region | None], int] = {}

    def add(self, use: Use, region: Region | None, place: _Place, is_moved: bool) -> None:
        self._places.setdefault((use, region), []).append(place)
        if is_moved:
            self._moved[use, region] = self._moved.get((use, region), 0) + 1

    def finish(self) -> None:
        """Sort the uses that were added."""
        self._groups = {key: _Group(places) for key, places in self._places.items()}
        regions = {region for _, region in self._groups if region is not None}
        self._regions = sorted(regions, key=lambda each: each.start)
        self._starts = [each.start for each in self._regions]
        self._ends = [each.start + each.extent() for each in self._regions]
        self._last_ends = list(accumulate(self._ends, max))
        self._conflicts: dict[tuple[Use, Region | None], list[_Group]] = {}

    def has_exchanged(self, use: Use, region: Region | None, with_: _Place) -> bool:
        """True if the node at ``with_``, which uses ``region``, moved past another one."""
        key = use, region
        if key not in self._conflicts:
            self._conflicts[key] = self._find_conflicts(use, region)
        return any(each.has_exchanged(with_) for each in self._conflicts[key])

    def _find_conflicts(self, use: Use, region: Region | None) -> list[_Group]:
        """The groups that must stay in order with nodes that use ``region``."""
        uses = [each for each in Use if must_keep_order(use, each)]
        if not uses:
            return []
        found = [
            self._groups[each, other]
            for other in (None, *self._overlapping(region))
            for each in uses
            if (each, other) in self._groups
        ]
        if sum(len(each.places) for each in found) < len(found) * self._moved[use, region]:
            return [_Group(place for each in found for place in each.places)]
        return found

    def _overlapping(self, region: Region | None) -> list[Region]:
        if region is None:
            return self._regions
        end = region.start + region.extent()
        found = []
        for i in range(bisect_left(self._starts, end) - 1, -1, -1):
            if self._last_ends[i] <= region.start:
                break
            if self._ends[i] > region.start and may_overlap(region, self._regions[i]):
                found.append(self._regions[i])
        return found


class _Check:
    """One check of an edit."""

    def __init__(self, stood: Stood, changed: set[fx.Node]) -> None:
        self._stood = stood
        self._span = [node for node in _span(stood) if node not in changed]
        self._moved = [node for node in stood if node not in changed]
        former = sorted(range(len(self._span)), key=lambda i: self._former_key(self._span[i]))
        self._places = {self._span[now]: _Place(before, now) for before, now in enumerate(former)}
        self._memory = {node: memory_of(node) for node in self._moved}

    def run(self) -> None:
        storages = self._find_storages()
        draws = _Group(self._places[node] for node in self._span if _is_random(node))
        for node in self._moved:
            place = self._places[node]
            breaks_memory = any(
                storages[storage].has_exchanged(use, region, place)
                for storage, use, region in self._memory[node].uses()
                if storage in storages
            )
            if breaks_memory or (_is_random(node) and draws.has_exchanged(place)):
                self._refuse(node)

    def _find_storages(self) -> dict[int, _Storage]:
        """The uses of storages that a moved node uses and some node writes to."""
        of_moved = {storage for each in self._memory.values() for storage in each.storages()}
        memory = {node: self._memory_of(node) for node in self._span if may_write(node)}
        written = {
            storage
            for each in memory.values()
            for storage, use, _ in each.uses()
            if use >= Use.WRITE
        }
        found = {storage: _Storage() for storage in of_moved & written}
        if not found:
            return found
        for node in self._span:
            if node not in memory and found.keys().isdisjoint(storages_of(node)):
                continue
            used = memory[node] if node in memory else self._memory_of(node)
            for storage, use, region in used.uses():
                if storage in found:
                    found[storage].add(use, region, self._places[node], node in self._memory)
        for each in found.values():
            each.finish()
        return found

    def _memory_of(self, node: fx.Node) -> Memory:
        return self._memory[node] if node in self._memory else memory_of(node)

    def _former_key(self, node: fx.Node) -> Any:
        return self._stood[node][0] if node in self._stood else node._sort_key

    def _refuse(self, moved: fx.Node) -> NoReturn:
        """Raise an error that names the first node with which ``moved`` must stay in order."""
        before, now = self._places[moved]
        memory, is_random = self._memory[moved], _is_random(moved)
        for other in self._span:
            place = self._places[other]
            if (place.before < before) == (place.now < now):
                continue
            stays = f"{moved.name} must stay {'after' if place.before < before else 'before'}"
            if memory.keeps_order_with(self._memory_of(other)):
                raise RecipeError(
                    f"{stays} {other.name}: one of them writes to memory that the other uses"
                )
            if is_random and _is_random(other):
                raise RecipeError(f"{stays} {other.name}: their effects must keep their order")
        raise RecipeError(
            f"{moved.name} cannot be moved there: it would swap places with a node that uses the "
            "same memory"
        )


def _span(stood: Stood) -> list[fx.Node]:
    """All nodes between the outermost former and current positions of moved nodes."""
    places = {*stood}
    for _, before, after in stood.values():
        places |= {each for each in (before, after) if each.op != "root" and not each._erased}
    node, last = min(places), max(places)
    span = [node]
    while node is not last:
        node = node.next
        span.append(node)
    return span


def _is_random(node: fx.Node) -> bool:
    tags = node.target.tags if isinstance(node.target, OpOverload) else ()
    return torch.Tag.nondeterministic_seeded in tags
