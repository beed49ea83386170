"""The part of a storage that a tensor covers, as ``core/graph/memory_region.cpp`` has it.

A region is a run of bytes that repeats along axes. Two have nothing in common if one ends before
the other begins, or if that is so once the rows of a period, the largest step of both, lie over
one another. A row that reaches over the end of its period cannot be laid so: then they may overlap,
unless it consists of runs whose step divides the period, which then stand for such runs all over
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .values import captured_sizes


@dataclass(frozen=True)
class Region:
    """Bytes of a storage."""

    start: int
    #: Bytes side by side.
    run: int
    #: How often runs repeat, and how many bytes behind the one before; steps rise.
    axes: tuple[tuple[int, int], ...]

    def extent(self) -> int:
        """Bytes from the first to the last, gaps included."""
        return self.run + sum((count - 1) * step for count, step in self.axes)

    def folded(self, period: int) -> Region | None:
        """Modulo ``period``; ``None`` where it does not fit into one period."""
        axes = self.axes[:-1] if self.axes and self.axes[-1][1] == period else self.axes
        folded = Region(self.start % period, self.run, axes)
        if folded.start + folded.extent() <= period:
            return folded
        if not axes or period % axes[-1][1] != 0:
            return None
        step = axes[-1][1]
        folded = Region(self.start % step, self.run, (*axes[:-1], (period // step, step)))
        return folded if folded.start + folded.extent() <= period else None


def region_of(tensor: Tensor) -> Region | None:
    """What ``tensor`` covers of its storage; ``None``: all of it, or that is not known."""
    if tensor.layout is not torch.strided or captured_sizes(tensor) is not None:
        return None
    sizes, strides, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
    if not all(isinstance(each, int) for each in (*sizes, *strides, offset)) or 0 in sizes:
        return None
    item = tensor.element_size()
    run, axes = item, list[tuple[int, int]]()
    steps = sorted((stride * item, size) for size, stride in zip(sizes, strides, strict=True))
    for step, count in steps:
        if count == 1 or step == 0:
            continue
        if not axes and step == run:
            run *= count
        elif axes and step == axes[-1][0] * axes[-1][1]:
            axes[-1] = (axes[-1][0] * count, axes[-1][1])
        else:
            axes.append((count, step))
    return Region(offset * item, run, tuple(axes))


def may_overlap(a: Region | None, b: Region | None) -> bool:
    """Can there be a byte that is in both?"""
    while a is not None and b is not None:
        if a.start + a.extent() <= b.start or b.start + b.extent() <= a.start:
            return False
        if not a.axes and not b.axes:
            return True
        period = max(step for region in (a, b) for _, step in region.axes)
        a, b = a.folded(period), b.folded(period)
    return True
