"""The bytes of a storage that a tensor covers; ``core/graph/memory_region.cpp`` has the same rules.

A region is a run of bytes that repeats along axes. Two regions are disjoint if one ends before the
other begins, or if this is the case after both are folded modulo a period, which is the larger of
their largest steps. A region that crosses the end of a period cannot be folded and counts as
overlapping, unless it consists of runs whose step divides the period; then it is folded by that
step, and repeats throughout the period.
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
    #: Number of contiguous bytes.
    run: int
    #: (count, step in bytes) of each axis, in increasing order of step.
    axes: tuple[tuple[int, int], ...]

    def extent(self) -> int:
        """Number of bytes from the first to the last, including gaps."""
        return self.run + sum((count - 1) * step for count, step in self.axes)

    def folded(self, period: int) -> Region | None:
        """The region modulo ``period``, or ``None`` if it does not fit into one period."""
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
    """The region that ``tensor`` covers; ``None`` if it is unknown, which counts as the whole
    storage."""
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
    """False if no byte is in both regions; True if a byte may be in both."""
    while a is not None and b is not None:
        if a.start + a.extent() <= b.start or b.start + b.extent() <= a.start:
            return False
        if not a.axes and not b.axes:
            return True
        period = max(step for region in (a, b) for _, step in region.axes)
        a, b = a.folded(period), b.folded(period)
    return True
