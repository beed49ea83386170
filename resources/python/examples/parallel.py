"""A two-dimensional mesh, and differentiable collectives for a model distributed over it.

``tp`` splits every layer (tensor parallel, with the sequence split between layers), ``fsdp``
splits every parameter along its first dimension, and the batch. Collectives are functional, so each
consists of two ordinary nodes of a traced graph: a start and a ``wait_tensor``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd import Function
from torch.distributed import _functional_collectives as _registers_operators  # noqa: F401

_ops = torch.ops._c10d_functional


@dataclass(frozen=True)
class Group:
    """This rank's process group along one dimension of the mesh, and its index in the group."""

    name: str
    size: int
    index: int


@dataclass(frozen=True)
class Mesh:
    """``fsdp`` x ``tp`` ranks, with ``tp`` as the inner dimension."""

    tp: Group
    fsdp: Group

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self.tp.size * self.fsdp.size


#: A single rank.
SINGLE = Mesh(Group("tp", 1, 0), Group("fsdp", 1, 0))


def make_mesh(tp: int, fsdp: int) -> Mesh:
    """The mesh over the initialized world of ``tp * fsdp`` ranks.

    Groups are registered under the names of their dimensions, so all ranks trace the same graph.
    """
    from torch._C._distributed_c10d import _register_process_group

    rank = dist.get_rank()
    if dist.get_world_size() != tp * fsdp:
        raise ValueError(f"--tp {tp} x --fsdp {fsdp} needs {tp * fsdp} ranks")
    lines = {
        "tp": [[row * tp + column for column in range(tp)] for row in range(fsdp)],
        "fsdp": [[row * tp + column for row in range(fsdp)] for column in range(tp)],
    }
    groups = {}
    for name, all_ranks in lines.items():
        for ranks in all_ranks:
            group = dist.new_group(ranks, group_desc=name) if len(ranks) > 1 else None
            if rank in ranks:
                groups[name] = Group(name, len(ranks), ranks.index(rank))
                if group is not None:
                    _register_process_group(name, group)
    return Mesh(**groups)


def all_gather(x: Tensor, group: Group) -> Tensor:
    """The ``x`` of all ranks, concatenated along the first dimension."""
    return _ops.wait_tensor(_ops.all_gather_into_tensor(x, group.size, group.name))


def reduce_scatter(x: Tensor, group: Group) -> Tensor:
    """This rank's part, along the first dimension, of the sum of ``x`` over all ranks."""
    return _ops.wait_tensor(_ops.reduce_scatter_tensor(x, "sum", group.size, group.name))


def all_reduce(x: Tensor, group: Group) -> Tensor:
    """The sum of ``x`` over all ranks."""
    return _ops.wait_tensor(_ops.all_reduce(x, "sum", group.name))


class Unshard(Function):
    """A parameter as a layer uses it: cast, then gathered from the ``fsdp`` ranks.

    The gradient has the parameter's dtype. It is summed over the ``fsdp`` ranks and scattered, and,
    for a parameter that every ``tp`` rank applies to its part of the sequence (``replicated``),
    also summed over the ``tp`` ranks.
    """

    @staticmethod
    def forward(
        ctx: Any, shard: Tensor, dtype: torch.dtype, mesh: Mesh, replicated: bool
    ) -> Tensor:
        ctx.mesh, ctx.dtype, ctx.replicated = mesh, shard.dtype, replicated
        weight = shard.to(dtype)
        return all_gather(weight, mesh.fsdp) if mesh.fsdp.size > 1 else weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        gradient = gradient.to(ctx.dtype)
        if ctx.mesh.fsdp.size > 1:
            gradient = reduce_scatter(gradient.contiguous(), ctx.mesh.fsdp)
        if ctx.replicated and ctx.mesh.tp.size > 1:
            gradient = all_reduce(gradient, ctx.mesh.tp)
        return gradient, None, None, None


def gather_sequence(x: Tensor, mesh: Mesh) -> Tensor:
    """Gather ``[batch, seq / tp, ...]`` of each ``tp`` rank to ``[batch, seq, ...]`` on all."""
    return _GatherSequence.apply(x, mesh.tp) if mesh.tp.size > 1 else x


def scatter_sequence(x: Tensor, mesh: Mesh) -> Tensor:
    """Reduce partial sums ``[batch, seq, ...]`` to ``[batch, seq / tp, ...]`` on each rank."""
    return _ScatterSequence.apply(x, mesh.tp) if mesh.tp.size > 1 else x


# Collectives work along the first dimension. For a batch of one, the transpositions are free.


def _gather(x: Tensor, group: Group) -> Tensor:
    return all_gather(x.transpose(0, 1).contiguous(), group).transpose(0, 1).contiguous()


def _scatter(x: Tensor, group: Group) -> Tensor:
    return reduce_scatter(x.transpose(0, 1).contiguous(), group).transpose(0, 1).contiguous()


class _GatherSequence(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _gather(x, group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _scatter(gradient, ctx.group), None


class _ScatterSequence(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _scatter(x, group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _gather(gradient, ctx.group), None
